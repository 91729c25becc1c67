// Reads graphics into batches and edits of a store, without an object for each.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON

/// Reads the `graphics` of a request into a batch or into edits. Every item is read; ``failures`` lists the invalid ones.
package struct GraphicReader {
  /// Transforms a geometry from a named spatial reference to the overlay's.
  package let transform: (Geometry, String) throws -> Geometry
  /// The first 100 failures.
  package private(set) var failures: [(index: Int, error: any Error, item: JSONValue)] = []
  /// The number of all failures.
  package private(set) var failureCount = 0

  package init(transform: @escaping (Geometry, String) throws -> Geometry) { self.transform = transform }

  /// - Parameter store: the store in which ids may be taken; nil if no ids are.
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

  /// Reads points of a feed: geometry and attributes alone.
  package mutating func readObservations(_ features: [JSONOpaque]) -> FeatureBatch {
    var batch = FeatureBatch()
    batch.reserveCapacity(features.count)
    for (index, feature) in features.enumerated() {
      guard let value = feature.value else { continue }
      do {
        try value.requireObject()
        batch.begin()
        let geometry = value["geometry"]
        if !value["spatialReference"].isPresent, let point = GeometryReader.plainPoint(geometry) {
          batch.setPoint(x: point.x, y: point.y)
        } else if let shape = try shape(of: value) {
          batch.setGeometry(shape)
        }
        let attributes = value["properties"].isPresent ? value["properties"] : value["attributes"]
        guard attributes.isPresent else { continue }
        try attributes.requireObject()
        try attributes.forEachMember { (name, value) throws(JSONError) in
          try Self.checkDepth(value)
          Self.set(value, in: batch.column(key: UnsafeRawBufferPointer(name)), of: &batch)
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

  /// The symbol for the simplestyle properties of a GeoJSON Feature.
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

  /// Throws for an attribute that is nested deeper than values of clients may be.
  package static func checkDepth(_ value: JSONValue) throws(JSONError) {
    guard value.count > 0, value.depth > Value.depthLimit else { return }
    throw value.error(expected: Wire.depthExpected)
  }

  /// Converts an attribute's value.
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

  /// Reads the updates of one or more calls. The index of a failure is its index within the call.
  ///
  /// - Parameter store: the graphics to edit; updates of unknown ids fail.
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
        // Null leaves the attribute unchanged, like a missing member; `clear` removes it.
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
