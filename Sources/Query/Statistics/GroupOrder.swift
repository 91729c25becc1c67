// The order of groups by what their features have in common and by figures about them.

import Geometry

/// Groups in the order of terms, then of their values. Values without a place in the order, as null and JSON, come last in both directions.
public struct GroupOrder: Sendable {
  public struct Term: Hashable, Sendable {
    /// Of a value of the group, or, beyond these, of a figure.
    public let index: Int
    public let isDescending: Bool

    public init(index: Int, isDescending: Bool) { (self.index, self.isDescending) = (index, isDescending) }
  }

  private let terms: [Term]
  /// Whether texts of a value or figure are times.
  private let areTimes: [Bool]

  /// - Parameters:
  ///   - columns: by which features are grouped.
  public init(
    _ terms: [Term], of columns: [Int], _ statistics: [Statistic], in schema: FeatureSchema
  ) {
    self.terms = terms + columns.indices.map { Term(index: $0, isDescending: false) }
    areTimes = columns.map(schema.isTime) + statistics.map { $0.column.map(schema.isTime) ?? false }
  }

  /// - Parameter check: called every few thousand groups or comparisons.
  public func sorted(_ groups: [FeatureGroup], checking check: CancellationCheck) throws -> [FeatureGroup] {
    let width = terms.count
    guard width > 0, groups.count > 1 else { return groups }
    var keys: [RankedValue?] = []
    keys.reserveCapacity(groups.count * width)
    for (number, group) in groups.enumerated() {
      if number & 0xfff == 0xfff { try check(0.3 * Double(number) / Double(groups.count)) }
      for term in terms {
        let count = group.values.count
        let value = term.index < count ? group.values[term.index] : group.results[term.index - count]
        keys.append(RankedValue(value, isTime: areTimes[term.index]))
      }
    }
    let expected = Double(groups.count * (Int.bitWidth - groups.count.leadingZeroBitCount))
    var comparisons = 0
    return try groups.indices.sorted { left, right in
      comparisons += 1
      if comparisons & 0xfff == 0 { try check(min(1, 0.3 + 0.7 * Double(comparisons) / expected)) }
      return isBefore(keys[(left * width)..<(left * width + width)], keys[(right * width)..<(right * width + width)])
    }.map { groups[$0] }
  }

  private func isBefore(_ left: ArraySlice<RankedValue?>, _ right: ArraySlice<RankedValue?>) -> Bool {
    for (term, (left, right)) in zip(terms, zip(left, right)) {
      switch (left, right) {
      case (nil, nil): continue
      case (nil, _): return false
      case (_, nil): return true
      case (let left?, let right?):
        if left.precedes(right) { return !term.isDescending }
        if right.precedes(left) { return term.isDescending }
      }
    }
    return false
  }
}
