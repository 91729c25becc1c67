// Recordings: files of what sources receive, written line by line while it is received.

import Files
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Platform
import WireCoding

/// A recording, as a task that ends when it is stopped.
struct Recording: Sendable {
  let path: String
  let replaces: Bool
  let recorder: Recorder

  /// What is around the points of a GPX track.
  private static let gpx = (
    head: """
      <?xml version="1.0" encoding="UTF-8"?>
      <gpx version="1.1" creator="geomodel-server" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>

      """, tail: "</trkseg></trk></gpx>\n"
  )

  /// Microseconds between two looks for new lines: the loop that adds them must never wait for this thread, which has a disk to wait for.
  private static let interval: UInt32 = 20_000

  /// Writes until the recording is stopped; whole lines at once, several times a second.
  func run(_ worker: Worker) throws -> (path: String, bytes: Int) {
    defer { recorder.stop() }
    let path = try worker.files.path(path)
    let target = try worker.files.policy.resolveForWriting(path)
    if let identity = target.identity {
      guard identity.kind == .regular else {
        throw RPCError(.notAFile, "\(target.path) is not a regular file.", path: target.path, expected: "a file")
      }
      guard replaces else { throw RPCError(fileExists: target.path) }
    }
    let file = target.open(O_WRONLY | O_CREAT | (replaces ? O_TRUNC : O_EXCL), mode: 0o666)
    guard file >= 0 else { throw RPCError(savingTo: target.path, errno) }
    defer { close(file) }
    var size = 0
    func write(_ text: some Sequence<UInt8>) throws {
      let bytes = Array(text)
      var rest = bytes[...]
      while !rest.isEmpty {
        let written = rest.withUnsafeBytes { writeBytes(file, $0) }
        guard written >= 0 || errno == EINTR else { throw RPCError(savingTo: target.path, errno) }
        rest = rest.dropFirst(max(0, written))
      }
      size += bytes.count
    }
    if recorder.isGPX { try write(Self.gpx.head.utf8) }
    while true {
      let (text, isLast) = recorder.take()
      try write(text)
      // A recording that is cancelled is whole up to here.
      if isLast || worker.isCancelled { break }
      usleep(Self.interval)
    }
    if recorder.isGPX { try write(Self.gpx.tail.utf8) }
    try worker.checkCancelled()
    return (target.path, size)
  }
}

package enum Recordings {
  /// Adds what has changed to the recordings of its sources. Runs after each change.
  package static func add(_ changes: [Change], in world: inout World) {
    guard !world.recorders.isEmpty else { return }
    for change in changes {
      switch change.event {
      case .changed(let object, _):
        guard case .location(let location)? = change.locationEvent, let position = location.position else { continue }
        for recorder in world.recorders[object] ?? [] { recorder.add(line(location, position, isGPX: recorder.isGPX)) }
      case .entities(let id, let edit):
        guard let recorders = world.recorders[ObjectReference(.entitySources, id.rawValue)],
          let source = world.entitySources[id]
        else { continue }
        for number in edit.received {
          guard let row = source.contents.observations.feature(id: number) else { continue }
          let line = feature(
            time: source.schema.time == nil ? world.clock.now.text : nil, geometry: { FeatureWriter.writeShape(row, to: &$0) }
          ) {
            FeatureWriter.writeProperties(row, source.contents.observations.schema, Array(source.schema.fields.indices), to: &$0)
          }
          for recorder in recorders { recorder.add(line) }
        }
      case .closed(let object): world.stopRecording(object)
      case .replaced: world.stopRecording(nil)
      case .created, .member, .graphics, .clock, .history, .document: break
      }
    }
  }

  /// A GeoJSON feature, or a point of a GPX track.
  private static func line(_ location: Location, _ position: Point, isGPX: Bool) -> [UInt8] {
    if isGPX {
      let height = position.z.map { "<ele>\($0)</ele>" } ?? ""
      let time = location.timestamp.map { "<time>\($0.text)</time>" } ?? ""
      return Array("<trkpt lat=\"\(position.y)\" lon=\"\(position.x)\">\(height)\(time)</trkpt>".utf8)
    }
    return feature(geometry: { Wire.opaque(.point(position)).encode(to: &$0) }) { writer in
      writer.beginObject()
      writer.member("time", location.timestamp?.text)
      writer.member("horizontalAccuracy", location.horizontalAccuracy)
      writer.member("verticalAccuracy", location.verticalAccuracy)
      writer.member("speed", location.speed)
      writer.member("course", location.course)
      writer.endObject()
    }
  }

  private static func feature(
    time: String? = nil, geometry: (inout JSONWriter) -> Void, properties: (inout JSONWriter) -> Void
  ) -> [UInt8] {
    var writer = JSONWriter(capacity: 256)
    writer.beginObject()
    writer.member("type", "Feature")
    if let time {
      // As OGC Features and Geometries JSON has it.
      writer.key("time")
      writer.beginObject()
      writer.member("timestamp", time)
      writer.endObject()
    }
    writer.key("geometry")
    geometry(&writer)
    writer.key("properties")
    properties(&writer)
    writer.endObject()
    return Array(writer.bytes)
  }
}
