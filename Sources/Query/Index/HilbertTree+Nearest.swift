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
      for index in 0..<count { bounds[index] = visitor.bound(boxes[index]) }
      let nearest = Self.least(of: bounds, count)
      guard bounds[nearest] <= visitor.limit else { return }
      // Compares with nothing from now on.
      bounds[nearest] = .nan
      try visitNearest(blocks[nearest], &visitor)
      // Few of the others are within the limit then.
      try withUnsafeTemporaryAllocation(of: Int.self, capacity: InnerBlock.limit) { rest in
        var left = 0
        for index in 0..<count where bounds[index] <= visitor.limit {
          rest[left] = index
          left &+= 1
        }
        while left > 0 {
          var place = 0
          for other in 1..<max(left, 1) where bounds[rest[other]] < bounds[rest[place]] { place = other }
          let index = rest[place]
          guard bounds[index] <= visitor.limit else { return }
          left &-= 1
          rest[place] = rest[left]
          try visitNearest(blocks[index], &visitor)
        }
      }
    }
  }

  /// The index of the least of at least one bound.
  @inline(__always)
  private static func least(of bounds: UnsafeMutableBufferPointer<Double>, _ count: Int) -> Int {
    // Several minima at a time: each step of one waits for the step before.
    var leasts = SIMD4<Double>(repeating: .infinity)
    var index = 0
    while index &+ 4 <= count {
      let next = SIMD4(bounds[index], bounds[index &+ 1], bounds[index &+ 2], bounds[index &+ 3])
      leasts = leasts.replacing(with: next, where: next .< leasts)
      index &+= 4
    }
    var least = min(min(leasts.x, leasts.y), min(leasts.z, leasts.w))
    while index < count {
      least = min(least, bounds[index])
      index &+= 1
    }
    index = 0
    while index &+ 1 < count, bounds[index] != least { index &+= 1 }
    return index
  }
}
