// Sorts rows by numeric keys: positions along a curve, values, ids. The standard library's sort is too slow for loading columns.

import Dispatch

/// A key to sort by, with the row that has it.
package struct SortItem: BitwiseCopyable, Sendable {
  package var key: UInt64
  /// A row, or an index. Breaks ties between equal keys.
  package var row: UInt32
  /// The source of the item, or the kind of its key.
  package var source: UInt32

  /// Number of items between two cancellation checks: about half a millisecond of work.
  package static let block = 1 << 15

  package init(key: UInt64, row: UInt32, source: UInt32 = 0) { (self.key, self.row, self.source) = (key, row, source) }

  @inline(__always)
  package func isBefore(_ key: UInt64, _ row: UInt32) -> Bool {
    self.key != key ? self.key < key : self.row < row
  }

  /// Sorts by key, then by row.
  ///
  /// - Parameter check: called every few milliseconds.
  /// - Complexity: O(n).
  package static func sort(_ items: inout [SortItem], checking check: CancellationCheck) rethrows {
    try items.withUnsafeMutableBufferPointer { try sort($0, byKind: false, check) }
  }

  /// Sorts by key, then by row; many items on two threads.
  package static func sortWidely(_ items: inout [SortItem]) {
    guard items.count >= 1 << 16 else { return sort(&items) { _ in } }
    let sample = stride(from: 0, to: items.count, by: items.count / 1024).map { items[$0].key }.sorted()
    let middle = sample[sample.count / 2]
    let lower = items.count { $0.key < middle }
    items = [SortItem](unsafeUninitializedCapacity: items.count) { buffer, count in
      var (low, high) = (0, lower)
      for item in items {
        let isLow = item.key < middle
        buffer[isLow ? low : high] = item
        low &+= isLow ? 1 : 0
        high &+= isLow ? 0 : 1
      }
      count = items.count
      // Safe: each thread has one part.
      nonisolated(unsafe) let parts = [buffer[..<lower], buffer[lower..<count]]
      DispatchQueue.concurrentPerform(iterations: 2) { part in
        sort(UnsafeMutableBufferPointer(rebasing: parts[part]), byKind: false) { _ in }
      }
    }
  }

  /// Sorts by kind, which is in ``source`` and less than 2048, then by key, then by row.
  package static func sortByKind(_ items: UnsafeMutableBufferPointer<SortItem>, checking check: CancellationCheck)
    rethrows
  {
    try sort(items, byKind: true, check)
  }

  private enum Part { case row, key, kind }

  /// A radix sort over those digits of 11 bits in which items differ; short lists are sorted by comparison.
  private static func sort(
    _ items: UnsafeMutableBufferPointer<SortItem>, byKind: Bool, _ check: CancellationCheck
  ) rethrows {
    guard items.count >= 512 else {
      var few = items
      return few.sort {
        byKind && $0.source != $1.source ? $0.source < $1.source : $0.isBefore($1.key, $1.row)
      }
    }
    // The bits in which any item differs from the first one.
    var (rows, keys, kinds) = (0 as UInt32, 0 as UInt64, 0 as UInt32)
    var rowsAscend = true
    var last = items[0]
    for item in items {
      rowsAscend = rowsAscend && last.row <= item.row
      rows |= item.row ^ last.row
      keys |= item.key ^ last.key
      kinds |= item.source ^ last.source
      last = item
    }
    var digits: [(part: Part, shift: UInt64)] = []
    func add(_ part: Part, _ differing: UInt64) {
      for shift in stride(from: 0 as UInt64, to: 64, by: 11) where differing >> shift & 2047 != 0 {
        digits.append((part, shift))
      }
    }
    if !rowsAscend { add(.row, UInt64(rows)) }
    add(.key, keys)
    if byKind { add(.kind, UInt64(kinds)) }
    var spare = Array(items)
    try spare.withUnsafeMutableBufferPointer { spare in
      var (from, to) = (items, spare)
      for (done, (part, shift)) in digits.enumerated() {
        let progress = { (share: Double) in (Double(done) + share) / Double(digits.count) }
        switch part {
        case .row: try sort(from, into: to, { try check(progress($0)) }) { UInt64($0.row) >> shift }
        case .key: try sort(from, into: to, { try check(progress($0)) }) { $0.key >> shift }
        case .kind: try sort(from, into: to, { try check(progress($0)) }) { UInt64($0.source) >> shift }
        }
        swap(&from, &to)
      }
      if !digits.count.isMultiple(of: 2) { _ = items.update(fromContentsOf: spare) }
    }
  }

  /// A stable counting sort by the lowest 11 bits of a number.
  @inline(__always)
  private static func sort(
    _ items: UnsafeMutableBufferPointer<SortItem>, into sorted: UnsafeMutableBufferPointer<SortItem>,
    _ check: CancellationCheck, by number: (SortItem) -> UInt64
  ) rethrows {
    try withUnsafeTemporaryAllocation(of: Int.self, capacity: 2048) { starts in
      starts.initialize(repeating: 0)
      for item in items { starts[Int(truncatingIfNeeded: number(item) & 2047)] &+= 1 }
      var start = 0
      for digit in starts.indices {
        let count = starts[digit]
        starts[digit] = start
        start &+= count
      }
      for start in stride(from: 0, to: items.count, by: block) {
        try check(Double(start) / Double(items.count))
        for item in items[start..<min(start &+ block, items.count)] {
          let digit = Int(truncatingIfNeeded: number(item) & 2047)
          sorted[starts[digit]] = item
          starts[digit] &+= 1
        }
      }
    }
  }
}
