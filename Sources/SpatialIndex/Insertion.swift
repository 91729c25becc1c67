// Insertion of one batch: down to the leaves in key order, and up again with the splits.

import Sorting

/// State of inserting a sorted batch.
struct Insertion<Shape: IndexedShape> {
  let shapes: UnsafeBufferPointer<Shape>
  let domain: KeyDomain
  let table: UnsafePointer<UInt16>
  /// Without keys, one item at a time is inserted.
  let isKeyed: Bool
  var strain = 0

  /// Inserts sorted items under `node`, and extends `box` by them.
  ///
  /// - Returns: Empty if `node` took them; else the nodes that replace it, in order.
  mutating func insert(
    _ items: UnsafeBufferPointer<SortItem>, in node: inout IndexNode, _ box: inout IndexedBox
  ) -> [IndexBranch] {
    let isLeaf = node.withBlock { $0.assumingMemoryBound(to: NodeHead.self).pointee.level == 0 }
    if isLeaf { return insertInLeaf(items, in: &node, &box) }
    if !isKnownUniquelyReferenced(&node) { node = node.withInner { $0.copy() } }
    return node.withInner { insertInInner(items, in: $0, &box) }
  }

  private mutating func insertInInner(
    _ items: UnsafeBufferPointer<SortItem>, in inner: InnerBlock, _ box: inout IndexedBox
  ) -> [IndexBranch] {
    // The children that receive items, and the end of each one's run.
    withUnsafeTemporaryAllocation(of: Run.self, capacity: InnerBlock.limit) { runs in
      var splits: [NodeSplit] = []
      let count = findRuns(of: items, in: inner, runs)
      let isAboveLeaves = inner.level == 1
      if isAboveLeaves { Self.touchLeaves(of: inner, runs[..<count]) }
      var start = 0
      for index in 0..<count {
        let (child, end) = runs[index]
        let run = UnsafeBufferPointer(rebasing: items[start..<end])
        start = end
        var grown = inner.boxes[child]
        let pieces =
          isAboveLeaves
          ? insertInLeaf(run, in: &inner.nodes[child], &grown) : insert(run, in: &inner.nodes[child], &grown)
        box.include(grown)
        if pieces.isEmpty {
          inner.noteBlock(of: child)
          inner.totals[child] &+= UInt32(truncatingIfNeeded: run.count)
          inner.boxes[child] = grown
        } else {
          splits.append(NodeSplit(child: child, pieces: pieces))
        }
      }
      return splits.isEmpty ? [] : inner.apply(splits)
    }
  }

  private typealias Run = (child: Int, end: Int)

  @inline(__always)
  private func findRuns(
    of items: UnsafeBufferPointer<SortItem>, in inner: InnerBlock, _ runs: UnsafeMutableBufferPointer<Run>
  ) -> Int {
    var count = 0
    var end = 0
    while end < items.count {
      let child = isKeyed ? inner.child(for: items[end]) : inner.child(nearest: shapes[Int(items[end].source)].center)
      end = isKeyed ? inner.end(of: child, from: end, in: items) : items.count
      runs.initializeElement(at: count, to: (child, end))
      count &+= 1
    }
    return count
  }

  /// Reads the heads of all leaves that receive items, so that memory latencies overlap, before each leaf is changed.
  @inline(__always)
  private static func touchLeaves(of inner: InnerBlock, _ runs: Slice<UnsafeMutableBufferPointer<Run>>) {
    let blocks = inner.blocks
    var touched: Int32 = 0
    for run in runs { touched |= LeafBlock<Shape>(blocks[run.child]).head.pointee.count }
    // Always true; it only keeps the compiler from removing the loads.
    precondition(touched >= 0)
  }

  private mutating func insertInLeaf(
    _ items: UnsafeBufferPointer<SortItem>, in node: inout IndexNode, _ box: inout IndexedBox
  ) -> [IndexBranch] {
    let head = node.withBlock { $0.assumingMemoryBound(to: NodeHead.self).pointee }
    let needed = Int(head.count) + items.count
    guard needed <= LeafBlock<Shape>.limit else {
      let pieces = split(node, with: items)
      for piece in pieces { box.include(piece.box) }
      return pieces
    }
    if needed > head.capacity || !isKnownUniquelyReferenced(&node) {
      node = node.withLeaf(of: Shape.self) { $0.copy(for: needed) }
    }
    node.withLeaf(of: Shape.self) { leaf in
      for item in items {
        let shape = shapes[Int(item.source)]
        leaf.append(shape, row: item.row)
        box.include(shape)
      }
    }
    return []
  }

  // MARK: Leaves that overflow

  /// Distributes the entries of a leaf and the items over new leaves.
  private mutating func split(_ node: IndexNode, with items: UnsafeBufferPointer<SortItem>) -> [IndexBranch] {
    node.withLeaf(of: Shape.self) { leaf in
      let count = leaf.count
      let total = count + items.count
      return withUnsafeTemporaryAllocation(of: SortItem.self, capacity: total) { order in
        // Entries of the leaf come first, so that `source` identifies the origin of an item.
        var last: SortItem?
        for index in 0..<count {
          let item = SortItem(
            key: domain.key(leaf.shapes[index].center, table: table), row: leaf.rows[index],
            source: UInt32(truncatingIfNeeded: index))
          order.initializeElement(at: index, to: item)
          if last.map({ $0.isBefore(item.key, item.row) }) ?? true { last = item }
        }
        for index in items.indices {
          var item = items[index]
          item.source &+= UInt32(truncatingIfNeeded: count)
          order.initializeElement(at: count + index, to: item)
        }
        let isAppended = last.map { items.isEmpty || $0.isBefore(items[0].key, items[0].row) } ?? true
        if total <= LeafBlock<Shape>.target * 2, !isAppended {
          return halves(of: order, leaf)
        }
        var sorted = order
        sorted.sort { $0.isBefore($1.key, $1.row) }
        let batch = self
        return leaves(from: UnsafeBufferPointer(order), isAppended: isAppended) { batch.shape(of: $0, leaf) }
      }
    }
  }

  /// The shape of an item; sources below the leaf's count are the leaf's.
  @inline(__always)
  private func shape(of item: SortItem, _ leaf: LeafBlock<Shape>) -> Shape {
    let source = Int(item.source)
    return source < leaf.count ? leaf.shapes[source] : shapes[source &- leaf.count]
  }

  /// Two leaves of half the items each. Leaves are unordered, so a partition suffices.
  private mutating func halves(
    of items: UnsafeMutableBufferPointer<SortItem>, _ leaf: LeafBlock<Shape>
  ) -> [IndexBranch] {
    let half = items.count / 2
    SortItem.part(items, at: half)
    return [items[..<half], items[half...]].map { side in
      let part = UnsafeMutableBufferPointer(rebasing: side)
      let node = LeafBlock<Shape>.make(for: part.count)
      var first = part[0]
      var lastKey = part[0].key
      let box = node.withLeaf(of: Shape.self) { new in
        var box = IndexedBox.none
        for item in part {
          let shape = shape(of: item, leaf)
          new.append(shape, row: item.row)
          box.include(shape)
          if item.isBefore(first.key, first.row) { first = item }
          lastKey = max(lastKey, item.key)
        }
        return box
      }
      return branch(node, part.count, box, first: first, lastKey: lastKey)
    }
  }

  /// New leaves for sorted items: evenly filled, or full if data arrives in order and is likely to continue.
  mutating func leaves(
    from items: UnsafeBufferPointer<SortItem>, isAppended: Bool, shape: (SortItem) -> Shape
  ) -> [IndexBranch] {
    let target = LeafBlock<Shape>.target
    let pieces = (items.count + target - 1) / target
    var result: [IndexBranch] = []
    result.reserveCapacity(pieces)
    var start = 0
    for piece in 1...max(pieces, 1) {
      let end = isAppended ? min(start + target, items.count) : items.count * piece / max(pieces, 1)
      let node = LeafBlock<Shape>.make(for: end - start)
      let box = node.withLeaf(of: Shape.self) { leaf in
        for index in start..<end { leaf.append(shape(items[index]), row: items[index].row) }
        return leaf.box
      }
      result.append(branch(node, end - start, box, first: items[start], lastKey: items[end - 1].key))
      start = end
    }
    return result
  }

  private mutating func branch(
    _ node: IndexNode, _ count: Int, _ box: IndexedBox, first: SortItem, lastKey: UInt64
  ) -> IndexBranch {
    // A whole leaf in one cell with different positions means that the grid is too coarse for this data.
    if count > 1, first.key == lastKey, box.lower != box.upper { strain += count }
    return IndexBranch(box: box, key: first.key, row: first.row, total: count, node: node)
  }
}
