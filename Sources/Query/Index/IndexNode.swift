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

/// What a parent knows of one child.
struct IndexBranch {
  var box: IndexedBox
  /// No entry of the child comes before (key, row), and none of the child before it comes at or after.
  var key: UInt64
  var row: UInt32
  /// Entries in all leaves below.
  var total: Int
  var node: IndexNode
}

/// A view of an inner node, good while it is held: column after column of what it knows of its children, in the order of their keys.
struct InnerBlock {
  static var limit: Int { 32 }
  static var target: Int { 28 }
  static var minimum: Int { 8 }

  let base: UnsafeMutableRawPointer

  @inline(__always)
  init(_ base: UnsafeMutableRawPointer) { self.base = base }

  @inline(__always)
  private func column<T>(at offset: Int) -> UnsafeMutablePointer<T> {
    (base + MemoryLayout<NodeHead>.size + offset * Self.limit).assumingMemoryBound(to: T.self)
  }

  @inline(__always)
  var head: UnsafeMutablePointer<NodeHead> { base.assumingMemoryBound(to: NodeHead.self) }
  @inline(__always)
  var count: Int {
    get { Int(head.pointee.count) }
    nonmutating set { head.pointee.count = Int32(truncatingIfNeeded: newValue) }
  }
  @inline(__always)
  var level: Int { Int(head.pointee.level) }
  @inline(__always)
  var boxes: UnsafeMutablePointer<IndexedBox> { column(at: 0) }
  @inline(__always)
  var keys: UnsafeMutablePointer<UInt64> { column(at: 32) }
  /// The children's memory, for reading without counting references; the nodes beside them keep it alive.
  @inline(__always)
  var blocks: UnsafeMutablePointer<UnsafeMutableRawPointer> { column(at: 40) }
  @inline(__always)
  var nodes: UnsafeMutablePointer<IndexNode> { column(at: 48) }
  @inline(__always)
  var rows: UnsafeMutablePointer<UInt32> { column(at: 56) }
  @inline(__always)
  var totals: UnsafeMutablePointer<UInt32> { column(at: 60) }

  static func make(level: Int) -> IndexNode {
    let node = IndexNode.make(capacity: limit, level: level, bytes: limit * 64)
    node.withInner { inner in
      inner.bind(IndexedBox.self, at: 0)
      inner.bind(UInt64.self, at: 32)
      inner.bind(UnsafeMutableRawPointer.self, at: 40)
      inner.bind(IndexNode.self, at: 48)
      inner.bind(UInt32.self, at: 56)
      inner.bind(UInt32.self, at: 60)
    }
    return node
  }

  private func bind<T>(_: T.Type, at offset: Int) {
    (base + MemoryLayout<NodeHead>.size + offset * Self.limit).bindMemory(to: T.self, capacity: Self.limit)
  }

  /// A copy that shares the children.
  func copy() -> IndexNode {
    let node = Self.make(level: level)
    node.withInner { copy in
      for index in 0..<count { copy.append(self[index]) }
    }
    return node
  }

  subscript(index: Int) -> IndexBranch {
    IndexBranch(
      box: boxes[index], key: keys[index], row: rows[index], total: Int(totals[index]), node: nodes[index])
  }

  func append(_ branch: IndexBranch) {
    put(branch, at: count)
    count += 1
  }

  /// Writes a branch where none is.
  func put(_ branch: IndexBranch, at index: Int) {
    boxes[index] = branch.box
    keys[index] = branch.key
    rows[index] = branch.row
    totals[index] = UInt32(truncatingIfNeeded: branch.total)
    (nodes + index).initialize(to: branch.node)
    noteBlock(of: index)
  }

  /// Moves branches up, to places where none are then.
  func move(_ range: Range<Int>, by shift: Int) {
    func move<T>(_ column: UnsafeMutablePointer<T>) {
      (column + range.lowerBound + shift).moveInitialize(from: column + range.lowerBound, count: range.count)
    }
    move(boxes)
    move(keys)
    move(blocks)
    move(nodes)
    move(rows)
    move(totals)
  }

  /// Notes where a child's memory lies, after the child has come or was changed for a copy. The child is held by this
  /// node, so that its memory is good to read for as long as this node is held.
  @inline(__always)
  func noteBlock(of child: Int) { nodes[child].withBlock { blocks[child] = $0 } }

  /// Takes all branches out; the node is then empty.
  func takeAll() -> [IndexBranch] {
    let all = (0..<count).map { self[$0] }
    nodes.deinitialize(count: count)
    count = 0
    return all
  }

  /// The child that an entry belongs to. A node has at least one.
  @inline(__always)
  func child(for item: IndexItem) -> Int {
    var low = 0
    var high = count
    while high &- low > 1 {
      let middle = (low &+ high) >> 1
      if item.isBefore(keys[middle], rows[middle]) { high = middle } else { low = middle }
    }
    return low
  }

  /// The children whose boxes touch `box`, a bit each.
  @inline(__always)
  func touched(by box: IndexedBox) -> UInt32 {
    var touched: UInt32 = 0
    let boxes = boxes
    for index in 0..<count {
      touched |= UInt32(truncatingIfNeeded: boxes[index].touching(box)) &<< UInt32(truncatingIfNeeded: index)
    }
    return touched
  }

  /// The end of the run of items, sorted and starting at `start`, that belongs to `child`.
  @inline(__always)
  func end(of child: Int, from start: Int, in items: UnsafeBufferPointer<IndexItem>) -> Int {
    guard child &+ 1 < count else { return items.count }
    let key = keys[child &+ 1]
    let row = rows[child &+ 1]
    var end = start &+ 1
    while end < items.count, items[end].isBefore(key, row) { end &+= 1 }
    return end
  }

  var box: IndexedBox {
    var box = IndexedBox.none
    for index in 0..<count { box.include(boxes[index]) }
    return box
  }

  var total: Int { (0..<count).reduce(0) { $0 + Int(totals[$1]) } }
}
