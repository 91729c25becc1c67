// How children that were split are put in their places.

/// A child of an inner node, and the nodes that take its place.
struct NodeSplit {
  let child: Int
  let pieces: [IndexBranch]
}

extension InnerBlock {
  /// Puts the pieces of split children, which ascend, in their places.
  ///
  /// - Returns: Nothing when there is room for them; else the nodes that stand in this one's place, which is then empty.
  func apply(_ splits: [NodeSplit]) -> [IndexBranch] {
    let more = splits.reduce(0) { $0 + $1.pieces.count - 1 }
    guard count + more > Self.limit else {
      insert(splits, more)
      return []
    }
    let old = takeAll()
    var branches: [IndexBranch] = []
    branches.reserveCapacity(old.count + more)
    var next = 0
    for split in splits {
      branches += old[next..<split.child]
      branches += Self.pieces(of: split, key: old[split.child].key, row: old[split.child].row)
      next = split.child + 1
    }
    branches += old[next...]
    return Self.pack(branches, level: level)
  }

  /// From the last to the first, so that each child is moved once.
  private func insert(_ splits: [NodeSplit], _ more: Int) {
    var shift = more
    var end = count
    count += more
    for split in splits.reversed() {
      let next = split.child + 1
      move(next..<end, by: shift)
      shift -= split.pieces.count - 1
      (nodes + split.child).deinitialize(count: 1)
      let pieces = Self.pieces(of: split, key: keys[split.child], row: rows[split.child])
      for (index, piece) in pieces.enumerated() { put(piece, at: split.child + shift + index) }
      end = split.child
    }
  }

  /// The first piece keeps the child's key: entries between it and the piece's own first may still come.
  private static func pieces(of split: NodeSplit, key: UInt64, row: UInt32) -> [IndexBranch] {
    var pieces = split.pieces
    pieces[0].key = key
    pieces[0].row = row
    return pieces
  }
}
