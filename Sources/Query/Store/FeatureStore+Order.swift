// Features in the order of their attributes, as questions ask for pages of them.

import Geometry

/// One attribute to put features in order by.
public struct SortTerm: Hashable, Sendable {
  public let column: Int
  public let isDescending: Bool

  public init(column: Int, isDescending: Bool) {
    self.column = column
    self.isDescending = isDescending
  }
}

extension FeatureStore {
  /// The first of the rows by the terms, the first of which counts most.
  ///
  /// Numbers come before texts, which go by code points, and those before truth values. Fields declared as dates go by time. What has
  /// no value, or JSON, is last in both directions. Equal features are in the order of their ids.
  ///
  /// - Parameters:
  ///   - rows: of features that are there.
  ///   - count: how many are wanted.
  ///   - check: called at least with every few ten thousand rows.
  /// - Complexity: O(n) where values differ in their first 7 bytes and few are wanted or they are numbers; at worst all bytes of
  ///   the texts are read, and O(n log n).
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
