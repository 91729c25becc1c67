// Visits the leaves of the tree in a box, for work that reads shapes directly from memory.

extension HilbertTree {
  /// Calls `body` with each leaf that may have shapes that touch `box`.
  package func forEachLeaf(touching box: IndexedBox, _ body: (LeafBlock<Shape>) -> Void) {
    guard let root, root.box.touches(box) else { return }
    root.node.withBlock { Self.forEachLeaf($0, box, body) }
  }

  private static func forEachLeaf(
    _ block: UnsafeMutableRawPointer, _ box: IndexedBox, _ body: (LeafBlock<Shape>) -> Void
  ) {
    guard block.assumingMemoryBound(to: NodeHead.self).pointee.level > 0 else { return body(LeafBlock<Shape>(block)) }
    let inner = InnerBlock(block)
    let blocks = inner.blocks
    var touched = inner.touched(by: box)
    while touched != 0 {
      forEachLeaf(blocks[touched.trailingZeroBitCount], box, body)
      touched &= touched &- 1
    }
  }
}
