// Conditions that make texts: the work per feature grows with the length of its texts, so the blocks between checks are sized by it.

import FeatureStore

extension FeatureQuery {
  /// Maximum work of a block: bytes of text, counted for each function that makes a short text.
  private static let maxTextWork = 1 << 19

  /// Filters rows with `body`, with a checkpoint before each block of rows with short texts in total, until `first` rows have
  /// passed. On the loop, more work than that of one block needs a worker.
  func inBlocksByText(
    _ rows: [UInt32], first: Int, _ share: WorkShare, _ body: ([UInt32]) throws -> [UInt32]
  ) throws -> [UInt32] {
    var kept: [UInt32] = []
    var start = 0
    while start < rows.count, kept.count < first {
      let block = block(from: rows[start...])
      if share.work == nil, block.isFull { throw NeedsWorker() }
      try share.checkpoint(start, of: rows.count)
      kept += try body(Array(rows[start..<start + block.count]))
      start += block.count
    }
    return kept
  }

  private func block(from rows: ArraySlice<UInt32>) -> (count: Int, isFull: Bool) {
    var (count, work) = (0, 0)
    store.forEach(in: rows) {
      work += ($0.weight(withTexts: true) + 56) * textCost
      count += 1
      return work < Self.maxTextWork
    }
    // Rows that are not in the store any more are dropped.
    return work < Self.maxTextWork ? (rows.count, false) : (count, true)
  }
}
