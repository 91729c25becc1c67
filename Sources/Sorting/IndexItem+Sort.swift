// The sort of bulk additions to the spatial index: with the standard library's, loading columns misses its bar.

extension IndexItem {
  /// Sorts by key and row: a stable radix sort over the digits of 11 bits in which keys differ.
  ///
  /// - Complexity: O(n) where rows ascend, as in bulk additions; else O(n log n).
  static func sort(_ items: inout [IndexItem]) {
    guard items.count >= 96 else { return items.sort { $0.isBefore($1.key, $1.row) } }
    var common = ~UInt64(0)
    var any = UInt64(0)
    var rowsAscend = true
    var previous = items[0].row
    for item in items {
      common &= item.key
      any |= item.key
      if item.row < previous { rowsAscend = false }
      previous = item.row
    }
    if !rowsAscend { items.sort { $0.row < $1.row } }
    let differing = common ^ any
    var sorted = items
    var counts = [Int](repeating: 0, count: 2048)
    for shift in stride(from: UInt64(0), to: 64, by: 11) where differing >> shift & 2047 != 0 {
      sortByDigit(items, into: &sorted, shift, &counts)
      swap(&items, &sorted)
    }
  }

  private static func sortByDigit(
    _ items: [IndexItem], into sorted: inout [IndexItem], _ shift: UInt64, _ counts: inout [Int]
  ) {
    items.withUnsafeBufferPointer { from in
      sorted.withUnsafeMutableBufferPointer { to in
        counts.withUnsafeMutableBufferPointer { counts in
          counts.update(repeating: 0)
          for item in from { counts[Int(truncatingIfNeeded: item.key >> shift & 2047)] &+= 1 }
          var start = 0
          for digit in counts.indices {
            let count = counts[digit]
            counts[digit] = start
            start &+= count
          }
          for item in from {
            let digit = Int(truncatingIfNeeded: item.key >> shift & 2047)
            to[counts[digit]] = item
            counts[digit] &+= 1
          }
        }
      }
    }
  }
}
