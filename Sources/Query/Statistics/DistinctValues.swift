// The distinct values of a column, numbered in the order of their first occurrence.

import Calendar
import Geometry

/// Equal are values that compare as equal: an integer and a double of the same value, times of the same instant. Null, which NaN is
/// too, is a value of its own; JSON is equal as text.
struct DistinctValues {
  private enum Key: Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case time(CivilTime)
    case text(Text)
    case json(Text)
  }

  private let isTime: Bool
  private var numbers: [Key: UInt32] = [:]
  /// By number; of equal values the first that occurred.
  private(set) var values: [AttributeValue] = []

  init(areTimes isTime: Bool) { self.isTime = isTime }

  mutating func number(of attribute: FeatureRow.Attribute) -> UInt32 {
    let key = key(attribute)
    if let number = numbers[key] { return number }
    let number = UInt32(truncatingIfNeeded: values.count)
    numbers[key] = number
    values.append(key == .null ? .null : Scalar(attribute).attribute)
    return number
  }

  private func key(_ attribute: FeatureRow.Attribute) -> Key {
    switch attribute {
    case .null: return .null
    case .bool(let flag): return .bool(flag)
    case .integer(let number): return .integer(number)
    case .double(let number):
      if number.isNaN { return .null }
      return Int64(exactly: number).map(Key.integer) ?? .double(number)
    case .json(let text): return .json(Text(String(decoding: text, as: UTF8.self)))
    case .string(let text):
      if isTime, let time = CivilTime(utf8: text) { return .time(time) }
      return .text(Text(String(decoding: text, as: UTF8.self)))
    }
  }

  /// Numbers the values of rows of a chunk.
  mutating func number(
    _ rows: UnsafeBufferPointer<UInt16>, of column: Int, in chunk: FeatureChunk,
    into numbers: UnsafeMutableBufferPointer<UInt32>
  ) {
    guard let index = chunk.index(of: column) else {
      let null = rows.isEmpty ? 0 : number(of: .null)
      return numbers[..<rows.count].update(repeating: null)
    }
    if chunk.columns[index].layout == .codes { return number(rows, of: chunk.columns[index].codes, into: numbers) }
    for (place, row) in rows.enumerated() {
      numbers[place] = FeatureRow(chunk: chunk, index: Int(row), row: 0).withAttribute(column) { number(of: $0) }
    }
  }

  /// Looks each distinct text up once.
  private mutating func number(
    _ rows: UnsafeBufferPointer<UInt16>, of column: CodeColumn, into numbers: UnsafeMutableBufferPointer<UInt32>
  ) {
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 256) { known in
      known.initialize(repeating: .max)
      column.codes.withUnsafeBufferPointer { codes in
        for place in rows.indices {
          let row = Int(rows[place])
          let code = row < codes.count ? codes[row] : CodeColumn.none
          if known[Int(code)] == .max {
            known[Int(code)] = column.withText(at: row) { number(of: .string($0)) } ?? number(of: .null)
          }
          numbers[place] = known[Int(code)]
        }
      }
    }
  }
}
