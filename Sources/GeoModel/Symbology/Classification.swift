// Classification: class breaks computed from data, with a symbol per class.

import FeatureStore
import Geometry
import Sorting

/// The method by which numbers are divided into classes.
public enum ClassificationMethod: Hashable, Sendable, CaseIterable {
  /// Classes of equal width between the minimum and the maximum.
  case equalInterval
  /// Classes with equal numbers of features, as far as equal values allow. Each class ends at a quantile of type 7 by R. J.
  /// Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages" (1996), as in NumPy, PySAL's mapclassify and R.
  case quantile
  /// Classes with minimal variance (see ``NaturalBreaks``).
  case naturalBreaks
}

/// Numbers divided into classes.
///
/// ```swift
/// let classes = Classification([1, 2, 3, 10, 11, 12], .naturalBreaks, count: 2).classes
/// // 1...3 with 3 numbers, 3...12 with 3 numbers
/// ```
public struct Classification: Hashable, Sendable {
  public struct Class: Hashable, Sendable {
    /// Lower bound: in the first class inclusive, else exclusive and equal to the upper bound of the class before.
    public let minValue: Double
    /// Upper bound, inclusive.
    public let maxValue: Double
    /// Number of values in the class.
    public let count: Int
  }
  public let classes: [Class]

  /// Divides the finite numbers into classes.
  ///
  /// Equal numbers are in one class, and classes with equal bounds are merged. So there may be fewer classes than requested: one
  /// if all numbers are equal, none without numbers.
  ///
  /// - Parameter isCancelled: polled regularly; the result has no classes once it returns true.
  /// - Complexity: O(n) for equal intervals, O(n log n) for quantiles, O(n log n + count · m log m) for natural breaks,
  ///   where m is the number of different numbers, at most 20,000.
  public init(
    _ numbers: [Double], _ method: ClassificationMethod, count: Int, isCancelled: () -> Bool = { false }
  ) {
    let numbers = numbers.filter(\.isFinite)
    guard let least = numbers.min(), let greatest = numbers.max(), count > 0 else {
      classes = []
      return
    }
    switch method {
    case .equalInterval:
      let sides = (1..<count).map { Self.between(least, greatest, $0, of: count) }
      classes = Self.classes(of: numbers, from: least, endingAt: sides + [greatest])
    case .quantile:
      let sorted = numbers.sorted()
      let ends = (1...count).map { index in
        // The rank is an exact fraction, so that a rank that falls on a number gives exactly that number.
        let (rank, rest) = ((sorted.count - 1) * index).quotientAndRemainder(dividingBy: count)
        return rest == 0 ? sorted[rank] : Self.between(sorted[rank], sorted[rank + 1], rest, of: count)
      }
      classes = Self.classes(of: numbers, from: least, endingAt: ends)
    case .naturalBreaks:
      let made = NaturalBreaks(numbers.sorted()).classes(count, isCancelled: isCancelled)
      classes = Self.classes(from: least, made.map(\.end), made.map(\.count))
    }
  }

  /// Interpolates between two numbers, at `part` of `whole` steps.
  private static func between(_ low: Double, _ high: Double, _ part: Int, of whole: Int) -> Double {
    let range = high - low
    let fraction = Double(part) / Double(whole)
    // The difference of two finite numbers may overflow.
    return min(
      high,
      (range * Double(part)).isFinite
        ? low + range * Double(part) / Double(whole) : low * (1 - fraction) + high * fraction)
  }

  /// Classes that end at the ascending bounds, of which the last is the greatest number; equal bounds make one class.
  private static func classes(of numbers: [Double], from least: Double, endingAt bounds: [Double]) -> [Class] {
    var ends: [Double] = []
    for end in bounds where ends.last.map({ $0 < end }) ?? true { ends.append(end) }
    var counts = [Int](repeating: 0, count: ends.count)
    for number in numbers { counts[ends.partitioningIndex { $0 >= number }] += 1 }
    return classes(from: least, ends, counts)
  }

  private static func classes(from least: Double, _ ends: [Double], _ counts: [Int]) -> [Class] {
    var start = least
    return zip(ends, counts).map { end, count in
      defer { start = end }
      return Class(minValue: start, maxValue: end, count: count)
    }
  }

  /// A renderer for the classes, with copies of a symbol in colors evenly spaced along a ramp.
  ///
  /// - Parameter colors: at least one.
  public func renderer(
    for source: AttributeSource, normalizationField: String?, symbol: Symbol, colors: [Color]
  ) throws(SymbologyError) -> ClassBreaksRenderer {
    try ClassBreaksRenderer(
      source: source, normalizationField: normalizationField,
      breaks: classes.enumerated().map { index, each in
        ClassBreaksRenderer.Break(
          minValue: each.minValue, maxValue: each.maxValue,
          entry: SymbolEntry(symbol: symbol.colored(Self.color(index, of: classes.count, along: colors))))
      })
  }

  static func color(_ index: Int, of count: Int, along colors: [Color]) -> Color {
    guard let first = colors.first, count > 1 else { return colors.first ?? .lightGray }
    let position = Double(index) / Double(count - 1) * Double(colors.count - 1)
    let step = min(Int(position), colors.count - 2)
    return step < 0 ? first : colors[step].mixed(with: colors[step + 1], fraction: position - Double(step))
  }

  /// The numbers of a store that a renderer would classify: without nulls, texts and divisions by 0.
  public static func numbers(
    in store: FeatureStore, of source: AttributeSource, normalizationField: String?, isCancelled: () -> Bool
  ) -> [Double] {
    let source = BoundSource(source, schema: store.schema)
    let divisor = normalizationField.map { BoundSource(.field(Text($0)), schema: store.schema) }
    var numbers: [Double] = []
    numbers.reserveCapacity(store.count)
    var visited = 0
    store.forEach { row in
      visited += 1
      if visited.isMultiple(of: 4096), isCancelled() { return false }
      guard var number = source.number(of: row) else { return true }
      if let divisor {
        guard let divisor = divisor.number(of: row), divisor != 0 else { return true }
        number /= divisor
      }
      numbers.append(number)
      return true
    }
    return numbers
  }
}
