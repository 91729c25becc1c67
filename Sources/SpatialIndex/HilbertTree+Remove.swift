// Removal: a batch in one walk; boxes shrink, and small nodes are merged with their neighbours.

import Sorting

extension HilbertTree {
  /// Removes entries, with the shapes as inserted. Unknown ones are ignored.
  ///
  /// - Complexity: O(k log n).
  mutating func remove(_ entries: IndexEntries<Shape>) {
    guard let first = entries.shapes.first else { return }
    // Without keys, an entry is searched for in all leaves whose boxes hold it.
    let cost = isKeyed ? 1 : 1 + count(in: IndexedBox(lower: first.lower, upper: first.upper), wholeLeaves: true) / 256
    prepare(forChanges: entries.rows.count * cost)
    guard var branch = root else { return }
    let items = HilbertCurve.table.withUnsafeBufferPointer { table in
      table.baseAddress.map { sortedItems(entries, $0) } ?? []
    }
    root = nil  // else the tree itself would be a second owner of the node it changes
    branch.total -= items.withUnsafeBufferPointer { items in
      isKeyed
        ? Self.remove(items, from: &branch.node)
        : items.indices.reduce(0) { gone, index in
          let item = UnsafeBufferPointer(rebasing: items[index...index])
          return gone + Self.remove(item, at: entries.shapes[Int(items[index].source)], from: &branch.node)
        }
    }
    // A root with a single child is dropped.
    while branch.node.header.level > 0, branch.node.header.count == 1 {
      branch.node = branch.node.withInner { $0.nodes[0] }
    }
    if branch.total > 0 {
      branch.box = Self.box(of: branch.node)
      root = branch
    }
  }

  private static func box(of node: IndexNode) -> IndexedBox {
    node.header.level > 0 ? node.withInner(\.box) : node.withLeaf(of: Shape.self, \.box)
  }

  /// Removes items, and returns the number of those found.
  ///
  /// - Parameter shape: of the one item, for a tree without keys.
  private static func remove(_ items: UnsafeBufferPointer<SortItem>, at shape: Shape? = nil, from node: inout IndexNode) -> Int {
    node.header.level > 0 ? removeInner(items, at: shape, from: &node) : removeLeaf(items, from: &node)
  }

  private static func removeLeaf(_ items: UnsafeBufferPointer<SortItem>, from node: inout IndexNode) -> Int {
    if !isKnownUniquelyReferenced(&node) { node = node.withLeaf(of: Shape.self) { $0.copy(for: $0.count) } }
    let removed = node.withLeaf(of: Shape.self) { remove(items, from: $0) }
    if node.header.capacity - node.header.count > 16 { node = node.withLeaf(of: Shape.self) { $0.copy(for: $0.count) } }
    return removed
  }

  private static func remove(_ items: UnsafeBufferPointer<SortItem>, from leaf: LeafBlock<Shape>) -> Int {
    var removed = 0
    for item in items {
      let count = leaf.count
      guard let index = (0..<count).first(where: { leaf.rows[$0] == item.row }) else { continue }
      leaf.rows[index] = leaf.rows[count - 1]
      leaf.shapes[index] = leaf.shapes[count - 1]
      leaf.count = count - 1
      removed += 1
    }
    return removed
  }

  private static func removeInner(_ items: UnsafeBufferPointer<SortItem>, at shape: Shape?, from node: inout IndexNode) -> Int {
    if !isKnownUniquelyReferenced(&node) { node = node.withInner { $0.copy() } }
    return node.withInner { remove(items, at: shape, from: $0) }
  }

  private static func remove(_ items: UnsafeBufferPointer<SortItem>, at shape: Shape?, from inner: InnerBlock) -> Int {
    var removed = 0
    var start = 0
    var isThin = false
    while start < items.count {
      guard let child = shape.map({ Self.child(of: inner, with: items[start].row, at: $0) }) ?? inner.child(for: items[start]) else { break }
      let end = shape == nil ? inner.end(of: child, from: start, in: items) : items.count
      let gone = remove(UnsafeBufferPointer(rebasing: items[start..<end]), at: shape, from: &inner.nodes[child])
      start = end
      let node = inner.nodes[child]
      inner.noteBlock(of: child)
      guard gone > 0 else { continue }
      inner.totals[child] -= UInt32(truncatingIfNeeded: gone)
      inner.boxes[child] = box(of: node)
      removed += gone
      let minimum = node.header.level > 0 ? InnerBlock.minimum : LeafBlock<Shape>.minimum
      if Int(node.header.count) < minimum { isThin = true }
    }
    if isThin { join(inner) }
    return removed
  }

  /// Drops empty children, and merges small ones with the previous or next neighbour where both fit into one.
  private static func join(_ inner: InnerBlock) {
    var kept: [IndexBranch] = []
    for branch in inner.takeAll() where branch.total > 0 {
      if let last = kept.last, let joined = joined(last, branch) {
        kept[kept.count - 1] = joined
      } else {
        kept.append(branch)
      }
    }
    for branch in kept { inner.append(branch) }
  }

  private static func joined(_ left: IndexBranch, _ right: IndexBranch) -> IndexBranch? {
    let leftCount = Int(left.node.header.count)
    let rightCount = Int(right.node.header.count)
    var joined = left
    if left.node.header.level > 0 {
      guard min(leftCount, rightCount) < InnerBlock.minimum, leftCount + rightCount <= InnerBlock.target else {
        return nil
      }
      joined.node = left.node.withInner { $0.copy() }
      joined.node.withInner { inner in
        right.node.withInner { more in
          for index in 0..<rightCount { inner.append(more[index]) }
        }
      }
    } else {
      guard min(leftCount, rightCount) < LeafBlock<Shape>.minimum, leftCount + rightCount <= LeafBlock<Shape>.target
      else { return nil }
      joined.node = left.node.withLeaf(of: Shape.self) { $0.copy(for: leftCount + rightCount) }
      joined.node.withLeaf(of: Shape.self) { leaf in
        right.node.withLeaf(of: Shape.self) { more in
          for index in 0..<rightCount { leaf.append(more.shapes[index], row: more.rows[index]) }
        }
      }
    }
    joined.total += right.total
    joined.box.include(right.box)
    return joined
  }
}
