// Contours as GeoJSON features.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import Terrain
import WireCoding

/// The texts of features, one after the other.
struct FeatureTexts: Sendable {
  /// Maximum length of a part, in bytes, so that its message stays within 1 MiB.
  private static let partBytes = (1 << 20) - 1024

  private(set) var text: [UInt8] = [UInt8(ascii: "[")]
  /// Where each text ends.
  private(set) var ends: [Int] = []
  var count: Int { ends.count }

  mutating func append(_ writer: borrowing JSONWriter) {
    if !ends.isEmpty { text.append(UInt8(ascii: ",")) }
    text.append(contentsOf: writer.bytes)
    ends.append(text.count)
  }

  /// As a list.
  var all: [UInt8] { text + [UInt8(ascii: "]")] }

  /// The step that sends the features from one on.
  func next(
    from first: Int = 0, revision: Int, reference: SpatialReference, _ result: SurfaceProtocol.Contours.Result
  ) -> Plan<SurfaceProtocol.Contours.Result>.Step {
    guard first < count else { return .answer(result) }
    let start = first == 0 ? 1 : ends[first - 1] + 1
    var last = first
    while last + 1 < count, ends[last + 1] - start <= Self.partBytes { last += 1 }
    let list = [UInt8(ascii: "[")] + text[start..<ends[last]] + [UInt8(ascii: "]")]
    let part = SurfaceProtocol.Contours.Part(
      revision: revision, spatialReference: reference.definition,
      features: .written { writer in list.withUnsafeBytes { writer.raw($0) } })
    return .part(part.made()) { [last] _ in next(from: last + 1, revision: revision, reference: reference, result) }
  }
}

struct ContourFeatures {
  let shapes: GridShapes
  let levels: [Double]

  /// - Parameters:
  ///   - isStreamed: whether the result may be longer than a message.
  ///   - limit: maximum number of pieces of lines.
  ///   - path: the pointer of the levels.
  func texts(
    _ heights: [Float], _ output: SurfaceProtocol.ContourOutput, isStreamed: Bool, limit: Int, at path: String, _ share: WorkShare
  ) throws -> FeatureTexts {
    var texts = FeatureTexts()
    do {
      var contours = try Terrain.Contours(heights, width: shapes.frame.width, levels: levels, limit: limit) { try share.work?.checkCancelled() }
      contours.margin = max(contours.margin, min(shapes.rounding * 4, 1e-3))
      switch output {
      case .lines:
        try contours.trace(checking: { try share.checkpoint($0) }) { level, line in
          try append(try shapes.line(line, share), &texts, isStreamed, share) { $0.member("elevation", levels[level]) }
        }
      case .polygons:
        try contours.bands(checking: { try share.checkpoint($0) }) { band, polygons in
          let geometry = Geometry.multiPolygon(try polygons.flatMap { try shapes.area($0, share) })
          try append(geometry.withRightHandRings, &texts, isStreamed, share) { writer in
            for (name, level) in [("minElevation", band - 1), ("maxElevation", band)] {
              writer.key(name)
              if levels.indices.contains(level) { writer.value(levels[level]) } else { writer.null() }
            }
          }
        }
      }
    } catch let error as Terrain.Contours.TooMany {
      throw RPCError.surfaceTooLarge(
        Double(error.count), limit: limit, "The contours would have \(error.count) pieces.", path: path)
    }
    return texts
  }

  private func append(
    _ geometry: Geometry, _ texts: inout FeatureTexts, _ isStreamed: Bool, _ share: WorkShare, _ properties: (inout JSONWriter) -> Void
  ) throws {
    var writer = JSONWriter(capacity: 1024)
    writer.beginObject()
    writer.member("type", "Feature")
    writer.member("id", texts.count + 1)
    writer.key("geometry")
    try GeometryWriter.write(geometry, measures: false, to: &writer) { try share.work?.checkCancelled() }
    writer.key("properties")
    writer.beginObject()
    properties(&writer)
    writer.endObject()
    writer.endObject()
    texts.append(writer)
    if let limit = share.work?.resultBytes, texts.text.count > (isStreamed ? max(limit, 1 << 30) : limit) {
      throw RPCError.resultTooLarge(limit: limit)
    }
  }
}
