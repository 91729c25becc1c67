// Class breaks from data: where to divide numbers, and symbols for the classes.

import Query

/// How numbers are divided into classes.
public enum ClassificationMethod: String, Hashable, Sendable, CaseIterable {
  /// Classes of the same width between the least and the greatest number.
  case equalInterval
  /// Classes with as nearly the same number of features as equal numbers allow.
  case quantile
  /// Classes whose numbers differ least among themselves.
  case naturalBreaks
}

/// Numbers divided into classes.
public struct Classification: Hashable, Sendable {
  public struct Class: Hashable, Sendable {
    /// Of the first class it belongs to it; of others it is the end of the class before.
    public let minValue: Double
    /// Belongs to it.
    public let maxValue: Double
    /// How many numbers are in it.
    public let count: Int
  }
  public let classes: [Class]

  /// Divides numbers; those that are not finite are left out.
  ///
  /// Equal numbers are never parted: a quantile that would fall among them moves up to their last, and classes that would be
  /// empty for it are left out. So there may be fewer classes than asked for, one when all numbers are equal, none without any.
  ///
  /// - Parameter isCancelled: asked now and then; without classes once it says so.
  /// - Complexity: O(n) for equal intervals, O(n log n) for quantiles, O(n log n + count · m log m) for natural breaks, where m is
  ///   how many different numbers there are, at most 20,000.
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
      var ends: [Double] = []
      let range = greatest - least
      for place in 1..<count {
        let part = Double(place) / Double(count)
        // Of both ends a part where their distance cannot be said.
        let end =
          (range * Double(place)).isFinite
          ? least + range * Double(place) / Double(count) : least * (1 - part) + greatest * part
        if end > ends.last ?? least, end < greatest { ends.append(end) }
      }
      ends.append(greatest)
      var counts = [Int](repeating: 0, count: ends.count)
      for number in numbers { counts[ends.partitioningPlace { $0 >= number }] += 1 }
      classes = Self.classes(from: least, ends, counts)
    case .quantile:
      let sorted = numbers.sorted()
      var ends: [Double] = []
      var counts: [Int] = []
      var start = 0
      for place in 1...count {
        let target = (sorted.count * place + count - 1) / count
        guard target > start else { continue }
        let end = sorted[target - 1]
        var next = target
        while next < sorted.count, sorted[next] == end { next += 1 }
        ends.append(end)
        counts.append(next - start)
        start = next
      }
      classes = Self.classes(from: least, ends, counts)
    case .naturalBreaks:
      let made = NaturalBreaks(numbers.sorted()).classes(count, isCancelled: isCancelled)
      classes = Self.classes(from: least, made.map(\.end), made.map(\.count))
    }
  }

  private static func classes(from least: Double, _ ends: [Double], _ counts: [Int]) -> [Class] {
    var start = least
    return zip(ends, counts).map { end, count in
      defer { start = end }
      return Class(minValue: start, maxValue: end, count: count)
    }
  }

  /// A renderer for the classes: copies of a symbol in colours evenly spaced along a ramp, the first class in its first.
  ///
  /// - Parameter colors: at least one.
  public func renderer(
    for source: AttributeSource, normalizationField: String?, symbol: Symbol, colors: [Color]
  ) throws(SymbologyError) -> ClassBreaksRenderer {
    try ClassBreaksRenderer(
      source: source, normalizationField: normalizationField,
      breaks: classes.enumerated().map { place, each in
        ClassBreaksRenderer.Break(
          minValue: each.minValue, maxValue: each.maxValue,
          entry: SymbolEntry(symbol: symbol.colored(Self.color(place, of: classes.count, along: colors))))
      })
  }

  static func color(_ place: Int, of count: Int, along colors: [Color]) -> Color {
    guard let first = colors.first, count > 1 else { return colors.first ?? .lightGray }
    let way = Double(place) / Double(count - 1) * Double(colors.count - 1)
    let step = min(Int(way), colors.count - 2)
    return step < 0 ? first : colors[step].mixed(with: colors[step + 1], part: way - Double(step))
  }

  /// The numbers of a store that a renderer would divide: null, text and divisions by 0 left out.
  public static func numbers(
    in store: FeatureStore, of source: AttributeSource, normalizationField: String?, isCancelled: () -> Bool
  ) -> [Double] {
    let source = BoundSource(source, schema: store.schema)
    let divisor = normalizationField.map { BoundSource(.field($0), schema: store.schema) }
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
