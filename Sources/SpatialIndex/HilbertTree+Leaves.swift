// Visits the leaves of the tree in a box, for work that reads shapes directly from memory; finds shapes that reach beyond their boxes.

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

  /// As ``search(_:into:)``, of shapes whose edges may be outside of their boxes: see ``IndexedBox/mayBend(into:longest:)``.
  package func search(bentInto box: IndexedBox, longest: Double, into found: inout FoundRows) {
    root?.node.withBlock { Self.search($0, bentInto: box, longest, into: &found) }
  }

  private static func search(
    _ block: UnsafeMutableRawPointer, bentInto box: IndexedBox, _ longest: Double, into found: inout FoundRows
  ) {
    guard block.assumingMemoryBound(to: NodeHead.self).pointee.level > 0 else {
      let leaf = LeafBlock<Shape>(block)
      found.reserve(leaf.count)
      for index in 0..<leaf.count {
        let shape = leaf.shapes[index]
        guard IndexedBox(lower: shape.lower, upper: shape.upper).mayBend(into: box, longest: longest) else { continue }
        found.rows[found.count] = leaf.rows[index]
        found.count &+= 1
      }
      return
    }
    let inner = InnerBlock(block)
    for index in 0..<inner.count where inner.boxes[index].mayBend(into: box, longest: longest) {
      search(inner.blocks[index], bentInto: box, longest, into: &found)
    }
  }
}
