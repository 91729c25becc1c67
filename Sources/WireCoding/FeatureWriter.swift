// Writes graphics and features from the columns of a store, without an object for each.

import FeatureStore
import Geometry
import JSON

package enum FeatureWriter {
  /// The members of a feature that are written.
  package struct Selection: Sendable {
    /// Indexes of columns; nil for all.
    package var columns: [Int]?
    package var geometry = true
    /// Whether geometries with M are written as well-known text, which can hold M.
    package var measures = false
    /// Whether fields without a value are written as null; true for layers, which declare their fields.
    package var nulls = false

    package init() {}
  }

  /// The geometry to write for a feature.
  package enum Shape: Sendable {
    case own
    /// A geometry in the requested spatial reference; nil writes null.
    case given(Geometry?)
  }

  /// Writes a GeoJSON Feature, whose rings wind as RFC 7946 has it.
  ///
  /// - Parameter checkpoint: called every few thousand positions; an error that it throws ends the writing.
  package static func writeFeature(
    _ row: FeatureRow, _ schema: FeatureSchema, _ selection: Selection, _ shape: Shape = .own,
    to writer: inout JSONWriter, checkpoint: () throws -> Void
  ) rethrows {
    writer.beginObject()
    writer.key("type")
    writer.value("Feature")
    writer.key("id")
    writer.value(row.id)
    writer.key("geometry")
    if selection.geometry {
      try writeGeometry(row, shape, measures: selection.measures, isWound: true, to: &writer, checkpoint)
    } else {
      writer.null()
    }
    writer.key("properties")
    writeAttributes(row, schema, columns: selection.columns, nulls: selection.nulls, to: &writer)
    writer.endObject()
  }

  /// Writes a graphic of an overlay. Members at their defaults are omitted.
  ///
  /// - Parameter columns: indexes of the attributes' columns, in the order to write; nil for the store's order.
  package static func writeGraphic(
    _ row: FeatureRow, _ schema: FeatureSchema, columns: [Int]? = nil, to writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.key("id")
    writer.value(row.id)
    writer.key("geometry")
    writeGeometry(row, .own, measures: true, isWound: false, to: &writer) {}
    writer.key("attributes")
    writeAttributes(row, schema, columns: columns, nulls: false, to: &writer)
    if row.zIndex != 0 { writer.member("zIndex", Int(row.zIndex)) }
    if !row.isVisible { writer.member("isVisible", false) }
    if row.isSelected { writer.member("isSelected", true) }
    if let symbol = row.symbol {
      writer.key("symbol")
      writer.raw(symbol)
    }
    writer.endObject()
  }

  /// Writes a range of graphics, by index in the order of insertion, as one object with a member per id.
  package static func writeGraphics(_ store: FeatureStore, _ range: Range<Int>, to writer: inout JSONWriter) {
    writer.beginObject()
    var index = 0
    store.forEach { row in
      if range.contains(index) {
        writer.key(String(row.id))
        writeGraphic(row, store.schema, to: &writer)
      }
      index += 1
      return index < range.upperBound
    }
    writer.endObject()
  }

  /// Writes the geometry of a feature.
  package static func writeShape(_ row: FeatureRow, to writer: inout JSONWriter) {
    writeGeometry(row, .own, measures: true, isWound: false, to: &writer) {}
  }

  /// Writes the attributes in some columns, null included.
  package static func writeProperties(
    _ row: FeatureRow, _ schema: FeatureSchema, _ columns: [Int], to writer: inout JSONWriter
  ) {
    writeAttributes(row, schema, columns: columns, nulls: true, to: &writer)
  }

  @inline(__always)
  private static func writeGeometry(
    _ row: FeatureRow, _ shape: Shape, measures: Bool, isWound: Bool, to writer: inout JSONWriter,
    _ checkpoint: () throws -> Void
  ) rethrows {
    let geometry: Geometry?
    switch shape {
    case .own:
      if let point = row.point {
        return GeometryWriter.writePoint(x: point.x, y: point.y, z: point.z, to: &writer)
      }
      geometry = row.geometry
    case .given(let given): geometry = given
    }
    guard let geometry else { return writer.null() }
    try GeometryWriter.write(isWound ? geometry.withRightHandRings : geometry, measures: measures, to: &writer, checkpoint: checkpoint)
  }

  private static func writeAttributes(
    _ row: FeatureRow, _ schema: FeatureSchema, columns: [Int]?, nulls: Bool, to writer: inout JSONWriter
  ) {
    writer.beginObject()
    if columns == nil, !nulls {
      row.forEachAttribute { column, value in write(value, named: schema.name(of: column), to: &writer) }
    } else {
      for column in columns ?? Array(0..<schema.count) {
        row.withAttribute(column) { value in
          if case .null = value, !nulls { return }
          write(value, named: schema.name(of: column), to: &writer)
        }
      }
    }
    writer.endObject()
  }

  @inline(__always)
  private static func write(_ value: FeatureRow.Attribute, named name: String, to writer: inout JSONWriter) {
    writer.key(name)
    write(value, to: &writer)
  }

  @inline(__always)
  package static func write(_ value: FeatureRow.Attribute, to writer: inout JSONWriter) {
    switch value {
    case .null: writer.null()
    case .bool(let flag): writer.value(flag)
    case .integer(let number): writer.value(number)
    case .double(let number): writer.value(number)
    case .string(let text): writer.value(utf8: text.bindMemory(to: UInt8.self))
    case .json(let text): writer.raw(text)
    }
  }
}
