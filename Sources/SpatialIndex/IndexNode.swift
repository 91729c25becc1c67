// Memory of the index: one allocation per node, shared between snapshots, read through raw pointers while held.

/// The start of every node's memory. 16 bytes, so that the rest is aligned for pairs of doubles.
struct NodeHead: BitwiseCopyable {
  var count: Int32
  var capacity: Int32
  /// 0 for a leaf.
  var level: Int32
  private var padding: Int32 = 0

  init(count: Int = 0, capacity: Int, level: Int) {
    self.count = Int32(truncatingIfNeeded: count)
    self.capacity = Int32(truncatingIfNeeded: capacity)
    self.level = Int32(truncatingIfNeeded: level)
  }
}

/// A node of the tree: owns one block of memory, and its children.
///
/// A node shared by two trees is never written; a writer copies it first (`isKnownUniquelyReferenced`), as Swift's
/// collections do.
///
/// Swift may release a node after its last use in the source, and a raw pointer does not count as a use: in `node =
/// copy(of: pointerInto(node))` the optimiser frees the node before its copy is made. Memory is therefore only passed
/// to the closures of ``withInner(_:)`` and ``withLeaf(of:_:)``, which hold the node until they return.
final class IndexNode: ManagedBuffer<NodeHead, SIMD2<Double>> {
  /// A node with `bytes` of uninitialised memory after the head.
  static func make(capacity: Int, level: Int, bytes: Int) -> IndexNode {
    let made = create(minimumCapacity: (bytes + 15) / 16) { _ in NodeHead(capacity: capacity, level: level) }
    return unsafeDowncast(made, to: IndexNode.self)
  }

  /// Passes the memory, head first, to `body`, which must not keep it.
  @inline(__always)
  func withBlock<Result>(_ body: (UnsafeMutableRawPointer) -> Result) -> Result {
    defer { withExtendedLifetime(self) {} }
    return withUnsafeMutablePointerToHeader { body(UnsafeMutableRawPointer($0)) }
  }

  /// As ``withBlock(_:)``, for a node that is not a leaf.
  @inline(__always)
  func withInner<Result>(_ body: (InnerBlock) -> Result) -> Result { withBlock { body(InnerBlock($0)) } }

  /// As ``withBlock(_:)``, for a leaf.
  @inline(__always)
  func withLeaf<Shape: IndexedShape, Result>(of _: Shape.Type, _ body: (LeafBlock<Shape>) -> Result) -> Result {
    withBlock { body(LeafBlock($0)) }
  }

  deinit {
    if header.level > 0 { withInner { _ = $0.nodes.deinitialize(count: $0.count) } }
  }
}

/// A view of a leaf, valid while the node is held: shapes, then rows, unordered. The parent's keys determine which
/// entries belong to a leaf.
package struct LeafBlock<Shape: IndexedShape> {
  /// Small enough that a box with a hundred matches tests few others, large enough for 30 bytes per entry including all
  /// levels above.
  static var limit: Int { 48 }
  /// The number of entries in leaves made in bulk.
  static var target: Int { 42 }
  /// A leaf with fewer entries is merged with a neighbour.
  static var minimum: Int { 12 }

  let base: UnsafeMutableRawPointer

  @inline(__always)
  init(_ base: UnsafeMutableRawPointer) { self.base = base }

  @inline(__always)
  var head: UnsafeMutablePointer<NodeHead> { base.assumingMemoryBound(to: NodeHead.self) }
  @inline(__always)
  package var count: Int {
    get { Int(head.pointee.count) }
    nonmutating set { head.pointee.count = Int32(truncatingIfNeeded: newValue) }
  }
  @inline(__always)
  var capacity: Int { Int(head.pointee.capacity) }
  @inline(__always)
  package var shapes: UnsafeMutablePointer<Shape> {
    (base + MemoryLayout<NodeHead>.size).assumingMemoryBound(to: Shape.self)
  }
  @inline(__always)
  package var rows: UnsafeMutablePointer<UInt32> {
    (base + MemoryLayout<NodeHead>.size + capacity * MemoryLayout<Shape>.stride).assumingMemoryBound(to: UInt32.self)
  }

  /// An empty leaf with room for `count` entries, rounded up a little: leaves grow in steps.
  static func make(for count: Int) -> IndexNode {
    let capacity = min((count + 15) & ~15, limit)
    let node = IndexNode.make(capacity: capacity, level: 0, bytes: capacity * (MemoryLayout<Shape>.stride + 4))
    node.withBlock { block in
      let shapes = block + MemoryLayout<NodeHead>.size
      shapes.bindMemory(to: Shape.self, capacity: capacity)
      (shapes + capacity * MemoryLayout<Shape>.stride).bindMemory(to: UInt32.self, capacity: capacity)
    }
    return node
  }

  /// A copy with room for `count` entries in total.
  func copy(for count: Int) -> IndexNode {
    let node = Self.make(for: count)
    node.withLeaf(of: Shape.self) { copy in
      copy.shapes.update(from: shapes, count: self.count)
      copy.rows.update(from: rows, count: self.count)
      copy.count = self.count
    }
    return node
  }

  @inline(__always)
  func append(_ shape: Shape, row: UInt32) {
    let end = count
    shapes[end] = shape
    rows[end] = row
    count = end &+ 1
  }

  var box: IndexedBox {
    var box = IndexedBox.none
    for index in 0..<count { box.include(shapes[index]) }
    return box
  }
}
