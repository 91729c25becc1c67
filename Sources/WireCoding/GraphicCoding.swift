// Writes graphics and features from the store's columns and reads them into batches, without an object for each.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import Query

package enum FeatureWriter {
  /// Which members of a feature are written.
  package struct Selection: Sendable {
    /// Indexes of columns; nil for all.
    package var columns: [Int]?
    package var geometry = true
    /// Whether geometries with M are written with it, as well-known text.
    package var measures = false
    /// Whether fields without a value are written as null: true for layers, whose fields are declared.
    package var nulls = false

    package init() {}
  }

  /// The geometry that is written of a feature.
  package enum Shape: Sendable {
    case own
    /// In the requested spatial reference; null without one.
    case given(Geometry?)
  }

  /// Writes a GeoJSON Feature.
  ///
  /// - Parameter checkpoint: called every few thousand positions; what it throws ends the writing.
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
      try writeGeometry(row, shape, measures: selection.measures, to: &writer, checkpoint)
    } else {
      writer.null()
    }
    writer.key("properties")
    writeAttributes(row, schema, columns: selection.columns, nulls: selection.nulls, to: &writer)
    writer.endObject()
  }

  /// Writes a graphic of an overlay. Members at their defaults are omitted.
  ///
  /// - Parameter columns: indexes of the attributes' columns in the order to write; nil for the order of the store.
  package static func writeGraphic(
    _ row: FeatureRow, _ schema: FeatureSchema, columns: [Int]? = nil, to writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.key("id")
    writer.value(row.id)
    writer.key("geometry")
    writeGeometry(row, .own, measures: true, to: &writer) {}
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

  @inline(__always)
  private static func writeGeometry(
    _ row: FeatureRow, _ shape: Shape, measures: Bool, to writer: inout JSONWriter, _ checkpoint: () throws -> Void
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
    try GeometryWriter.write(geometry, measures: measures, to: &writer, checkpoint: checkpoint)
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

/// Reads the `graphics` of a request into a batch or into edits. Every item is read; ``failures`` lists the invalid ones.
package struct GraphicReader {
  /// Transforms a geometry from a named spatial reference to the overlay's.
  package let transform: (Geometry, String) throws -> Geometry
  /// The first 100 failures.
  package private(set) var failures: [(index: Int, error: any Error, item: JSONValue)] = []
  /// The number of all failures.
  package private(set) var failureCount = 0

  package init(transform: @escaping (Geometry, String) throws -> Geometry) { self.transform = transform }

  /// - Parameter store: the store whose ids are taken; nil where no id is.
  package mutating func readBatch(_ graphics: [JSONOpaque], beside store: FeatureStore?) -> FeatureBatch {
    var batch = FeatureBatch()
    batch.reserveCapacity(graphics.count)
    var given: Set<Int> = []
    for (index, graphic) in graphics.enumerated() {
      guard let value = graphic.value else { continue }
      do {
        if let id = try read(value, into: &batch), store?.contains(id: id) ?? false || !given.insert(id).inserted {
          throw WireFault(.idExists, value["id"].error(expected: "an id that is free"))
        }
      } catch { recordFailure(error, index, value) }
    }
    return batch
  }

  private mutating func recordFailure(_ error: any Error, _ index: Int, _ item: JSONValue) {
    failureCount += 1
    if failures.count < 100 { failures.append((index, error, item)) }
  }

  /// - Returns: the graphic's `id`, if it has one.
  private func read(_ value: JSONValue, into batch: inout FeatureBatch) throws -> Int? {
    try value.requireObject()
    let id = try value["id"].isPresent ? Self.id(value["id"]) : nil
    batch.begin(id: id)
    let geometry = value["geometry"]
    if !value["spatialReference"].isPresent, let point = GeometryReader.plainPoint(geometry) {
      batch.setPoint(x: point.x, y: point.y)
    } else if let shape = try shape(of: value) {
      batch.setGeometry(shape)
    }
    let attributes = value["attributes"].isPresent ? value["attributes"] : value["properties"]
    var mayHaveStyle = false
    if attributes.isPresent {
      try attributes.requireObject()
      try attributes.forEachMember { (name, value) throws(JSONError) in
        try Self.checkDepth(value)
        if SimpleStyle.mayBegin(name) { mayHaveStyle = true }
        Self.set(value, in: batch.column(key: UnsafeRawBufferPointer(name)), of: &batch)
      }
    }
    let symbol = value["symbol"]
    if symbol.isPresent {
      Self.set(try Self.symbol(symbol), of: &batch)
    } else if mayHaveStyle, let styled = try Self.styledSymbol(value, attributes, geometry) {
      Self.set(styled, of: &batch)
    }
    let zIndex = value["zIndex"]
    if zIndex.isPresent { batch.setZIndex(try Self.int32(zIndex)) }
    let isVisible = value["isVisible"]
    if isVisible.isPresent, try !isVisible.bool() { batch.setHidden() }
    let isSelected = value["isSelected"]
    if isSelected.isPresent, try isSelected.bool() { batch.setSelected() }
    return id
  }

  /// The geometry in the overlay's spatial reference; nil if there is none.
  private func shape(of value: JSONValue) throws -> Geometry? {
    guard value["geometry"].isPresent else { return nil }
    let shape = try GeometryReader.read(value["geometry"])
    let reference = value["spatialReference"]
    return reference.isPresent ? try transform(shape, try reference.string()) : shape
  }

  private static func set(_ symbol: Symbol, of batch: inout FeatureBatch) {
    var text = Wire.symbolText(symbol)
    text.withUTF8 { batch.setSymbol(utf8: UnsafeRawBufferPointer($0)) }
  }

  package static func symbol(_ value: JSONValue) throws -> Symbol {
    try Wire.symbol(try SymbologyProtocol.Symbol(from: value), at: "symbol")
  }

  /// The symbol that the simplestyle properties of a GeoJSON Feature describe.
  private static func styledSymbol(
    _ feature: JSONValue, _ properties: JSONValue, _ geometry: JSONValue
  ) throws -> Symbol? {
    guard feature["type"].isPresent, geometry.isPresent, let kind = ShapeKind(try GeometryReader.read(geometry)) else {
      return nil
    }
    return SimpleStyle { attribute(properties.member($0)) }?.symbol(for: kind)
  }

  private static func id(_ value: JSONValue) throws(JSONError) -> Int {
    let id = try value.integer()
    guard (0..<FeatureStore.idLimit).contains(id) else {
      throw value.error(expected: "integer in 0...\(FeatureStore.idLimit - 1)")
    }
    return id
  }

  static func int32(_ value: JSONValue) throws(JSONError) -> Int32 {
    guard let number = Int32(exactly: try value.integer()) else {
      throw value.error(expected: "integer in -2147483648...2147483647")
    }
    return number
  }

  @inline(__always)
  private static func set(_ value: JSONValue, in column: Int, of batch: inout FeatureBatch) {
    switch value.kind {
    case .string: value.withUTF8 { batch.set(column: column, utf8: UnsafeRawBufferPointer($0)) }
    case .integer: batch.set(column: column, integer: value.int64)
    case .real: batch.set(column: column, double: value.number ?? .nan)
    case .bool: batch.set(column: column, bool: value.isTrue)
    case .object, .array:
      var text = value.jsonText
      text.withUTF8 { batch.set(column: column, json: UnsafeRawBufferPointer($0)) }
    case .null, .absent: break
    }
  }

  /// Throws for an attribute that nests deeper than values of clients may.
  package static func checkDepth(_ value: JSONValue) throws(JSONError) {
    guard value.count > 0, value.depth > Value.depthLimit else { return }
    throw value.error(expected: Wire.depthExpected)
  }

  /// An attribute's value.
  package static func attribute(_ value: JSONValue) -> AttributeValue {
    switch value.kind {
    case .string: .string(value.withUTF8 { String(decoding: $0, as: UTF8.self) })
    case .integer: .integer(value.int64)
    case .real: .double(value.number ?? .nan)
    case .bool: .bool(value.isTrue)
    case .object, .array: .json(value.jsonText)
    case .null, .absent: .null
    }
  }

  // MARK: Updates

  /// Reads the updates of one call or several. The index of a failure is that within its call.
  ///
  /// - Parameter store: the graphics to edit; updates of other ids fail.
  package mutating func readEdits(_ calls: [[JSONOpaque]], of store: FeatureStore?) -> [FeatureEdit] {
    var edits: [FeatureEdit] = []
    edits.reserveCapacity(calls.reduce(0) { $0 + $1.count })
    for updates in calls {
      for (index, update) in updates.enumerated() {
        guard let value = update.value else { continue }
        do {
          let edit = try edit(value)
          guard store?.contains(id: edit.id) ?? false else {
            throw WireFault(.unknownId, value["id"].error(expected: "the id of a graphic"))
          }
          edits.append(edit)
        } catch { recordFailure(error, index, value) }
      }
    }
    return edits
  }

  private func edit(_ value: JSONValue) throws -> FeatureEdit {
    try value.requireObject()
    var edit = FeatureEdit(id: try Self.id(value["id"]))
    if let shape = try shape(of: value) { edit.geometry = .set(shape) }
    let attributes = value["attributes"]
    if attributes.isPresent {
      try attributes.requireObject()
      try attributes.forEachMember { (name, value) throws(JSONError) in
        try Self.checkDepth(value)
        // Null leaves the attribute unchanged, as absence does; `clear` removes it.
        guard value.isPresent else { return }
        edit.attributes.append((String(decoding: name, as: UTF8.self), Self.attribute(value)))
      }
    }
    if value["zIndex"].isPresent { edit.zIndex = try Self.int32(value["zIndex"]) }
    if value["isVisible"].isPresent { edit.isVisible = try value["isVisible"].bool() }
    if value["isSelected"].isPresent { edit.isSelected = try value["isSelected"].bool() }
    if value["symbol"].isPresent { edit.symbol = .set(Wire.symbolText(try Self.symbol(value["symbol"]))) }
    guard value["clear"].isPresent else { return edit }
    try value.requireUnset(namedIn: "clear")
    for index in 0..<(try value["clear"].array { (name) throws(JSONError) in try name.string() }.count) {
      let name = value["clear"][index]
      switch try name.string() {
      case "geometry": edit.geometry = .clear
      case "zIndex": edit.zIndex = 0
      case "isVisible": edit.isVisible = true
      case "isSelected": edit.isSelected = false
      case "symbol": edit.symbol = .clear
      case let text where text.begins(with: "attributes."):
        edit.attributes.append((String(Substring(text.utf8.dropFirst("attributes.".utf8.count))), .null))
      default:
        throw WireFault(
          .unknownMember, name.error(expected: "geometry, zIndex, isVisible, isSelected, symbol or attributes.NAME"))
      }
    }
    return edit
  }
}

extension FeatureWriter {
  /// Writes the graphics of a range of indexes in the order of insertion as one object, by id.
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
}
