// Searches the tree outwards from a place.

/// The target of a search outwards: receives leaves and limits the search.
package protocol NearestVisitor<Shape> {
  associatedtype Shape: IndexedShape
  /// Boxes with a greater bound are not visited. It may decrease during the search.
  var limit: Double { get }
  /// A lower bound, to be compared with ``limit``, for everything in a box.
  func bound(_ box: IndexedBox) -> Double
  mutating func visit(_ leaf: LeafBlock<Shape>) throws
}

extension HilbertTree {
  /// Visits the leaves whose bound is within the limit, nearest first.
  ///
  /// The first leaf is found by descending to the nearest child at each level; its features limit what is queued. From then on
  /// branches are visited in the order of their bounds, so that almost every leaf that is read contributes.
  ///
  /// Source: G. R. Hjaltason, H. Samet, "Distance Browsing in Spatial Databases", TODS 24 (2), 1999.
  package func visitNearest<Visitor: NearestVisitor>(_ visitor: inout Visitor) throws where Visitor.Shape == Shape {
    guard let root, visitor.bound(root.box) <= visitor.limit else { return }
    try root.node.withBlock { block in Result { try Self.visitNearest(block, &visitor) } }.get()
  }

  private static func visitNearest<Visitor: NearestVisitor>(
    _ root: UnsafeMutableRawPointer, _ visitor: inout Visitor
  ) throws where Visitor.Shape == Shape {
    var queue = BranchQueue()
    try visitNearestLeaf(root, &visitor, &queue)
    while let next = queue.popNearest(), next.bound <= visitor.limit {
      try visitNearestLeaf(next.block, &visitor, &queue)
    }
  }

  /// Visits the leaf on the path of nearest children, and queues the other children on the path that are within the limit
  /// afterwards.
  private static func visitNearestLeaf<Visitor: NearestVisitor>(
    _ block: UnsafeMutableRawPointer, _ visitor: inout Visitor, _ queue: inout BranchQueue
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
      // NaN excludes the child from further comparisons.
      bounds[nearest] = .nan
      try visitNearestLeaf(blocks[nearest], &visitor, &queue)
      let limit = visitor.limit
      for index in 0..<count where bounds[index] <= limit {
        queue.push(.init(bound: bounds[index], block: blocks[index]))
      }
    }
  }

  /// The index of the least bound; there is at least one.
  @inline(__always)
  private static func least(of bounds: UnsafeMutableBufferPointer<Double>, _ count: Int) -> Int {
    // Several minima at a time, because each step of a single one would wait for the step before.
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

/// The branches still to be visited, as a heap with the nearest first.
private struct BranchQueue {
  struct Branch: BitwiseCopyable {
    let bound: Double
    /// Valid while the tree is held.
    let block: UnsafeMutableRawPointer
  }

  /// Heap order: each branch is not nearer than the one at half of its index, counted from 1.
  private var branches: [Branch] = []

  init() { branches.reserveCapacity(32) }

  @inline(__always)
  mutating func push(_ branch: Branch) {
    branches.append(branch)
    branches.withUnsafeMutableBufferPointer { heap in
      var place = heap.count
      while place > 1, heap[place / 2 &- 1].bound > branch.bound {
        heap[place &- 1] = heap[place / 2 &- 1]
        place /= 2
      }
      heap[place &- 1] = branch
    }
  }

  mutating func popNearest() -> Branch? {
    guard let last = branches.popLast() else { return nil }
    guard let first = branches.first else { return last }
    branches.withUnsafeMutableBufferPointer { heap in
      var place = 1
      while 2 &* place <= heap.count {
        var next = 2 &* place
        if next < heap.count, heap[next].bound < heap[next &- 1].bound { next &+= 1 }
        guard heap[next &- 1].bound < last.bound else { break }
        heap[place &- 1] = heap[next &- 1]
        place = next
      }
      heap[place &- 1] = last
    }
    return first
  }
}
