// Filters all features, chunk by chunk: narrows a mask and counts or reads it, without lists of rows in between.

import FeatureStore
import Sorting

extension FeatureStore {
  /// The features for which an expression is true, in insertion order.
  ///
  /// - Complexity: O(n); about a nanosecond per feature for two comparisons with constants.
  public func rows(where expression: CompiledExpression) -> [UInt32] {
    if let boxes = expression.indexBoxes { return expression.filter(rows(in: boxes), of: self) }
    return rows(where: [expression]) { _ in }
  }

  /// The features for which all conditions are true, in insertion order.
  ///
  /// - Parameters:
  ///   - first: the minimum number of rows to find. The scan ends after the chunk that reaches it, so there may be more rows.
  ///   - check: called every few thousand rows.
  public func rows(
    where conditions: [CompiledExpression], first: Int = .max, checking check: CancellationCheck
  ) rethrows -> [UInt32] {
    var result: [UInt32] = []
    try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: FeatureChunk.capacity) { rows in
      try scan(conditions, check, while: { result.count < first }) { slot, mask in
        var count = 0
        mask.forEachMarked { row in
          rows[count] = slot.base &+ UInt32(truncatingIfNeeded: row)
          count &+= 1
        }
        result.append(contentsOf: rows[..<count])
      }
    }
    return result
  }

  /// The number of features for which all conditions are true.
  ///
  /// - Parameter check: called every few thousand rows.
  public func count(where conditions: [CompiledExpression], checking check: CancellationCheck) rethrows -> Int {
    var count = 0
    try scan(conditions, check) { count &+= $1.markedCount }
    return count
  }

  /// Calls `body` with each chunk and the mask of its features for which all conditions are true.
  ///
  /// - Parameters:
  ///   - interval: the number of chunks between two checks.
  ///   - isWanted: called before each chunk; the scan ends when it returns false.
  package func scan(
    _ conditions: [CompiledExpression], checkingEvery interval: Int = 8, _ check: CancellationCheck,
    while isWanted: () -> Bool = { true }, _ body: (Slot, RowMask) throws -> Void
  ) rethrows {
    let columns = conditions.flatMap(\.columns)
    try RowMask.withRows { mask in
      for (number, slot) in slots.enumerated() {
        guard isWanted() else { return }
        if number.isMultiple(of: interval) { try check(Double(number) / Double(slots.count)) }
        prefetch(columns, after: number)
        slot.chunk.markLive(mask)
        for condition in conditions { condition.narrow(mask, to: condition.plan, slot.chunk) }
        try body(slot, mask)
      }
    }
  }
}

extension FeatureStore {
  /// Prefetches the beginnings of the next chunks' columns while a chunk is processed. An address has to be loaded before what it
  /// points to, so each step is done for a different chunk.
  @inline(__always)
  private func prefetch(_ columns: [Int], after number: Int) {
    guard number &+ 4 < slots.count else { return }
    slots[number &+ 4].prefetch()
    for column in columns {
      slots[number &+ 3].reader.pointee.prefetchAddresses(ofAligned: column)
      slots[number &+ 2].reader.pointee.prefetchValues(ofAligned: column)
      slots[number &+ 1].reader.pointee.prefetchTexts(ofAligned: column)
    }
  }
}

extension RowMask {
  /// Passes a mask for a chunk to `body`: one byte per row, all unmarked.
  package static func withRows<Result>(_ body: (RowMask) throws -> Result) rethrows -> Result {
    try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: FeatureChunk.capacity) { mask in
      mask.initialize(repeating: 0)
      return try body(mask)
    }
  }
}

extension FeatureChunk {
  /// Marks the features that exist.
  fileprivate func markLive(_ mask: RowMask) {
    mask[..<count].update(repeating: 1)
    mask.cut(at: count)
    unmarkRemoved(mask)
  }
}
