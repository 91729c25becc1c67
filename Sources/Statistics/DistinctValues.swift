// The distinct values of a column, numbered in the order of their first occurrence.

import Calendar
import FeatureStore
import Geometry
import Sorting

/// Values are distinct unless they compare as equal: an integer and a double of the same value are equal, and so are times of the
/// same instant. Null is a value; NaN counts as null. JSON is compared as text.
struct DistinctValues: Sendable {
  private enum Key: Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case time(CivilTime)
  }

  /// A value, or the number of its text.
  private enum Value {
    case plain(AttributeValue)
    case text(Int)
    case json(Int)
  }

  private let isTime: Bool
  private var numbers: [Key: UInt32] = [:]
  private var texts = DistinctTexts()
  private var json = DistinctTexts()
  /// The number of the value, by the number of its text.
  private var textNumbers: [UInt32] = []
  private var jsonNumbers: [UInt32] = []
  /// By number; for equal values, the first that occurred.
  private var values: [Value] = []

  init(areTimes isTime: Bool) { self.isTime = isTime }

  var count: Int { values.count }

  subscript(number: Int) -> AttributeValue {
    switch values[number] {
    case .plain(let value): value
    case .text(let text): .string(texts.withText(text) { String(decoding: $0, as: UTF8.self) })
    case .json(let text): .json(json.withText(text) { String(decoding: $0, as: UTF8.self) })
    }
  }

  // MARK: Numbers

  mutating func number(of attribute: FeatureRow.Attribute) -> UInt32 {
    switch attribute {
    case .null: return number(of: .null, .null)
    case .bool(let flag): return number(of: .bool(flag), .bool(flag))
    case .integer(let integer): return number(of: .integer(integer), .integer(integer))
    case .double(let double):
      if double.isNaN { return number(of: .null, .null) }
      return number(of: Int64(exactly: double).map(Key.integer) ?? .double(double), .double(double))
    case .string(let text):
      if isTime, let time = CivilTime(utf8: text) {
        return number(of: .time(time), .string(String(decoding: text, as: UTF8.self)))
      }
      // Texts that exceed the buffer of 4 GiB count as one value.
      let place = texts.number(of: text) ?? 0
      if place == textNumbers.count { textNumbers.append(add(.text(place))) }
      return textNumbers[place]
    case .json(let text):
      let place = json.number(of: text) ?? 0
      if place == jsonNumbers.count { jsonNumbers.append(add(.json(place))) }
      return jsonNumbers[place]
    }
  }

  private mutating func number(of key: Key, _ value: @autoclosure () -> AttributeValue) -> UInt32 {
    if let number = numbers[key] { return number }
    let number = add(.plain(value()))
    numbers[key] = number
    return number
  }

  private mutating func add(_ value: Value) -> UInt32 {
    values.append(value)
    return UInt32(truncatingIfNeeded: values.count - 1)
  }

  /// Numbers the values of a chunk's rows.
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

  /// Looks up each distinct text once.
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
            known[Int(code)] = number(ofRow: row, in: column)
          }
          numbers[place] = known[Int(code)]
        }
      }
    }
  }

  mutating func number(ofRow row: Int, in column: CodeColumn) -> UInt32 {
    column.withText(at: row) { number(of: .string($0)) } ?? number(of: .null)
  }

  // MARK: Order

  func ranked(_ number: Int) -> RankedValue? { RankedValue(self[number], isTime: isTime) }

  /// The place of each value in the order of values, by its number: numbers and times, texts, booleans.
  func places(checking check: CancellationCheck) throws -> [UInt32] {
    let plain = values.map { value -> RankedValue? in
      if case .plain(let value) = value { RankedValue(value, isTime: isTime) } else { nil }
    }
    func isBefore(_ left: Int, _ right: Int) -> Bool {
      plain[left].flatMap { left in plain[right].map { left.precedes($0) } } ?? false
    }
    let others = try Places.sorted(
      plain.indices.filter { plain[$0] != nil }, checking: { try check(0.3 * $0) }, by: isBefore)
    let end = others.partitioningIndex { plain[$0]?.isAfterTexts == true }
    let texts = try texts.sorted { try check(0.3 + 0.7 * $0) }.map { Int(textNumbers[Int($0)]) }
    return Places.of(others[..<end] + texts + others[end...], among: count) { left, right in
      plain[left] == nil || plain[right] == nil || isBefore(left, right)
    }
  }
}
