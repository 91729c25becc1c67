// Replaces split children by their pieces.

/// A child of an inner node, and the nodes that replace it.
struct NodeSplit {
  let child: Int
  let pieces: [IndexBranch]
}

extension InnerBlock {
  /// Replaces split children, in ascending order, by their pieces.
  ///
  /// - Returns: Empty if they fit; else the nodes that replace this one, which is then empty.
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

  /// From last to first, so that each child moves once.
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

  /// The first piece keeps the child's key: entries between it and the piece's first entry may still be inserted.
  private static func pieces(of split: NodeSplit, key: UInt64, row: UInt32) -> [IndexBranch] {
    var pieces = split.pieces
    pieces[0].key = key
    pieces[0].row = row
    return pieces
  }
}
