// Inner nodes: the properties of their children, in columns in one block of memory.

import Sorting

/// The properties of a child in its parent.
struct IndexBranch {
  var box: IndexedBox
  /// Entries of the child are at or after (key, row); entries of the previous child come before.
  var key: UInt64
  var row: UInt32
  /// Number of entries in all leaves below.
  var total: Int
  var node: IndexNode
}

/// A view of an inner node, valid while it is held: columns of its children's properties, in key order.
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
  /// The children's memory, read without reference counting; the node references beside it keep it alive.
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

  /// Writes a branch to an unused index.
  func put(_ branch: IndexBranch, at index: Int) {
    boxes[index] = branch.box
    keys[index] = branch.key
    rows[index] = branch.row
    totals[index] = UInt32(truncatingIfNeeded: branch.total)
    (nodes + index).initialize(to: branch.node)
    noteBlock(of: index)
  }

  /// Moves branches up, to unused indices.
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

  /// Records a child's memory after it was inserted or copied. This node holds the child, so the memory is valid while
  /// this node is held.
  @inline(__always)
  func noteBlock(of child: Int) { nodes[child].withBlock { blocks[child] = $0 } }

  /// Removes and returns all branches.
  func takeAll() -> [IndexBranch] {
    let all = (0..<count).map { self[$0] }
    nodes.deinitialize(count: count)
    count = 0
    return all
  }

  /// The child that an entry belongs to. A node has at least one child.
  @inline(__always)
  func child(for item: SortItem) -> Int {
    var low = 0
    var high = count
    while high &- low > 1 {
      let middle = (low &+ high) >> 1
      if item.isBefore(keys[middle], rows[middle]) { high = middle } else { low = middle }
    }
    return low
  }

  /// The children whose boxes touch `box`, one bit each.
  @inline(__always)
  func touched(by box: IndexedBox) -> UInt32 {
    var touched: UInt32 = 0
    let boxes = boxes
    for index in 0..<count {
      touched |= UInt32(truncatingIfNeeded: boxes[index].touching(box)) &<< UInt32(truncatingIfNeeded: index)
    }
    return touched
  }

  /// The end of the run of sorted items, starting at `start`, that belongs to `child`.
  @inline(__always)
  func end(of child: Int, from start: Int, in items: UnsafeBufferPointer<SortItem>) -> Int {
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
