// How entries come into the tree: a batch in one walk, sorted, leaves split as they overflow.

extension HilbertTree {
  /// Adds `shapes[i]` for `rows[i]`. All are finite, and no row is in the tree yet.
  ///
  /// - Complexity: O(k log n) for k entries, with a small factor; k log k at once when the tree was empty.
  mutating func insert(_ shapes: UnsafeBufferPointer<Shape>, rows: UnsafeBufferPointer<UInt32>) {
    guard !shapes.isEmpty else { return }
    if root == nil {
      domain = KeyDomain(around: shapes.map(\.center))
      strain = 0
    }
    place(shapes, rows: rows)
    if strain > 1024 + count / 8 { rebuild() }
  }

  private mutating func place(_ shapes: UnsafeBufferPointer<Shape>, rows: UnsafeBufferPointer<UInt32>) {
    HilbertCurve.table.withUnsafeBufferPointer { table in
      guard let table = table.baseAddress else { return }
      let items = sortedItems(shapes, rows: rows, table: table)
      for index in shapes.indices where !domain.contains(shapes[index].center) { strain += 1 }
      items.withUnsafeBufferPointer { items in
        var insertion = Insertion(shapes: shapes, domain: domain, table: table)
        guard var branch = root else {
          root = Self.stack(insertion.leaves(from: items, shapes: shapes, isAppended: true))
          return
        }
        root = nil  // else the tree itself would be a second owner of the node it changes
        let pieces = insertion.place(items, in: &branch.node)
        if pieces.isEmpty {
          branch.total += items.count
          branch.box.include(insertion.box(of: items))
          root = branch
        } else {
          root = Self.stack(pieces)
        }
        strain += insertion.strain
      }
    }
  }

  func sortedItems(
    _ shapes: UnsafeBufferPointer<Shape>, rows: UnsafeBufferPointer<UInt32>, table: UnsafePointer<UInt16>
  ) -> [IndexItem] {
    var items = [IndexItem](unsafeUninitializedCapacity: shapes.count) { buffer, count in
      for index in shapes.indices {
        buffer[index] = IndexItem(
          key: domain.key(shapes[index].center, table: table), row: rows[index],
          source: UInt32(truncatingIfNeeded: index))
      }
      count = shapes.count
    }
    IndexItem.sort(&items)
    return items
  }

  /// Chooses a new domain for the data as it is now and orders all by it. O(n), paid for by the n/8 entries or more that
  /// the old domain ordered badly.
  private mutating func rebuild() {
    var shapes: [Shape] = []
    var rows: [UInt32] = []
    shapes.reserveCapacity(count)
    rows.reserveCapacity(count)
    forEach {
      shapes.append($0)
      rows.append($1)
    }
    root = nil
    domain = KeyDomain(around: shapes.map(\.center))
    shapes.withUnsafeBufferPointer { shapes in rows.withUnsafeBufferPointer { place(shapes, rows: $0) } }
    strain = 0
  }

  /// Puts nodes of one level under as many levels as it takes to have one root.
  static func stack(_ nodes: [IndexBranch]) -> IndexBranch? {
    var nodes = nodes
    while nodes.count > 1 {
      let level = Int(nodes[0].node.header.level) + 1
      nodes = InnerBlock.pack(nodes, level: level)
    }
    return nodes.first
  }
}

extension InnerBlock {
  /// Makes nodes of `level` over `children`, evenly filled.
  static func pack(_ children: [IndexBranch], level: Int) -> [IndexBranch] {
    let pieces = (children.count + target - 1) / target
    return (0..<pieces).map { piece in
      let start = children.count * piece / pieces
      let end = children.count * (piece + 1) / pieces
      let node = make(level: level)
      return node.withInner { inner in
        for index in start..<end { inner.append(children[index]) }
        return IndexBranch(
          box: inner.box, key: children[start].key, row: children[start].row, total: inner.total, node: node)
      }
    }
  }
}

/// One batch on its way into the tree.
struct Insertion<Shape: IndexedShape> {
  let shapes: UnsafeBufferPointer<Shape>
  let domain: KeyDomain
  let table: UnsafePointer<UInt16>
  var strain = 0

  func box(of items: some Collection<IndexItem>) -> IndexedBox {
    var box = IndexedBox.none
    for item in items { box.include(shapes[Int(item.source)]) }
    return box
  }

  /// Places sorted items under `node`.
  ///
  /// - Returns: Nothing when `node` took them; else the nodes that stand in its place, in order.
  mutating func place(_ items: UnsafeBufferPointer<IndexItem>, in node: inout IndexNode) -> [IndexBranch] {
    node.header.level > 0 ? placeInner(items, in: &node) : placeLeaf(items, in: &node)
  }

  private mutating func placeLeaf(
    _ items: UnsafeBufferPointer<IndexItem>, in node: inout IndexNode
  ) -> [IndexBranch] {
    let head = node.header
    let needed = Int(head.count) + items.count
    guard needed <= LeafBlock<Shape>.limit else { return node.withLeaf(of: Shape.self) { split($0, with: items) } }
    if needed > head.capacity || !isKnownUniquelyReferenced(&node) {
      node = node.withLeaf(of: Shape.self) { $0.copy(for: needed) }
    }
    node.withLeaf(of: Shape.self) { leaf in
      for item in items { leaf.append(shapes[Int(item.source)], row: item.row) }
    }
    return []
  }

  /// The leaf's entries and the items, in new leaves.
  private mutating func split(
    _ leaf: LeafBlock<Shape>, with items: UnsafeBufferPointer<IndexItem>
  ) -> [IndexBranch] {
    // The leaf's shapes go behind the batch's, so that one `source` can mean either.
    let count = leaf.count
    var all = [Shape]()
    var order = [IndexItem]()
    var merged = [IndexItem]()
    all.reserveCapacity(count + items.count)
    for index in 0..<count { all.append(leaf.shapes[index]) }
    for index in 0..<count {
      order.append(
        IndexItem(
          key: domain.key(all[index].center, table: table), row: leaf.rows[index],
          source: UInt32(truncatingIfNeeded: index)))
    }
    order.withUnsafeMutableBufferPointer { IndexItem.insertionSort($0) }
    let isAppended = order.last.map { items.isEmpty || $0.isBefore(items[0].key, items[0].row) } ?? true
    merged.reserveCapacity(count + items.count)
    var next = 0
    for item in items {
      while next < count, order[next].isBefore(item.key, item.row) {
        merged.append(order[next])
        next += 1
      }
      merged.append(IndexItem(key: item.key, row: item.row, source: UInt32(truncatingIfNeeded: all.count)))
      all.append(shapes[Int(item.source)])
    }
    merged.append(contentsOf: order[next...])
    return merged.withUnsafeBufferPointer { merged in
      all.withUnsafeBufferPointer { leaves(from: merged, shapes: $0, isAppended: isAppended) }
    }
  }

  /// New leaves for sorted items: evenly filled, or full from the left where data comes in order and will go on so.
  mutating func leaves(
    from items: UnsafeBufferPointer<IndexItem>, shapes: UnsafeBufferPointer<Shape>, isAppended: Bool
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
        for index in start..<end { leaf.append(shapes[Int(items[index].source)], row: items[index].row) }
        return leaf.box
      }
      // One cell holds a whole leaf, though its positions differ: the grid is too coarse for this data.
      if end - start > 1, items[start].key == items[end - 1].key, box.lower != box.upper { strain += end - start }
      result.append(
        IndexBranch(box: box, key: items[start].key, row: items[start].row, total: end - start, node: node))
      start = end
    }
    return result
  }

  private mutating func placeInner(
    _ items: UnsafeBufferPointer<IndexItem>, in node: inout IndexNode
  ) -> [IndexBranch] {
    if !isKnownUniquelyReferenced(&node) { node = node.withInner { $0.copy() } }
    return node.withInner { placeInner(items, in: $0) }
  }

  private mutating func placeInner(
    _ items: UnsafeBufferPointer<IndexItem>, in inner: InnerBlock
  ) -> [IndexBranch] {
    var splits: [(child: Int, pieces: [IndexBranch])] = []
    var start = 0
    while start < items.count {
      let child = inner.child(for: items[start])
      let end = inner.end(of: child, from: start, in: items)
      let run = UnsafeBufferPointer(rebasing: items[start..<end])
      let pieces = place(run, in: &inner.nodes[child])
      if pieces.isEmpty {
        inner.noteBlock(of: child)
        inner.totals[child] &+= UInt32(truncatingIfNeeded: run.count)
        inner.boxes[child].include(box(of: run))
      } else {
        splits.append((child, pieces))
      }
      start = end
    }
    if splits.isEmpty { return [] }
    return Self.apply(splits, to: inner)
  }

  /// Puts the pieces of split children in their places; splits the node when they do not fit.
  private static func apply(
    _ splits: [(child: Int, pieces: [IndexBranch])], to inner: InnerBlock
  ) -> [IndexBranch] {
    let old = inner.takeAll()
    var branches: [IndexBranch] = []
    var next = 0
    for split in splits {
      branches += old[next..<split.child]
      // The first piece keeps the child's key: entries between it and the piece's own first may still come.
      var first = split.pieces[0]
      first.key = old[split.child].key
      first.row = old[split.child].row
      branches.append(first)
      branches += split.pieces.dropFirst()
      next = split.child + 1
    }
    branches += old[next...]
    guard branches.count > InnerBlock.limit else {
      for branch in branches { inner.append(branch) }
      return []
    }
    return InnerBlock.pack(branches, level: inner.level)
  }
}
