// Helpers of this folder: fixtures, temporary directories, and a cancel after a number of checks.

import Files
import Foundation
import Geometry
import Readers
import Reading
import Synchronization
import TestSupport
import Testing

/// A file of Tests/Fixtures.
func fixture(_ name: String) -> String {
  URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fixtures").appendingPathComponent(name).path
}

/// A directory for one test, removed at its end.
final class TemporaryDirectory {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appendingPathComponent("geomodel-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }

  /// The first `fraction` of a fixture's bytes.
  func copy(_ source: String, to name: String, fraction: Double = 1) throws -> String {
    let data = try Data(contentsOf: URL(fileURLWithPath: source))
    try data.prefix(Int(Double(data.count) * fraction)).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }
}

/// Returns true after it was set, and records when it first did.
final class Canceller: Sendable {
  private let state = Mutex<(isSet: Bool, first: ContinuousClock.Instant?)>((false, nil))
  func cancel() { state.withLock { $0.isSet = true } }
  var isCancelled: Bool {
    state.withLock {
      if $0.isSet && $0.first == nil { $0.first = .now }
      return $0.isSet
    }
  }
  var since: Duration? { state.withLock { $0.first.map { ContinuousClock.now - $0 } } }
}

/// Cancels the parse of a file after a tenth of it.
///
/// - Parameter member: At the beginning of the file; one that resembles `features` leaves it to GDAL.
/// - Returns: The time from the cancel to the end of the read.
func cancelledParse(_ member: String) throws -> Duration {
  let directory = try TemporaryDirectory()
  let path = try directory.write("{\(member)" + pointsGeoJSON(60_000).dropFirst(), to: "large.geojson")
  let canceller = Canceller()
  var reported: [Double] = []
  var began = false
  #expect(throws: ReadError.cancelled) {
    try readers.read(
      .file(path), isCancelled: { canceller.isCancelled },
      progress: {
        reported.append($0)
        if $0 > 0.1 { canceller.cancel() }
      }, begin: { _ in began = true }
    ) { _ in }
  }
  #expect(!began)
  #expect(try #require(reported.last) < 0.2)
  return try #require(canceller.since)
}

/// Processes of the built server.
let readers = Readers(executable: ServerProcess.path)

/// The processes of the server with this limit of memory, which a test chooses for itself.
func processes(memory: UInt64) -> [pid_t] {
  let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
  return entries.compactMap { pid_t($0) }.filter { process in
    let line = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(process)/cmdline"))
    return line?.split(separator: 0).last.map { String(decoding: $0, as: UTF8.self) } == String(memory)
  }
}

/// A feature as stored in its file.
struct RawFeature: Hashable {
  let fid: Int64?
  let geometry: Geometry?
  let attributes: [AttributeValue]
}

/// All features of a layer.
func features(
  _ source: FeatureSource, layer: String? = nil, options: OpenOptions = OpenOptions(), policy: FilePolicy = FilePolicy()
) throws(ReadError) -> (layer: LayerDescription, features: [RawFeature]) {
  var found: [RawFeature] = []
  let layer = try readers.read(source, layer: layer, options: options, policy: policy) { block in
    for row in 0..<block.count {
      let id = block.ids?[row] ?? -1
      found.append(
        RawFeature(
          fid: id == -1 ? nil : id, geometry: try? block.geometries.geometry(row),
          attributes: block.columns.indices.map { block.value(column: $0, row: row) }))
    }
  }
  return (layer, found)
}

/// GeoJSON of `count` points with a few properties each, some 150 bytes a feature.
func pointsGeoJSON(_ count: Int) -> String {
  var text = #"{"type":"FeatureCollection","features":["#
  for index in 0..<count {
    let x = Double(index % 36000) / 100 - 180
    let y = Double(index % 17000) / 100 - 85
    text += index == 0 ? "\n" : ",\n"
    text +=
      #"{"type":"Feature","id":\#(index),"properties":{"name":"place \#(index)","size":\#(index % 97),"share":\#(Double(index % 1000) / 8)},"geometry":{"type":"Point","coordinates":[\#(x),\#(y)]}}"#
  }
  return text + "]}\n"
}

extension Geometry {
  var point: Point? { if case .point(let point) = self { point } else { nil } }
}
