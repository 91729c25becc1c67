// Sums of the numbers in one column of a chunk, by group. Deviations of doubles from the groups' means are added in a second pass.

import FeatureStore
import Geometry

/// Sums of numbers of one type, and of their squared deviations.
protocol PartialSum: BitwiseCopyable, Sendable {
  associatedtype Number: Comparable, BitwiseCopyable, Sendable
  /// Initial extremes: any number is less than `least` and greater than `greatest`.
  static var bounds: (least: Number, greatest: Number) { get }
  /// The number in a word of a column; nil for null.
  static func number(_ word: UInt64) -> Number?
  static func value(_ number: Number) -> AttributeValue
  /// Whether deviations take a second pass.
  static var needsCenter: Bool { get }
  init()
  mutating func add(_ number: Number)
  /// Begins the pass of deviations, after all numbers have been added.
  mutating func setCenter(_ count: Int)
  mutating func addDeviation(of number: Number)
  func deviations(_ count: Int) -> Deviations
  func add(to totals: inout NumberTotals, _ count: Int)
}

extension PartialSum {
  mutating func setCenter(_ count: Int) {}
  mutating func addDeviation(of number: Number) {}
}

/// Sums of integers that ``ValueBounds/isSummable``: for the rows of one chunk the sum fits in 63 bits, that of squares in 116.
struct IntegerSum: PartialSum {
  static let needsCenter = false
  private var sum: Int64 = 0
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  static var bounds: (least: Int64, greatest: Int64) { (.max, .min) }
  @inline(__always) static func number(_ word: UInt64) -> Int64? { Int64(bitPattern: word) }
  static func value(_ number: Int64) -> AttributeValue { .integer(number) }

  @inline(__always)
  mutating func add(_ number: Int64) {
    sum &+= number
    let square = number.magnitude.multipliedFullWidth(by: number.magnitude)
    let (lower, carry) = low.addingReportingOverflow(square.low)
    low = lower
    high &+= square.high &+ (carry ? 1 : 0)
  }

  /// The squared deviations are exact, but for the division: n times the sum of squares, minus the square of the sum, by n.
  func deviations(_ count: Int) -> Deviations {
    let product = low.multipliedFullWidth(by: UInt64(count))
    let square = sum.magnitude.multipliedFullWidth(by: sum.magnitude)
    let (lower, borrow) = product.low.subtractingReportingOverflow(square.low)
    let upper = high &* UInt64(count) &+ product.high &- square.high &- (borrow ? 1 : 0)
    let squares =
      DoubleDouble(Double(upper >> 32) * 0x1p96) + DoubleDouble(Double(upper & 0xffff_ffff) * 0x1p64)
      + DoubleDouble(Double(lower >> 32) * 0x1p32) + DoubleDouble(Double(lower & 0xffff_ffff))
    let divisor = DoubleDouble(Double(count))
    return Deviations(count: count, mean: DoubleDouble(sum) / divisor, squares: squares / divisor)
  }

  func add(to totals: inout NumberTotals, _ count: Int) { totals.add(integers: sum, count: count) }

  fileprivate mutating func add(_ other: IntegerSum) {
    sum &+= other.sum
    let (lower, carry) = low.addingReportingOverflow(other.low)
    low = lower
    high &+= other.high &+ (carry ? 1 : 0)
  }
}

/// Sums of doubles below ``WideSum/bound``.
struct DoubleSum: PartialSum {
  static let needsCenter = true
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
struct NumberPart<Sum: PartialSum>: BitwiseCopyable, Sendable {
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
  ///
  /// - Parameter known: what is known of all groups; their extremes are those to begin with, as branches are then foreseen.
  static func parts(
    of column: ValueColumn, _ rows: UnsafeBufferPointer<UInt16>, _ groups: borrowing RowGroups, _ needsDeviations: Bool,
    known: [NumberPart] = []
  ) -> [NumberPart] {
    var parts = [NumberPart](repeating: NumberPart(), count: groups.occurring.count)
    for (index, group) in groups.occurring.enumerated() where group < known.count {
      (parts[index].least, parts[index].greatest) = (known[group].least, known[group].greatest)
    }
    parts.withUnsafeMutableBufferPointer { parts in
      forEach(of: column, rows, groups.local) { parts[$0].add($1) }
      guard needsDeviations, Sum.needsCenter else { return }
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
        // Rows ascend, so that these are all of the chunk's.
        if !hasNulls, rows.count == words.count, rows.last.map({ Int($0) < words.count }) ?? false {
          for row in words.indices {
            if let number = Sum.number(words[row]) { body(Int(local[row]), number) }
          }
          return
        }
        for place in rows.indices {
          let row = Int(rows[place])
          guard row < words.count, !(hasNulls && nulls[row]), let number = Sum.number(words[row]) else { continue }
          body(Int(local[place]), number)
        }
      }
    }
  }
}

extension NumberPart<IntegerSum> {
  /// Sums of so many integers within ``ValueBounds/isAddable`` fit as those of a chunk do.
  static let most = 1 << 20

  mutating func add(_ other: NumberPart) {
    sum.add(other.sum)
    (least, greatest) = (min(least, other.least), max(greatest, other.greatest))
    count &+= other.count
  }
}
