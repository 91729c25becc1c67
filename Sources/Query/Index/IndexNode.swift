// The memory of the index: one allocation a node, shared between snapshots, read through raw pointers while it is held.

/// What every node's memory begins with. 16 bytes, so that what follows is aligned for pairs of doubles.
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

/// A node of the tree: the owner of one block of memory, of its own children too.
///
/// A node that two trees hold is never written; whoever wants to write makes a copy first
/// (`isKnownUniquelyReferenced`), as Swift's own collections do.
///
/// A variable that holds a node keeps it no longer than its last use in Swift's eyes, and a raw pointer is no use: in
/// `node = copy(of: pointerInto(node))` the optimiser frees the node before its copy is made. So the memory is only
/// lent: to the closures of ``withInner(_:)`` and ``withLeaf(of:_:)``, which hold the node until they have returned.
final class IndexNode: ManagedBuffer<NodeHead, SIMD2<Double>> {
  /// A node whose `bytes` after the head are not yet initialised.
  static func make(capacity: Int, level: Int, bytes: Int) -> IndexNode {
    let made = create(minimumCapacity: (bytes + 15) / 16) { _ in NodeHead(capacity: capacity, level: level) }
    return unsafeDowncast(made, to: IndexNode.self)
  }

  /// Lends the memory, the head and behind it what the node holds, to `body`, which must not keep it.
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

/// A view of a leaf, good while the node is held: shapes, then rows, in no order. What belongs to a leaf is said by its parent's keys.
struct LeafBlock<Shape: IndexedShape> {
  /// Small enough that a box of a hundred hits tests few others, large enough that 30 bytes cover an entry with all above it.
  static var limit: Int { 64 }
  /// What a leaf gets when many are made at once.
  static var target: Int { 56 }
  /// Below it a leaf is given to its neighbour.
  static var minimum: Int { 16 }

  let base: UnsafeMutableRawPointer

  @inline(__always)
  init(_ base: UnsafeMutableRawPointer) { self.base = base }

  @inline(__always)
  var head: UnsafeMutablePointer<NodeHead> { base.assumingMemoryBound(to: NodeHead.self) }
  @inline(__always)
  var count: Int {
    get { Int(head.pointee.count) }
    nonmutating set { head.pointee.count = Int32(truncatingIfNeeded: newValue) }
  }
  @inline(__always)
  var capacity: Int { Int(head.pointee.capacity) }
  @inline(__always)
  var shapes: UnsafeMutablePointer<Shape> {
    (base + MemoryLayout<NodeHead>.size).assumingMemoryBound(to: Shape.self)
  }
  @inline(__always)
  var rows: UnsafeMutablePointer<UInt32> {
    (base + MemoryLayout<NodeHead>.size + capacity * MemoryLayout<Shape>.stride).assumingMemoryBound(to: UInt32.self)
  }

  /// An empty leaf with room for `count` entries, rounded up a little: leaves grow in steps, not to the limit at once.
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

  /// A copy with room for `count` entries in all.
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
