// GeoJSON files: a FeatureCollection (RFC 7946), or a sequence of features, one per line or with the separators of RFC 8142.

import FeatureStore
import Geometry
import JSON
import JSONRPC
import Planning
import WireCoding

struct GeoJSONText: ~Copyable {
  private enum Layout {
    case collection(name: String)
    case sequence(separators: Bool)
  }

  private let export: FeatureExport
  private let layout: Layout
  private var text = ExportText()
  private var scratch = JSONWriter(capacity: 4096)

  init(_ export: FeatureExport, name: String) {
    self.export = export
    layout = .collection(name: name)
  }

  init(_ export: FeatureExport, separators: Bool) {
    self.export = export
    layout = .sequence(separators: separators)
  }

  mutating func write(
    _ rows: ArraySlice<UInt32>, to file: borrowing AtomicFile, _ report: inout ExportReport, _ share: WorkShare
  ) throws {
    let (export, layout) = (export, layout)
    if case .collection(let name) = layout { begin(name) }
    var isFirst = true
    try export.forEach(in: rows, &report, share) { feature, shape, report in
      switch layout {
      case .collection: text.writer.append(isFirst ? "\n" : ",\n")
      case .sequence(let separators): if separators { text.writer.append(byte: 0x1E) }
      }
      isFirst = false
      try append(feature, shape, &report, share)
      if case .sequence = layout { text.writer.append("\n") }
      try text.flushPiece(to: file)
    }
    if case .collection = layout { text.writer.append("\n]}\n") }
    try text.flush(to: file)
  }

  private mutating func begin(_ name: String) {
    text.writer.append("{\"type\":\"FeatureCollection\"")
    text.writer.member("name", name)
    let reference = export.output.reference
    if export.output.selection.geometry, !reference.isGeoJSON, let urn = reference.urn {
      text.writer.key("crs")
      text.writer.beginObject()
      text.writer.member("type", "name")
      text.writer.key("properties")
      text.writer.beginObject()
      text.writer.member("name", urn)
      text.writer.endObject()
      text.writer.endObject()
    }
    text.writer.append(",\"features\":[")
  }

  private mutating func append(
    _ feature: FeatureRow, _ shape: FeatureWriter.Shape, _ report: inout ExportReport, _ share: WorkShare
  ) throws {
    let (schema, selection) = (export.output.features.store.schema, export.output.selection)
    if selection.geometry, let geometry = feature.geometry(shape) {
      if geometry.hasM { report.note(.measures) }
      if geometry.lacksZ { report.note(.elevations) }
    }
    scratch.truncate(to: 0)
    try FeatureWriter.writeFeature(feature, schema, selection, shape, to: &scratch) {
      try share.work?.checkCancelled()
    }
    // JSON attributes have the text from their file, in which a line break is white space.
    scratch.replace(UInt8(ascii: "\n"), by: UInt8(ascii: " "), from: 0)
    scratch.replace(UInt8(ascii: "\r"), by: UInt8(ascii: " "), from: 0)
    text.writer.append(scratch.bytes)
  }
}
