// The nodes of one zoom in rows while a tree is built: flat arrays, and references to rows that are stored already.

import Sorting

struct ClusterRows {
  typealias Row = ContiguousArray<ClusterEntry>

  private(set) var bounds: [UInt32] = [0]
  /// The start of each row in ``entries``, and the end of the last.
  private(set) var starts: [Int] = [0, 0]
  private(set) var entries: Row = []
  /// A second buffer of the size of ``entries``, exchanged with it: allocating memory for each zoom would cost more than writing
  /// it.
  private var spare: Row = []
  /// Rows that a stored level shares; nil for changed rows.
  private var shared: [Row?] = [nil]
  /// For each block of 64 entries, a row at or before that of its first entry, where the search for a row starts.
  private var hints: [UInt32] = []

  /// Number of entries in a row, unless the row would be lower than the radius.
  private static let rowCount = 96

  var count: Int { bounds.count }

  init() {}

  /// Sorts points into rows with a height of at least `reach`.
  init(_ leaves: ContiguousArray<ClusterTree.Leaf>, reach: Reach, checking check: CancellationCheck) rethrows {
    var order: [SortItem] = []
    order.reserveCapacity(leaves.count)
    for (index, leaf) in leaves.enumerated() { order.append(SortItem(key: UInt64(leaf.y), row: UInt32(index))) }
    try SortItem.sort(&order) { try check(0.5 * $0) }
    var ends: [Int] = []
    bounds = order.isEmpty ? [0] : []
    var start = 0
    while start < order.count {
      let end = Self.rowEnd(from: start, lowest: bounds.isEmpty ? 0 : order[start].key, order, reach)
      bounds.append(bounds.isEmpty ? 0 : UInt32(truncatingIfNeeded: order[start].key))
      ends.append(end)
      start = end
    }
    starts = [0] + (ends.isEmpty ? [0] : ends)
    shared = [Row?](repeating: nil, count: bounds.count)
    entries.reserveCapacity(order.count)
    for row in 0..<count {
      if row & 255 == 255 { try check(0.5 + 0.5 * Double(row) / Double(count)) }
      var keys = order[starts[row]..<starts[row + 1]].map {
        SortItem(key: UInt64(leaves[Int($0.row)].x), row: $0.row)
      }
      try SortItem.sort(&keys) { _ in try check(0.5 + 0.5 * Double(row) / Double(count)) }
      for each in keys {
        let leaf = leaves[Int(each.row)]
        entries.append(ClusterEntry(x: leaf.x, y: leaf.y, node: .leaf(Int(each.row))))
      }
    }
    spare = entries
    setHints()
  }

  /// The end of a row that begins at `start` and is at least as high as `reach`. Equal y are not separated; the last row takes
  /// the rest.
  private static func rowEnd(from start: Int, lowest: UInt64, _ order: [SortItem], _ reach: Reach) -> Int {
    let least = lowest + UInt64(reach.span) + 1
    guard start + rowCount < order.count else { return order.count }
    let next = max(order[start + rowCount].key, least)
    // Points with equal y belong to the same row.
    let end = order[start...].partitioningIndex { $0.key >= next }
    guard end < order.count else { return order.count }
    return end
  }

  /// The row of an entry.
  @inline(__always)
  func row(ofEntry index: Int) -> Int {
    var row = Int(hints[index >> 6])
    while starts[row + 1] <= index { row += 1 }
    return row
  }

  private mutating func setHints() {
    hints = [UInt32](repeating: 0, count: starts[count] / 64 + 1)
    var row = 0
    for index in hints.indices {
      while row + 1 < count, starts[row + 1] <= index << 6 { row += 1 }
      hints[index] = UInt32(truncatingIfNeeded: row)
    }
  }

  /// The rows in the form of a stored level.
  mutating func stored() -> ClusterTree.Level {
    var level = ClusterTree.Level(bounds: bounds, rows: [])
    level.rows.reserveCapacity(count)
    for row in 0..<count {
      let made = shared[row] ?? Row(entries[starts[row]..<starts[row + 1]])
      shared[row] = made
      level.rows.append(made)
    }
    return level
  }

  // MARK: Changes

  /// Merges rows in place until each is at least as high as `reach`.
  mutating func merge(to reach: Reach, checking check: CancellationCheck) rethrows {
    var joined = (bounds: [UInt32](), starts: [0], shared: [Row?]())
    var row = 0
    while row < count {
      if joined.bounds.count & 127 == 127 { try check(Double(row) / Double(count)) }
      var end = row + 1
      while end < count,
        UInt64(bounds[end]) <= UInt64(bounds[row]) + UInt64(reach.span) || starts[end] - starts[row] < Self.rowCount / 3
      {
        end += 1
      }
      joined.bounds.append(bounds[row])
      joined.shared.append(end == row + 1 ? shared[row] : nil)
      if end > row + 1 {
        let range = starts[row]..<starts[end]
        entries.withUnsafeMutableBufferPointer { entries in
          var part = UnsafeMutableBufferPointer(rebasing: entries[range])
          part.sort { $0.x < $1.x }
        }
      }
      joined.starts.append(starts[end])
      row = end
    }
    guard joined.bounds.count < count else { return }
    (bounds, starts, shared) = joined
    setHints()
  }

  /// Removes entries and adds others.
  ///
  /// - Parameter removed: by entry.
  mutating func replace(
    _ removed: BitTable, adding made: [ClusterEntry], checking check: CancellationCheck
  ) rethrows {
    guard !made.isEmpty else { return }
    let added = AddedEntries(made, bounds)
    var next = [0]
    next.reserveCapacity(starts.count)
    for row in 0..<count {
      if row & 127 == 127 { try check(Double(row) / Double(count)) }
      let (range, new, start) = (starts[row]..<starts[row + 1], added.entries(of: row), next[row])
      let end = entries.withUnsafeBufferPointer { entries in
        spare.withUnsafeMutableBufferPointer { spare in
          Self.merge(entries, range, removed, new, into: spare, at: start)
        }
      }
      if end - start != range.count || !new.isEmpty { shared[row] = nil }
      next.append(end)
    }
    swap(&entries, &spare)
    starts = next
    setHints()
  }

  /// Writes the remaining entries of a row and the new ones, ordered by x.
  ///
  /// - Returns: the end of the written entries.
  private static func merge(
    _ entries: UnsafeBufferPointer<ClusterEntry>, _ range: Range<Int>, _ removed: BitTable,
    _ new: ArraySlice<ClusterEntry>,
    into result: UnsafeMutableBufferPointer<ClusterEntry>, at start: Int
  ) -> Int {
    var (end, added) = (start, new.startIndex)
    for index in range where !removed.contains(index) {
      let entry = entries[index]
      while added < new.endIndex, new[added].x < entry.x {
        result[end] = new[added]
        (end, added) = (end + 1, added + 1)
      }
      result[end] = entry
      end += 1
    }
    for index in added..<new.endIndex {
      result[end] = new[index]
      end += 1
    }
    return end
  }
}

/// New entries by row, each row sorted by x.
private struct AddedEntries {
  private var starts: [Int]
  private var sorted: [ClusterEntry]

  init(_ made: [ClusterEntry], _ bounds: [UInt32]) {
    let rows = made.map { entry in bounds.partitioningIndex { $0 > entry.y } - 1 }
    starts = [Int](repeating: 0, count: bounds.count + 1)
    for row in rows { starts[row + 1] += 1 }
    for row in bounds.indices { starts[row + 1] += starts[row] }
    var ends = starts
    sorted = made
    for (entry, row) in zip(made, rows) {
      sorted[ends[row]] = entry
      ends[row] += 1
    }
    for row in bounds.indices where starts[row + 1] - starts[row] > 1 {
      sorted[starts[row]..<starts[row + 1]].sort { $0.x < $1.x }
    }
  }

  func entries(of row: Int) -> ArraySlice<ClusterEntry> { sorted[starts[row]..<starts[row + 1]] }
}
