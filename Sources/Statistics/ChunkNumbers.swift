// Sums of the numbers in one column of a chunk, by group: the first pass adds numbers, the second deviations from the groups' means.

import FeatureStore
import Geometry

/// Sums of numbers of one type, and of their squared deviations.
protocol PartialSum: BitwiseCopyable {
  associatedtype Number: Comparable, BitwiseCopyable
  /// Initial extremes: any number is less than `least` and greater than `greatest`.
  static var bounds: (least: Number, greatest: Number) { get }
  /// The number in a word of a column; nil for null.
  static func number(_ word: UInt64) -> Number?
  static func value(_ number: Number) -> AttributeValue
  init()
  mutating func add(_ number: Number)
  /// Begins the pass of deviations, after all numbers have been added.
  mutating func setCenter(_ count: Int)
  mutating func addDeviation(of number: Number)
  func deviations(_ count: Int) -> Deviations
  func add(to totals: inout NumberTotals, _ count: Int)
}

/// Sums of integers of at most 52 bits. For the rows of one chunk the sum fits in 64 bits, that of squared deviations in 128.
struct IntegerSum: PartialSum {
  private var sum: Int64 = 0
  /// The mean, rounded to an integer, so that deviations from it are exact.
  private var center: Int64 = 0
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  static var bounds: (least: Int64, greatest: Int64) { (.max, .min) }
  @inline(__always) static func number(_ word: UInt64) -> Int64? { Int64(bitPattern: word) }
  static func value(_ number: Int64) -> AttributeValue { .integer(number) }

  @inline(__always) mutating func add(_ number: Int64) { sum &+= number }

  mutating func setCenter(_ count: Int) { center = sum / Int64(count) }

  @inline(__always)
  mutating func addDeviation(of number: Int64) {
    let square = (number &- center).magnitude
    let product = square.multipliedFullWidth(by: square)
    let (lower, carry) = low.addingReportingOverflow(product.low)
    low = lower
    high &+= product.high &+ (carry ? 1 : 0)
  }

  func deviations(_ count: Int) -> Deviations {
    let squares =
      DoubleDouble(Double(high) * 0x1p64) + DoubleDouble(Double(low >> 32) * 0x1p32)
      + DoubleDouble(Double(low & 0xffff_ffff))
    // Corrects for the center, which is only the rounded mean.
    let rest = DoubleDouble(sum &- center &* Int64(count))
    let difference = rest / DoubleDouble(Double(count))
    return Deviations(count: count, mean: DoubleDouble(center) + difference, squares: squares - rest * difference)
  }

  func add(to totals: inout NumberTotals, _ count: Int) { totals.add(integers: sum, count: count) }
}

/// Sums of doubles below ``WideSum/bound``.
struct DoubleSum: PartialSum {
  private var sum = CompensatedSum()
  private var center = DoubleDouble()
  private var squares = CompensatedSum()

  static var bounds: (least: Double, greatest: Double) { (.infinity, -.infinity) }
  @inline(__always)
  static func number(_ word: UInt64) -> Double? {
    let number = Double(bitPattern: word)
    return number.isNaN ? nil : number
  }
  static func value(_ number: Double) -> AttributeValue { .double(number) }

  @inline(__always) mutating func add(_ number: Double) { sum.add(number) }

  mutating func setCenter(_ count: Int) {
    center = DoubleDouble(sumOf: sum.sum, sum.lost) / DoubleDouble(Double(count))
  }

  @inline(__always)
  mutating func addDeviation(of number: Double) {
    let deviation = DoubleDouble(sumOf: number, -center.high)
    let square = DoubleDouble(productOf: deviation.high, deviation.high)
    squares.add(square.high, lost: square.low + 2 * deviation.high * (deviation.low - center.low))
  }

  func deviations(_ count: Int) -> Deviations {
    Deviations(count: count, mean: center, squares: DoubleDouble(sumOf: squares.sum, squares.lost))
  }

  func add(to totals: inout NumberTotals, _ count: Int) { totals.add(doubles: sum, count: count) }
}

/// The numbers of one group in a chunk.
struct NumberPart<Sum: PartialSum>: BitwiseCopyable {
  private(set) var sum = Sum()
  private(set) var least = Sum.bounds.least
  private(set) var greatest = Sum.bounds.greatest
  private(set) var count = 0

  @inline(__always)
  mutating func add(_ number: Sum.Number) {
    sum.add(number)
    if number < least { least = number }
    if number > greatest { greatest = number }
    count &+= 1
  }

  var deviations: Deviations { sum.deviations(count) }

  /// The sums of the groups that occur in a chunk.
  static func parts(
    of column: ValueColumn, _ rows: UnsafeBufferPointer<UInt16>, _ groups: borrowing RowGroups, _ needsDeviations: Bool
  ) -> [NumberPart] {
    var parts = [NumberPart](repeating: NumberPart(), count: groups.occurring.count)
    parts.withUnsafeMutableBufferPointer { parts in
      forEach(of: column, rows, groups.local) { parts[$0].add($1) }
      guard needsDeviations else { return }
      for group in parts.indices where parts[group].count > 0 { parts[group].sum.setCenter(parts[group].count) }
      forEach(of: column, rows, groups.local) { parts[$0].sum.addDeviation(of: $1) }
    }
    return parts
  }

  /// Calls `body` with each number and the number of its group within the chunk.
  @inline(__always)
  private static func forEach(
    of column: ValueColumn, _ rows: UnsafeBufferPointer<UInt16>, _ local: [UInt16], _ body: (Int, Sum.Number) -> Void
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
