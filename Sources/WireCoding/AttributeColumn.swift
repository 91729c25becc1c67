// The values of one attribute as a column on the wire.

import FeatureStore
import Geometry
import JSON

/// The values of one attribute: packed if all are integers, or all are doubles or null; else a JSON array.
package struct AttributeColumn {
  private enum Layout { case nulls, integers, doubles, values }

  /// Whether integers mixed with doubles or nulls are packed as doubles, if these have the exact values. For statistics, whose
  /// results are all numbers.
  private let joinsNumbers: Bool
  private var layout = Layout.nulls
  private var count = 0
  /// The bits of numbers.
  private var words: [UInt64] = []
  /// The array's elements, each preceded by a comma.
  private var text: [UInt8] = []

  package init(joinsNumbers: Bool = false) { self.joinsNumbers = joinsNumbers }

  package init(_ values: some Sequence<AttributeValue>, joinsNumbers: Bool) {
    self.joinsNumbers = joinsNumbers
    for value in values { append(value) }
  }

  /// The approximate size of the column as text.
  package var byteCount: Int { words.count * 32 / 3 + text.count + (layout == .nulls ? count * 5 : 0) }

  mutating func append(_ value: FeatureRow.Attribute, _ scratch: inout JSONWriter) {
    switch (layout, value) {
    case (.nulls, .null): break
    case (.nulls, .integer(let number)) where count == 0:
      layout = .integers
      words.append(UInt64(bitPattern: number))
    case (.nulls, .double(let number)):
      layout = .doubles
      words = Array(repeating: Double.nan.bitPattern, count: count)
      words.append(number.bitPattern)
    case (.integers, .integer(let number)): words.append(UInt64(bitPattern: number))
    case (.doubles, .double(let number)): words.append(number.bitPattern)
    case (.doubles, .null): words.append(Double.nan.bitPattern)
    case (_, .integer(let number)) where canBeDoubles && Self.isExact(number):
      becomeDoubles()
      words.append(Double(number).bitPattern)
    case (.integers, .null) where canBeDoubles, (.integers, .double) where canBeDoubles:
      becomeDoubles()
      append(value, &scratch)
      return
    default:
      spellOut(&scratch)
      write(value, &scratch)
    }
    count += 1
  }

  package mutating func append(_ value: AttributeValue) {
    var scratch = JSONWriter(capacity: 64)
    value.withAttribute { append($0, &scratch) }
  }

  private static func isExact(_ number: Int64) -> Bool { Int64(exactly: Double(number)) == number }

  private var canBeDoubles: Bool {
    joinsNumbers
      && (layout != .integers || words.allSatisfy { Self.isExact(Int64(bitPattern: $0)) }) && layout != .values
  }

  private mutating func becomeDoubles() {
    switch layout {
    case .nulls: words = Array(repeating: Double.nan.bitPattern, count: count)
    case .integers: words = words.map { Double(Int64(bitPattern: $0)).bitPattern }
    case .doubles, .values: return
    }
    layout = .doubles
  }

  private mutating func spellOut(_ scratch: inout JSONWriter) {
    switch layout {
    case .values: return
    case .nulls: for _ in 0..<count { write(.null, &scratch) }
    case .integers: for word in words { write(.integer(Int64(bitPattern: word)), &scratch) }
    case .doubles:
      for word in words {
        let number = Double(bitPattern: word)
        write(number.isNaN ? .null : .double(number), &scratch)
      }
    }
    (layout, words) = (.values, [])
  }

  private mutating func write(_ value: FeatureRow.Attribute, _ scratch: inout JSONWriter) {
    scratch.truncate(to: 0)
    FeatureWriter.write(value, to: &scratch)
    text.append(UInt8(ascii: ","))
    text.append(contentsOf: scratch.bytes)
  }

  package var column: JSONOpaque {
    switch layout {
    case .integers: return PackedColumn.column("int64", .words(words))
    case .doubles: return PackedColumn.column("float64", .words(words))
    case .nulls where joinsNumbers:
      return PackedColumn.column("float64", .words(Array(repeating: Double.nan.bitPattern, count: count)))
    case .nulls:
      let count = count
      return .written { writer in writer.array(Array(repeating: (), count: count)) { $1.null() } }
    case .values:
      let elements = text
      return .written { writer in
        writer.beginArray()
        elements.dropFirst().withUnsafeBytes { writer.raw($0) }
        writer.endArray()
      }
    }
  }
}
