// Statistics of features by groups.

import FeatureStore
import Filtering
import Sorting

extension FeatureStore {
  /// Maximum number of values stored for statistics: some hundred megabytes.
  public static let groupCellLimit = 4_000_000

  /// Statistics of features, for each group with equal values in all of `columns`. Without columns, all features are one group,
  /// which exists even if there are none. Groups are in the order of their first features.
  ///
  /// - Parameter check: called every few thousand rows.
  /// - Throws: ``TooManyGroups``; errors of `check`.
  /// - Complexity: O(n); about five nanoseconds for a feature with few groups and numbers without nulls.
  public func statistics(
    _ statistics: [Statistic], of features: FeatureSelection, groupedBy columns: [Int], limit: Int = groupCellLimit,
    checking check: CancellationCheck
  ) throws -> FeatureGroups {
    var groups = FeatureGroups(statistics, by: columns, in: schema)
    try forEachChunk(of: features, checking: check) { chunk, rows in
      groups.add(rows, of: chunk)
      guard groups.cellCount <= limit else { throw TooManyGroups(limit: limit) }
    }
    try groups.finish { _ in try check(1) }
    return groups
  }

  /// Calls `visit` with each chunk that has selected features, and their rows in the chunk.
  private func forEachChunk(
    of features: FeatureSelection, checking check: CancellationCheck,
    visit: (FeatureChunk, UnsafeBufferPointer<UInt16>) throws -> Void
  ) throws {
    try withUnsafeTemporaryAllocation(of: UInt16.self, capacity: FeatureChunk.capacity) { found in
      func unpack(_ slot: Slot, _ mask: RowMask) throws {
        let count = mask.markedRows(into: found)
        if count > 0 { try visit(slot.chunk, UnsafeBufferPointer(rebasing: found[..<count])) }
      }
      switch features {
      case .matching(let conditions): try scan(conditions, checkingEvery: 1, check, unpack)
      case .rows(let rows):
        try RowMask.withRows { mask in
          try forEachChunk(of: rows) { slot, range in
            try check(Double(range.lowerBound) / Double(rows.count))
            mask.update(repeating: 0)
            for row in rows[range] { mask[Int(row &- slot.base)] = 1 }
            slot.chunk.unmarkRemoved(mask)
            try unpack(slot, mask)
          }
        }
      }
    }
  }
}
