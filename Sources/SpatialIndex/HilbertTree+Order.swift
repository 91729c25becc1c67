// Trees in an order that is given: made without keys, and changed where boxes are near.

import Dispatch
import Sorting

extension HilbertTree {
  /// A tree of rows in an order in which neighbours are near each other, such as that of other shapes of the same features.
  ///
  /// Any order makes a right tree: it only decides how large boxes are. As no keys are computed and sorted, this takes a fraction of the
  /// time of an insertion.
  ///
  /// - Parameter order: the rows, each once.
  init(inOrder order: [UInt32], _ shape: @Sendable (UInt32) -> Shape) {
    startDomain(around: stride(from: 0, to: order.count, by: max(1, order.count / 1024)).map { shape(order[$0]).center })
    isKeyed = false
    let count = (order.count + LeafBlock<Shape>.target - 1) / LeafBlock<Shape>.target
    let parts = 1 + count / 1024
    let leaves = [IndexBranch](unsafeUninitializedCapacity: count) { buffer, made in
      // Safe: each thread has some parts.
      nonisolated(unsafe) let buffer = buffer
      DispatchQueue.concurrentPerform(iterations: parts) { part in
        for number in count * part / parts..<count * (part + 1) / parts {
          let piece = order[order.count * number / count..<order.count * (number + 1) / count]
          let node = LeafBlock<Shape>.make(for: piece.count)
          let box = node.withLeaf(of: Shape.self) { leaf in
            for row in piece { leaf.append(shape(row), row: row) }
            return leaf.box
          }
          buffer.initializeElement(at: number, to: IndexBranch(box: box, key: 0, row: 0, total: piece.count, node: node))
        }
      }
      made = count
    }
    root = Self.stack(leaves)
  }

  /// The rows of all leaves.
  func appendRows(to order: inout [UInt32]) {
    guard let bounds else { return }
    forEachLeaf(touching: bounds) { order.append(contentsOf: UnsafeBufferPointer(start: $0.rows, count: $0.count)) }
  }

  /// Gives a tree without keys its keys before it has changed so much that its boxes would be large.
  mutating func prepare(forChanges count: Int) {
    guard !isKeyed, root != nil else { return }
    strain += count
    if strain > 1024 + self.count / 64 { rebuild() }
  }

  /// The child below which an entry is, found by its box; nil if it is nowhere.
  static func child(of inner: InnerBlock, with row: UInt32, at shape: Shape) -> Int? {
    var touched = inner.touched(by: IndexedBox(lower: shape.lower, upper: shape.upper))
    while touched != 0 {
      let child = touched.trailingZeroBitCount
      if isBelow(inner.blocks[child], row, shape) { return child }
      touched &= touched &- 1
    }
    return nil
  }

  private static func isBelow(_ block: UnsafeMutableRawPointer, _ row: UInt32, _ shape: Shape) -> Bool {
    guard block.assumingMemoryBound(to: NodeHead.self).pointee.level == 0 else {
      return child(of: InnerBlock(block), with: row, at: shape) != nil
    }
    let leaf = LeafBlock<Shape>(block)
    return (0..<leaf.count).contains { leaf.rows[$0] == row }
  }
}

extension InnerBlock {
  /// The child whose box is nearest to a position.
  func child(nearest position: SIMD2<Double>) -> Int {
    var (nearest, least) = (0, Double.infinity)
    for index in 0..<count {
      let beside = pointwiseMax(pointwiseMax(boxes[index].lower - position, position - boxes[index].upper), .zero)
      let distance = (beside * beside).sum()
      if distance < least { (nearest, least) = (index, distance) }
    }
    return nearest
  }
}
