// Reads one feature directly from its columns.

import Geometry
import SpatialIndex

/// One feature of a store at the time of the request. Cheap, and valid while it is kept.
public struct FeatureRow: Sendable {
  package let chunk: FeatureChunk
  /// The row's index in the chunk.
  package let index: Int
  /// The row's number in the store.
  public let row: UInt32

  package init(chunk: FeatureChunk, index: Int, row: UInt32) { (self.chunk, self.index, self.row) = (chunk, index, row) }

  public var id: Int { chunk.ids[index] }
  public var geometry: Geometry? { chunk.geometry[index] }

  /// The position of a point feature without M, without creating a `Geometry`; z is NaN if absent. Also nil if the chunk does not
  /// pack its points; see ``position``.
  @inline(__always)
  public var point: (x: Double, y: Double, z: Double)? { chunk.withReader { $0.point(index) } }

  /// The position of a point feature; nil for other features, or if it is not finite.
  public var position: Point? {
    var position: Point?
    if let point {
      position = Point(x: point.x, y: point.y)
    } else if case .point(let point) = geometry {
      position = point
    }
    guard let position, position.x.isFinite, position.y.isFinite else { return nil }
    return position
  }

  /// The box around the geometry; nil if the geometry is absent, empty or not finite.
  public var envelope: Envelope? { chunk.geometry.indexed(index)?.envelope }

  /// Approximate size of the data: eight for each position, and the bytes of texts if included.
  public func weight(withTexts: Bool) -> Int {
    var weight = 0
    if point == nil { geometry?.forEachPositions { weight += 8 * $0.count } }
    guard withTexts else { return weight + 8 }
    forEachAttribute { _, value in
      switch value {
      case .string(let text), .json(let text): weight += text.count
      case .null, .bool, .integer, .double: break
      }
    }
    return weight + 8
  }

  public var zIndex: Int32 { chunk.zIndex(at: index) }
  public var isVisible: Bool { !chunk.hidden[index] }
  public var isSelected: Bool { chunk.selected[index] }

  /// The opaque text of the feature's own symbol.
  public var symbol: String? {
    if case .json(let text) = chunk.symbols[index] { text } else { nil }
  }

  /// The value in a column of the store's schema.
  public func value(_ column: Int) -> AttributeValue { chunk.value(column, at: index) }

  /// An attribute's value, texts in place as UTF-8. Only valid inside the call that passed it.
  public enum Attribute {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(UnsafeRawBufferPointer)
    case json(UnsafeRawBufferPointer)
  }

  /// The value in a column, without creating a `String`.
  @inline(__always)
  public func withAttribute<Result>(_ column: Int, _ body: (Attribute) -> Result) -> Result {
    guard let number = chunk.index(of: column) else { return body(.null) }
    return withAttribute(at: number, body)
  }

  /// Calls `body` with each attribute that is not null, in column order.
  public func forEachAttribute(_ body: (_ column: Int, Attribute) -> Void) {
    for number in 0..<chunk.withReader(\.columnCount) {
      withAttribute(at: number) { value in
        if case .null = value { return }
        body(chunk.columnNumbers[number], value)
      }
    }
  }

  @inline(__always)
  private func withAttribute<Result>(at number: Int, _ body: (Attribute) -> Result) -> Result {
    // The attribute points into the chunk, which has to be kept alive meanwhile.
    chunk.withReader { reader in
      guard let reader = reader.columns?[number] else { return body(.null) }
      return reader.isElsewhere ? withAttributeElsewhere(at: number, body) : body(reader.attribute(index))
    }
  }

  private func withAttributeElsewhere<Result>(at number: Int, _ body: (Attribute) -> Result) -> Result {
    chunk.columns[number][index].withAttribute(body)
  }
}

extension AttributeValue {
  /// Passes the value to `body` as an attribute.
  package func withAttribute<Result>(_ body: (FeatureRow.Attribute) -> Result) -> Result {
    switch self {
    case .null: return body(.null)
    case .bool(let value): return body(.bool(value))
    case .integer(let value): return body(.integer(value))
    case .double(let value): return body(.double(value))
    case .string(var text): return text.withUTF8 { body(.string(UnsafeRawBufferPointer($0))) }
    case .json(var text): return text.withUTF8 { body(.json(UnsafeRawBufferPointer($0))) }
    }
  }
}
