// The order of groups by their common values and by statistics.

import Sorting

/// One criterion of the order of groups.
public struct GroupTerm: Hashable, Sendable {
  /// The index of a value of the group; after all values, of a statistic.
  public let index: Int
  public let isDescending: Bool

  public init(index: Int, isDescending: Bool) { (self.index, self.isDescending) = (index, isDescending) }
}

/// A group with the values by which it is sorted.
private struct GroupKey {
  let number: Int
  /// The values for the terms, followed by the group's own.
  let values: [RankedValue?]

  func precedes(_ other: GroupKey, descending: [Bool]) -> Bool {
    for index in values.indices {
      guard let value = values[index], let otherValue = other.values[index] else {
        if (values[index] == nil) != (other.values[index] == nil) { return values[index] != nil }
        continue
      }
      if value.precedes(otherValue) { return !descending[index] }
      if otherValue.precedes(value) { return descending[index] }
    }
    return number < other.number
  }
}

extension FeatureGroups {
  /// The first groups in the order of ``sorted(_:by:checking:)``. A few of many groups are found without sorting the rest.
  ///
  /// - Parameters:
  ///   - numbers: the numbers of groups, ascending.
  ///   - check: called every few thousand groups or comparisons.
  public func first(
    _ count: Int, of numbers: [Int], by terms: [GroupTerm], checking check: CancellationCheck
  ) throws -> [Int] {
    guard count < numbers.count / 8 else {
      return Array(try sorted(numbers, by: terms, checking: check).prefix(count))
    }
    let descending = terms.map(\.isDescending) + groups.rankedValues(of: 0).map { _ in false }
    return try Places.first(count, of: numbers, checking: check) { number in
      let values = groups.rankedValues(of: number)
      return GroupKey(number: number, values: terms.map { ranked($0, of: number, values) } + values)
    } by: {
      $0.precedes($1, descending: descending)
    }.map(\.number)
  }

  private func ranked(_ term: GroupTerm, of group: Int, _ values: [RankedValue?]) -> RankedValue? {
    if term.index < values.count { return values[term.index] }
    let index = term.index - values.count
    return RankedValue(figure(index, of: group), isTime: isTime(index))
  }

  /// Groups in the order of the terms, then of their values. Values without a place in the order, such as null and JSON, come
  /// last in both directions.
  ///
  /// - Parameter check: called every few thousand groups or comparisons.
  /// - Complexity: O(k) for k groups whose values are already in order; else O(k log k).
  public func sorted(_ numbers: [Int], by terms: [GroupTerm], checking check: CancellationCheck) throws -> [Int] {
    let ofValues = try groups.places { try check(0.3 * $0) }
    let places = try terms.map { term in
      let places =
        term.index < ofValues.count
        ? ofValues[term.index] : try self.places(byFigure: term.index - ofValues.count) { _ in try check(0.3) }
      return term.isDescending ? places.map { $0 == Places.none ? $0 : Places.none - 1 - $0 } : places
    }
    return try Places.sorted(numbers, by: places + ofValues) { try check(0.4 + 0.6 * $0) }
  }

  private func places(byFigure index: Int, checking check: CancellationCheck) throws -> [UInt32] {
    let figures = (0..<count).map { RankedValue(figure(index, of: $0), isTime: isTime(index)) }
    func isBefore(_ left: Int, _ right: Int) -> Bool {
      figures[left].flatMap { left in figures[right].map { left.precedes($0) } } ?? false
    }
    let sorted = try Places.sorted(figures.indices.filter { figures[$0] != nil }, checking: check, by: isBefore)
    return Places.of(sorted, among: count, isBefore: isBefore)
  }
}
