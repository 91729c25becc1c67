// Sums over the numbers of one column of a chunk, by group: two passes, the second for deviations from the groups' means.

import Geometry

/// A sum of numbers of one type.
protocol PartialSum: BitwiseCopyable {
  associatedtype Number: Comparable, BitwiseCopyable
  /// Beyond all numbers.
  static var bounds: (least: Number, greatest: Number) { get }
  /// The number of a word of a column; nil for one that is null.
  static func number(_ word: UInt64) -> Number?
  static func double(_ number: Number) -> Double
  static func value(_ number: Number) -> AttributeValue
  init()
  var total: Double { get }
  mutating func add(_ number: Number)
  func add(to totals: inout NumberTotals, _ deviations: Deviations)
}

/// Integers whose sum has 64 bits.
struct IntegerSum: PartialSum {
  private var sum: Int64 = 0
  static var bounds: (least: Int64, greatest: Int64) { (.max, .min) }
  @inline(__always) static func number(_ word: UInt64) -> Int64? { Int64(bitPattern: word) }
  @inline(__always) static func double(_ number: Int64) -> Double { Double(number) }
  static func value(_ number: Int64) -> AttributeValue { .integer(number) }
  var total: Double { Double(sum) }
  @inline(__always) mutating func add(_ number: Int64) { sum &+= number }
  func add(to totals: inout NumberTotals, _ deviations: Deviations) { totals.add(integers: sum, deviations) }
}

struct DoubleSum: PartialSum {
  private var sum = CompensatedSum()
  static var bounds: (least: Double, greatest: Double) { (.infinity, -.infinity) }
  @inline(__always) static func number(_ word: UInt64) -> Double? {
    let number = Double(bitPattern: word)
    return number.isNaN ? nil : number
  }
  @inline(__always) static func double(_ number: Double) -> Double { number }
  static func value(_ number: Double) -> AttributeValue { .double(number) }
  var total: Double { sum.value }
  @inline(__always) mutating func add(_ number: Double) { sum.add(number) }
  func add(to totals: inout NumberTotals, _ deviations: Deviations) { totals.add(doubles: sum, deviations) }
}

/// The numbers of one group in a chunk.
struct NumberPart<Sum: PartialSum>: BitwiseCopyable {
  private(set) var sum = Sum()
  private(set) var least = Sum.bounds.least
  private(set) var greatest = Sum.bounds.greatest
  private(set) var deviations = Deviations()

  @inline(__always)
  mutating func add(_ number: Sum.Number) {
    sum.add(number)
    if number < least { least = number }
    if number > greatest { greatest = number }
    deviations.count &+= 1
  }

  mutating func setMean() {
    if deviations.count > 0 { deviations.mean = sum.total / Double(deviations.count) }
  }

  @inline(__always)
  mutating func addDeviation(of number: Sum.Number) {
    let deviation = Sum.double(number) - deviations.mean
    deviations.squares += deviation * deviation
  }

  /// The parts of the groups that occur in a chunk.
  static func parts(
    of column: Column, _ rows: UnsafeBufferPointer<UInt16>, _ groups: borrowing RowGroups, _ needsDeviations: Bool
  ) -> [NumberPart] {
    var parts = [NumberPart](repeating: NumberPart(), count: groups.occurring.count)
    parts.withUnsafeMutableBufferPointer { parts in
      forEach(of: column, rows, groups.local) { parts[$0].add($1) }
      for group in parts.indices { parts[group].setMean() }
      if needsDeviations { forEach(of: column, rows, groups.local) { parts[$0].addDeviation(of: $1) } }
    }
    return parts
  }

  /// Calls `body` with each number and its group's number in the chunk.
  @inline(__always)
  private static func forEach(
    of column: Column, _ rows: UnsafeBufferPointer<UInt16>, _ local: [UInt16], _ body: (Int, Sum.Number) -> Void
  ) {
    let nulls = column.nulls
    let hasNulls = !nulls.isEmpty
    column.words.withUnsafeBufferPointer { words in
      local.withUnsafeBufferPointer { local in
        for place in rows.indices {
          let row = Int(rows[place])
          guard row < words.count, !(hasNulls && nulls[row]), let number = Sum.number(words[row]) else { continue }
          body(Int(local[place]), number)
        }
      }
    }
  }
}
