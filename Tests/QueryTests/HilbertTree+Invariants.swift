// Invariants of the tree between calls; tests check them after random edits.

@testable import Sorting
@testable import SpatialIndex

extension HilbertTree {
  /// Violations, one line each; empty if there are none.
  func checkInvariants() -> [String] {
    guard let root else { return [] }
    var faults: [String] = []
    let keyOf = HilbertCurve.table
    typealias Bound = (key: UInt64, row: UInt32)

    func check(_ branch: IndexBranch, level: Int, from low: Bound?, to high: Bound?) {
      let head = branch.node.header
      if Int(head.level) != level { faults.append("level \(head.level) where \(level) belongs") }
      if head.count == 0 { faults.append("an empty node at level \(level)") }
      if head.count > head.capacity { faults.append("\(head.count) in a node of \(head.capacity)") }
      guard level > 0 else {
        return branch.node.withLeaf(of: Shape.self) { checkLeaf($0, branch, from: low, to: high) }
      }
      branch.node.withInner { inner in
        if inner.total != branch.total { faults.append("a node's total is wrong") }
        if inner.box != branch.box { faults.append("a node's box is not exact") }
        for index in 0..<inner.count {
          let child = inner[index]
          if child.node.withBlock({ inner.blocks[index] != $0 }) { faults.append("a child's memory is not its node's") }
          let next = index + 1 < inner.count ? (inner.keys[index + 1], inner.rows[index + 1]) : high
          check(child, level: level - 1, from: index == 0 ? low : (child.key, child.row), to: next)
        }
      }
    }

    func checkLeaf(_ leaf: LeafBlock<Shape>, _ branch: IndexBranch, from low: Bound?, to high: Bound?) {
      if leaf.count != branch.total { faults.append("a leaf of \(leaf.count) counted as \(branch.total)") }
      if leaf.box != branch.box { faults.append("a leaf's box is not exact") }
      for index in 0..<leaf.count where isKeyed {
        let key = keyOf.withUnsafeBufferPointer { table in
          table.baseAddress.map { domain.key(leaf.shapes[index].center, table: $0) } ?? 0
        }
        let item = SortItem(key: key, row: leaf.rows[index], source: 0)
        if let low, item.isBefore(low.key, low.row) { faults.append("an entry before its leaf") }
        if let high, !item.isBefore(high.key, high.row) { faults.append("an entry after its leaf") }
      }
    }

    check(root, level: Int(root.node.header.level), from: nil, to: nil)
    return faults
  }

  /// All nodes, for tests of which ones a change has copied.
  var nodes: Set<ObjectIdentifier> {
    var all: Set<ObjectIdentifier> = []
    func visit(_ node: IndexNode) {
      all.insert(ObjectIdentifier(node))
      guard node.header.level > 0 else { return }
      node.withInner { inner in
        for index in 0..<inner.count { visit(inner.nodes[index]) }
      }
    }
    if let root { visit(root.node) }
    return all
  }
}
