// What is read of one feature, straight from its columns.

import Geometry

/// One feature of a store as it was when asked for; light, and good for as long as it is kept.
public struct FeatureRow: Sendable {
  let chunk: FeatureChunk
  let place: Int
  /// Its row in the store.
  public let row: UInt32

  public var id: Int { chunk.ids[place] }
  public var geometry: Geometry? { chunk.geometry[place] }

  /// The position of a feature that is a point without M, without making a `Geometry`; z is NaN where there is none.
  @inline(__always)
  public var point: (x: Double, y: Double, z: Double)? { chunk.withReader { $0.point(place) } }

  /// The box around its geometry; nil when that is absent, empty or not finite.
  public var envelope: Envelope? { chunk.geometry.indexed(place)?.envelope }

  /// About how much there is to read of it: eight for each position, and the bytes of its texts where they are wanted.
  public func weight(withTexts: Bool) -> Int {
    var weight = 0
    if point == nil { geometry?.forEachPositions { weight += 8 * $0.count } }
    guard withTexts else { return weight + 8 }
    forEachAttribute { _, value in
      switch value {
      case .string(let text), .json(let text): weight += text.count
      default: break
      }
    }
    return weight + 8
  }

  public var zIndex: Int32 { chunk.zIndex(at: place) }
  public var isVisible: Bool { !chunk.hidden[place] }
  public var isSelected: Bool { chunk.selected[place] }

  /// The opaque text given as its symbol.
  public var symbol: String? {
    if case .json(let text) = chunk.symbols[place] { text } else { nil }
  }

  /// The value in a column of the store's schema.
  public func value(_ column: Int) -> AttributeValue { chunk.value(column, at: place) }

  /// An attribute's value, its text where it lies, as UTF-8. Only valid inside the call that gave it.
  public enum Attribute {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(UnsafeRawBufferPointer)
    case json(UnsafeRawBufferPointer)
  }

  /// The value in a column without making a `String`.
  @inline(__always)
  public func withAttribute<Result>(_ column: Int, _ body: (Attribute) -> Result) -> Result {
    guard let number = chunk.place(of: column) else { return body(.null) }
    return withAttribute(place: number, body)
  }

  /// Calls `body` with each attribute that is not null, columns ascending.
  public func forEachAttribute(_ body: (_ column: Int, Attribute) -> Void) {
    for number in 0..<chunk.withReader(\.columnCount) {
      withAttribute(place: number) { value in
        if case .null = value { return }
        body(chunk.columnNumbers[number], value)
      }
    }
  }

  @inline(__always)
  private func withAttribute<Result>(place number: Int, _ body: (Attribute) -> Result) -> Result {
    // The attribute points into the chunk, which must be held until it has been looked at.
    chunk.withReader { reader in
      guard let reader = reader.columns?[number] else { return body(.null) }
      return reader.kind != .elsewhere ? body(reader.attribute(place)) : withAttributeElsewhere(place: number, body)
    }
  }

  private func withAttributeElsewhere<Result>(place number: Int, _ body: (Attribute) -> Result) -> Result {
    switch chunk.columns[number][place] {
    case .null: return body(.null)
    case .bool(let value): return body(.bool(value))
    case .integer(let value): return body(.integer(value))
    case .double(let value): return body(.double(value))
    case .string(var text): return text.withUTF8 { body(.string(UnsafeRawBufferPointer($0))) }
    case .json(var text): return text.withUTF8 { body(.json(UnsafeRawBufferPointer($0))) }
    }
  }
}
