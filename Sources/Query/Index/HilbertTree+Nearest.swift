// Search of the tree outwards from a place.

/// What a search outwards looks for.
protocol NearestVisitor<Shape> {
  associatedtype Shape: IndexedShape
  /// Boxes with a greater bound are not visited. It may fall during the search.
  var limit: Double { get }
  /// A lower bound of what is compared with ``limit``, for all within a box.
  func bound(_ box: IndexedBox) -> Double
  mutating func visit(_ leaf: LeafBlock<Shape>) throws
}

extension HilbertTree {
  /// Visits the leaves whose bound is within the limit, near ones first.
  ///
  /// Source: N. Roussopoulos, S. Kelley, F. Vincent, "Nearest Neighbor Queries", SIGMOD 1995: depth first, children by their bounds.
  func visitNearest<Visitor: NearestVisitor>(_ visitor: inout Visitor) throws where Visitor.Shape == Shape {
    guard let root, visitor.bound(root.box) <= visitor.limit else { return }
    try root.node.withBlock { block in Result { try Self.visitNearest(block, &visitor) } }.get()
  }

  private static func visitNearest<Visitor: NearestVisitor>(
    _ block: UnsafeMutableRawPointer, _ visitor: inout Visitor
  ) throws where Visitor.Shape == Shape {
    guard block.assumingMemoryBound(to: NodeHead.self).pointee.level > 0 else {
      return try visitor.visit(LeafBlock<Shape>(block))
    }
    let inner = InnerBlock(block)
    let count = inner.count
    try withUnsafeTemporaryAllocation(of: Double.self, capacity: InnerBlock.limit) { bounds in
      let boxes = inner.boxes
      let blocks = inner.blocks
      var nearest = 0
      var least = Double.infinity
      for index in 0..<count {
        let bound = visitor.bound(boxes[index])
        bounds[index] = bound
        if bound < least { (nearest, least) = (index, bound) }
      }
      // Few children are visited: looking for the next nearest costs less than sorting all.
      for _ in 0..<count {
        guard least <= visitor.limit else { return }
        bounds[nearest] = .infinity
        try visitNearest(blocks[nearest], &visitor)
        least = .infinity
        for index in 0..<count where bounds[index] < least { (nearest, least) = (index, bounds[index]) }
      }
    }
  }
}
