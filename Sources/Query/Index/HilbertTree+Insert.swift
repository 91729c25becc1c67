// Insertion: a sorted batch in one walk; leaves split when they overflow.

extension HilbertTree {
  /// Adds `shapes[i]` for `rows[i]`. All are finite, and no row is in the tree.
  ///
  /// - Complexity: O(k log n) for k entries with a small factor; O(k log k) if the tree is empty.
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
          root = Self.stack(insertion.leaves(from: items, isAppended: true) { shapes[Int($0.source)] })
          return
        }
        root = nil  // else the tree itself would be a second owner of the node it changes
        let pieces = insertion.place(items, in: &branch.node, &branch.box)
        if pieces.isEmpty {
          branch.total += items.count
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

  /// Chooses a new domain for the current data and reorders everything. O(n), amortized over the n/8 or more entries
  /// that the old domain ordered badly.
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

  /// Adds levels above nodes of one level until there is one root.
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
