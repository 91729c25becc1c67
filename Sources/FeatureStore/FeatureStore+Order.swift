// Sorting of features by attributes, for pages of query results.

import Sorting

/// One attribute to sort by.
public struct SortTerm: Hashable, Sendable {
  public let column: Int
  public let isDescending: Bool

  public init(column: Int, isDescending: Bool) {
    self.column = column
    self.isDescending = isDescending
  }
}

extension FeatureStore {
  /// The first `count` of the rows in the order of the terms.
  ///
  /// Numbers come before texts, which are ordered by code points, and texts before booleans. Fields declared as dates are ordered
  /// by time. Null and JSON come last in both directions. Features with equal values are ordered by id.
  ///
  /// - Parameters:
  ///   - rows: rows of existing features.
  ///   - count: the number of rows to return.
  ///   - check: called at least every few ten thousand rows.
  /// - Complexity: O(n) if `count` is small and values differ in their first 7 bytes; O(n log n) in general, where
  ///   equal beginnings of texts are read further.
  public func ordered(
    _ rows: [UInt32], by terms: [SortTerm], first count: Int, checking check: CancellationCheck
  ) rethrows -> [UInt32] {
    guard !terms.isEmpty, count > 0 else { return [] }
    let order = AttributeOrder(self, terms)
    return count < rows.count / 4
      ? try order.first(count, of: rows, checking: check)
      : Array(try order.sorted(rows, checking: check).prefix(count))
  }
}
