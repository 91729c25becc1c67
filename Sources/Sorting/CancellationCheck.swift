// Sorting that can be cancelled.

/// A callback that long work calls every few milliseconds with the fraction done, in 0...1 and never decreasing. It throws to cancel
/// the work.
public typealias CancellationCheck = (Double) throws -> Void

extension IndexItem {
  /// Items handled between two cancellation checks: about half a millisecond of work.
  static let block = 1 << 15

  /// Sorts by kind (`source`), key and row.
  ///
  /// - Parameter check: called every few milliseconds.
  static func sort(
    _ items: inout some MutableCollection<IndexItem> & RandomAccessCollection, checking check: CancellationCheck
  )
    rethrows
  {
    // Sorting n items takes about n log2 n comparisons.
    let expected = Double(items.count * (Int.bitWidth - items.count.leadingZeroBitCount))
    var comparisons = 0
    try items.sort { left, right in
      comparisons &+= 1
      if comparisons & (8 * block - 1) == 0 { try check(min(Double(comparisons) / expected, 1)) }
      return left.source != right.source ? left.source < right.source : left.isBefore(right.key, right.row)
    }
  }
}
