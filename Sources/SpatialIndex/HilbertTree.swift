// The index's tree: a B+-tree along the Hilbert curve whose nodes carry boxes; search and counting.

import Sorting

/// A dynamic Hilbert R-tree.
///
/// Source: I. Kamel, C. Faloutsos, "Hilbert R-tree: An Improved R-tree Using Fractals", VLDB 1994. Entries are ordered
/// by the curve key of their centre, so that insertion descends one path in logarithmic time, and leaves are compact.
/// Unlike in that paper, a leaf stores its entries unordered and without keys. When the leaf splits, keys are computed again,
/// which costs less than storing eight bytes per entry.
///
/// A copy is O(1) and shares every node; a change copies the shared nodes on its path.
///
/// `@unchecked Sendable`: nodes reachable from two trees are only read; see ``IndexNode``.
package struct HilbertTree<Shape: IndexedShape>: @unchecked Sendable {
  var root: IndexBranch?
  var domain = KeyDomain(around: [])
  /// Whether entries are where their keys say; else they are in an order that was given.
  var isKeyed = true
  /// Entries whose order in the current domain is bad: outside of it, or too close together for its grid. Without keys, changes.
  var strain = 0

  package var count: Int { root?.total ?? 0 }

  /// The box around everything, exact; nil if empty. O(1).
  package var bounds: IndexedBox? { root?.box }

  /// Finds the rows whose shapes touch `box`, in no order.
  ///
  /// - Complexity: O(log n + hits) on data that is spread out.
  package func search(_ box: IndexedBox, into found: inout FoundRows) {
    guard let root, root.box.touches(box) else { return }
    // Blocks are read without reference counting: the root keeps everything below it.
    root.node.withBlock { Self.search($0, box, isInside: box.contains(root.box), into: &found) }
  }

  private static func search(
    _ block: UnsafeMutableRawPointer, _ box: IndexedBox, isInside: Bool, into found: inout FoundRows
  ) {
    let level = block.assumingMemoryBound(to: NodeHead.self).pointee.level
    guard level > 0 else {
      let leaf = LeafBlock<Shape>(block)
      found.reserve(leaf.count)
      return searchLeaf(leaf, box, isInside: isInside, into: &found)
    }
    let inner = InnerBlock(block)
    let boxes = inner.boxes
    let blocks = inner.blocks
    var touched: UInt32 = isInside ? ~0 &>> UInt32(truncatingIfNeeded: 32 &- inner.count) : inner.touched(by: box)
    if level == 1 {
      // All leaf heads are read first, so that memory latencies overlap.
      var room = 0
      var left = touched
      while left != 0 {
        room &+= LeafBlock<Shape>(blocks[left.trailingZeroBitCount]).count
        left &= left &- 1
      }
      found.reserve(room)
    }
    while touched != 0 {
      let index = touched.trailingZeroBitCount
      touched &= touched &- 1
      let isInside = isInside || box.contains(boxes[index])
      if level == 1 {
        searchLeaf(LeafBlock<Shape>(blocks[index]), box, isInside: isInside, into: &found)
      } else {
        search(blocks[index], box, isInside: isInside, into: &found)
      }
    }
  }

  /// Adds the matches of a leaf; there is room for all its rows.
  @inline(__always)
  private static func searchLeaf(
    _ leaf: LeafBlock<Shape>, _ box: IndexedBox, isInside: Bool, into found: inout FoundRows
  ) {
    let count = leaf.count
    let rows = leaf.rows
    let shapes = leaf.shapes
    let free = found.rows + found.count
    if isInside {
      free.update(from: rows, count: count)
      found.count &+= count
      return
    }
    // Every row is written and only matches are counted, without a branch to mispredict.
    var hits = 0
    for index in 0..<count {
      free[hits] = rows[index]
      hits &+= shapes[index].touching(box)
    }
    found.count &+= hits
  }

  /// The number of shapes that touch `box`. Nodes entirely inside are counted without a visit.
  ///
  /// - Parameter wholeLeaves: counts leaves at the edge in full, without reading them; the result is a close upper bound.
  package func count(in box: IndexedBox, wholeLeaves: Bool = false) -> Int {
    guard let root, root.box.touches(box) else { return 0 }
    if box.contains(root.box) || wholeLeaves && root.node.header.level == 0 { return root.total }
    return root.node.withBlock { Self.count($0, box, wholeLeaves) }
  }

  private static func count(_ block: UnsafeMutableRawPointer, _ box: IndexedBox, _ wholeLeaves: Bool) -> Int {
    var sum = 0
    let level = block.assumingMemoryBound(to: NodeHead.self).pointee.level
    guard level > 0 else {
      let leaf = LeafBlock<Shape>(block)
      let shapes = leaf.shapes
      for index in 0..<leaf.count { sum &+= shapes[index].touching(box) }
      return sum
    }
    let inner = InnerBlock(block)
    var touched = inner.touched(by: box)
    while touched != 0 {
      let index = touched.trailingZeroBitCount
      touched &= touched &- 1
      let isWhole = wholeLeaves && level == 1 || box.contains(inner.boxes[index])
      sum += isWhole ? Int(inner.totals[index]) : count(inner.blocks[index], box, wholeLeaves)
    }
    return sum
  }

  /// Calls `body` with each entry.
  func forEach(_ body: (Shape, UInt32) -> Void) {
    func visit(_ node: IndexNode) {
      guard node.header.level > 0 else {
        return node.withLeaf(of: Shape.self) { leaf in
          for index in 0..<leaf.count { body(leaf.shapes[index], leaf.rows[index]) }
        }
      }
      node.withInner { inner in
        for index in 0..<inner.count { visit(inner.nodes[index]) }
      }
    }
    if let root { visit(root.node) }
  }
}

/// A buffer of found rows that leaves write into.
package struct FoundRows: ~Copyable {
  package private(set) var rows: UnsafeMutablePointer<UInt32>
  package var count = 0
  private var capacity = 256

  package init() { rows = .allocate(capacity: capacity) }

  deinit { rows.deallocate() }

  /// Makes room for `more` rows.
  @inline(__always)
  package mutating func reserve(_ more: Int) {
    if count &+ more > capacity { grow(to: count + more) }
  }

  @inline(never)
  private mutating func grow(to needed: Int) {
    capacity = max(needed, capacity * 2)
    let larger = UnsafeMutablePointer<UInt32>.allocate(capacity: capacity)
    larger.update(from: rows, count: count)
    rows.deallocate()
    rows = larger
  }

  /// Passes the rows to `body`, in no order, and keeps them alive until it returns, which a pointer alone would not.
  package func withRows<Result>(_ body: (UnsafeBufferPointer<UInt32>) -> Result) -> Result {
    defer { withExtendedLifetime(self) {} }
    return body(UnsafeBufferPointer(start: rows, count: count))
  }

  /// The rows in ascending order, each once.
  ///
  /// Rows that are close together are marked as bits, which are then read in order; scattered ones are compared.
  ///
  /// - Parameter check: called every few ten thousand rows.
  /// - Complexity: O(n) for rows that are close together, else O(n log n).
  package mutating func sorted(checking check: CancellationCheck) rethrows -> [UInt32] {
    defer { withExtendedLifetime(self) {} }
    var all = UnsafeMutableBufferPointer(start: rows, count: count)
    var low = UInt32.max
    var high = UInt32.min
    for row in all {
      low = min(low, row)
      high = max(high, row)
    }
    guard low <= high, Int(high - low) < 512 * count else {
      all.sort()
      return Array(all).ascendingOnce()
    }
    var marks = [UInt64](repeating: 0, count: Int(high - low) / 64 + 1)
    for start in stride(from: 0, to: count, by: SortItem.block) {
      try check(0.5 * Double(start) / Double(count))
      for row in all[start..<min(start + SortItem.block, count)] {
        marks[Int((row &- low) &>> 6)] |= 1 &<< UInt64((row &- low) & 63)
      }
    }
    var result: [UInt32] = []
    result.reserveCapacity(count)
    for (index, var bits) in marks.enumerated() {
      if index & 0x3ff == 0x3ff { try check(0.5 + 0.5 * Double(index) / Double(marks.count)) }
      while bits != 0 {
        result.append(low &+ UInt32(truncatingIfNeeded: index &* 64 &+ bits.trailingZeroBitCount))
        bits &= bits &- 1
      }
    }
    return result
  }
}
