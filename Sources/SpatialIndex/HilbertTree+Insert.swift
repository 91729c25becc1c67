// Insertion: a sorted batch in one walk; leaves split when they overflow.

import Sorting

extension HilbertTree {
  /// Adds entries. All are finite, and no row is in the tree.
  ///
  /// - Complexity: O(k log n) for k entries with a small factor; O(k log k) if the tree is empty.
  mutating func insert(_ entries: IndexEntries<Shape>) {
    guard !entries.rows.isEmpty else { return }
    if root == nil { startDomain(around: entries.shapes.lazy.map(\.center)) }
    prepare(forChanges: entries.rows.count)
    insertSorted(entries)
    if strain > 1024 + count / 8 { rebuild() }
  }

  mutating func startDomain(around centers: some RandomAccessCollection<SIMD2<Double>>) {
    domain = KeyDomain(around: centers)
    (strain, isKeyed) = (0, true)
  }

  private mutating func insertSorted(_ entries: IndexEntries<Shape>) {
    HilbertCurve.table.withUnsafeBufferPointer { table in
      guard let table = table.baseAddress else { return }
      let items = sortedItems(entries, table)
      for shape in entries.shapes where !domain.contains(shape.center) { strain += 1 }
      entries.shapes.withUnsafeBufferPointer { shapes in
        items.withUnsafeBufferPointer { items in
          var insertion = Insertion(shapes: shapes, domain: domain, table: table, isKeyed: isKeyed)
          guard root != nil else {
            root = Self.stack(insertion.leaves(from: items, isAppended: true) { shapes[Int($0.source)] })
            return
          }
          // Without keys each entry has a place of its own.
          let run = isKeyed ? items.count : 1
          for start in stride(from: 0, to: items.count, by: run) {
            insert(UnsafeBufferPointer(rebasing: items[start..<start + run]), by: &insertion)
          }
          strain += insertion.strain
        }
      }
    }
  }

  private mutating func insert(_ items: UnsafeBufferPointer<SortItem>, by insertion: inout Insertion<Shape>) {
    guard var branch = root else { return }
    root = nil  // else the tree itself would be a second owner of the node it changes
    let pieces = insertion.insert(items, in: &branch.node, &branch.box)
    branch.total += items.count
    root = pieces.isEmpty ? branch : Self.stack(pieces)
  }

  func sortedItems(_ entries: IndexEntries<Shape>, _ table: UnsafePointer<UInt16>) -> [SortItem] {
    var items = [SortItem](unsafeUninitializedCapacity: entries.rows.count) { buffer, count in
      for index in entries.rows.indices {
        buffer[index] = SortItem(
          key: domain.key(entries.shapes[index].center, table: table), row: entries.rows[index],
          source: UInt32(truncatingIfNeeded: index))
      }
      count = entries.rows.count
    }
    SortItem.sortWidely(&items)
    return items
  }

  /// Chooses a new domain for the current data and reorders everything. O(n), amortized over the n/8 or more entries whose order
  /// in the old domain was bad.
  mutating func rebuild() {
    var entries = IndexEntries<Shape>()
    entries.reserve(count)
    forEach { entries.append($0, $1) }
    root = nil
    startDomain(around: entries.shapes.lazy.map(\.center))
    insertSorted(entries)
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
