// The channel between server and reader: any bytes give messages or an error, and what is understood is written and read as the same.

import Geometry
import JSON
import Platform
import Reading

extension FuzzTarget {
  /// A first byte below 128: the bytes of a channel follow. Else: the text of one message.
  static let channel = FuzzTarget(
    name: "channel",
    words: [
      "ready", "opened", "complaint", "progress", "source", "layer", "block", "raster", "heights", "done", "failed",
      "describe", "readFeatures", "taken", "openRaster", "readWindows", "readPixels", "bands", "transform", "fields", "spatialReference",
    ],
    seeds: {
      let texts = replies.map { $0.jsonText } + requests.map { $0.jsonText }
      return texts.map { [255] + Array($0.utf8) } + texts.map { [0] + framed($0) + framed($0) }
    },
    run: { (input) throws(Broken) in
      guard let first = input.first else { return }
      let rest = UnsafeRawBufferPointer(rebasing: input.dropFirst())
      guard first < 128 else {
        guard let document = try? JSONDocument(rest) else { return }
        return try readMessage(document)
      }
      // What a socket holds without a reader.
      guard rest.count <= 32 << 10, let (own, theirs) = Channel.pair() else { return }
      guard writeAll(rest, to: theirs.descriptor) else { throw Broken("the socket is full") }
      shutdown(theirs.descriptor, CInt(SHUT_WR))
      while let message = try? own.receive() {
        try check(message.files.isEmpty, "files from nowhere")
        try readMessage(message.document)
      }
    })
}

private func framed(_ text: String) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: text.utf8.count >> ($0 * 8)) } + Array(text.utf8)
}

private struct Written: JSONEncodable {
  let write: (inout JSONWriter) -> Void
  func encode(to writer: inout JSONWriter) { write(&writer) }
}

extension ReaderReply {
  fileprivate var jsonText: String { Written { encode(to: &$0) }.jsonText }
}

extension ReaderRequest {
  fileprivate var jsonText: String { Written { encode(to: &$0) }.jsonText }
}

/// Reads a message as either end does.
private func readMessage(_ document: JSONDocument) throws(Broken) {
  try document.read { (json) throws(Broken) in
    if let reply = try? ReaderReply(from: json, path: "/data/x") {
      let text = reply.jsonText
      let again = try decoded(text) { (json) throws(JSONError) in try ReaderReply(from: json, path: "/data/x") }
      try check(again.jsonText == text, "a reply is written as \(text), then as \(again.jsonText)")
    }
    if let request = try? ReaderRequest(from: json) {
      let again = try decoded(request.jsonText) { (json) throws(JSONError) in try ReaderRequest(from: json) }
      try check(again == request, "\(request) is read as \(again)")
    }
  }
}

private func decoded<R>(_ text: String, _ read: (JSONValue) throws(JSONError) -> R) throws(Broken) -> R {
  let document = try accepted("a message that was written") { () throws(JSONSyntaxError) in try JSONDocument(text) }
  return try document.read { (json) throws(Broken) in
    do throws(JSONError) { return try read(json) } catch {
      throw Broken("\(text) is refused: \(error.expected), \(error.found) at \(error.path(from: json))")
    }
  }
}

private let job = ReadJob(
  folder: "/data", names: ["roads.csv"], options: OpenOptions(driver: .csv, points: .init(x: "x", y: "y")))

private let requests: [ReaderRequest] = [
  .describe(job), .readFeatures(ReadJob(folder: "/data", names: ["a.shp", "a.dbf"]), layer: "a"), .taken,
  .openRaster(ReadJob(folder: "/data", names: ["a"], database: "/data/a"), .pixels(table: "t")), .readPixels(level: 1, bands: [0, 2], isNearest: true),
  .readWindows, .fork,
]

private let replies: [ReaderReply] =
  [
    .ready(31), .forked(4711), .opened("GPKG"), .complaint("a \"quote\""), .progress(0.5), .block, .heights, .pixels, .done(1 << 20),
    .source(SourceDescription(driver: .geoPackage, name: "/data/x", layers: [layer])), .layer(layer),
    .failed(.openFailed(driver: "CSV", path: "/data/x", reason: "no")),
    .failed(.noSuchLayer("a", available: ["b", "c"])),
    .failed(.readFailed(driver: nil, path: "/data/x", layer: "a", reason: "no")), .failed(.unavailable(reason: "no")),
    .failed(.missingField("x", available: [])), .failed(.changedWhileRead(path: "/data/x")),
  ]
  + (RasterTransform([0, 1, 0, 0, 0, -1]).map { transform in
    [
      .raster(
        RasterDescription(
          path: "/data/x", driver: "GTiff", width: 10, height: 20, spatialReference: SpatialReference("EPSG:4326"),
          transform: transform, noData: -.infinity,
          bands: [RasterBand(type: "Byte", noData: 0, isBytes: true, colors: [255])]))
    ]
  } ?? [])

private let layer = LayerDescription(
  name: "roads", geometryType: "LineString",
  fields: [Field(name: "n", type: .integer), Field(name: "at", type: .json)],
  featureCount: 3, extent: Envelope(xMin: 0, yMin: -1.5, xMax: 2, yMax: .infinity),
  spatialReference: SpatialReference("EPSG:3857"), fidColumn: "fid")
