// Queries of clusters: nodes in a box, points of a cluster, the zoom at which a cluster separates.

import Sorting

extension ClusterTree {
  /// A range of coordinates, ends included.
  public struct Box: Sendable {
    public var x: ClosedRange<UInt32>
    public var y: ClosedRange<UInt32>

    public init(x: ClosedRange<UInt32> = 0...(.max), y: ClosedRange<UInt32> = 0...(.max)) {
      self.x = x
      self.y = y
    }
  }

  /// The zoom clamped to the zooms that have nodes.
  func level(_ zoom: Int) -> Int { max(0, min(zoom, settings.maxZoom + 1)) }

  /// Calls `body` with each node in a box at a zoom.
  ///
  /// - Complexity: O(rows log n + nodes) for the rows that the box touches.
  @inline(__always)
  func forEachEntry(in box: Box, at level: Level, _ body: (ClusterEntry) throws -> Void) rethrows {
    var row = level.row(of: box.y.lowerBound)
    while row < level.rows.count, level.bounds[row] <= box.y.upperBound {
      try level.rows[row].withUnsafeBufferPointer { entries in
        var index = entries.partitioningIndex { $0.x >= box.x.lowerBound }
        while index < entries.count, entries[index].x <= box.x.upperBound {
          if box.y.contains(entries[index].y) { try body(entries[index]) }
          index += 1
        }
      }
      row += 1
    }
  }

  /// Whether boxes have no node at a zoom; false also where finding that out would take long.
  public func isEmpty(in boxes: [Box], zoom: Int) -> Bool {
    struct Found: Error {}
    let level = levels[level(zoom)]
    do {
      for box in boxes {
        guard level.row(of: box.y.upperBound) - level.row(of: box.y.lowerBound) < 256 else { return false }
        try forEachEntry(in: box, at: level) { _ in throw Found() }
      }
      return true
    } catch { return false }
  }

  /// The nodes in any of several boxes at a zoom, each once, by ascending first id.
  ///
  /// - Parameter check: called every few ten thousand nodes, and between boxes.
  public func orderedNodes(in boxes: [Box], zoom: Int, checking check: CancellationCheck) rethrows -> [ClusterNode] {
    var found: [ClusterNode] = []
    var keys: [SortItem] = []
    for (number, box) in boxes.enumerated() {
      try check(0.3 * Double(number) / Double(boxes.count))
      forEachEntry(in: box, at: levels[level(zoom)]) { entry in
        keys.append(SortItem(key: UInt64(order(of: entry.node)), row: UInt32(found.count)))
        found.append(entry.node)
      }
    }
    try SortItem.sort(&keys) { try check(0.3 + 0.7 * $0) }
    var ordered: [ClusterNode] = []
    ordered.reserveCapacity(keys.count)
    for key in keys where ordered.last != found[Int(key.row)] { ordered.append(found[Int(key.row)]) }
    return ordered
  }

  /// The number of points of a node.
  public func count(of node: ClusterNode) -> Int { node.isCluster ? Int(clusters[node.index].count) : 1 }

  /// The mean of the points of a node.
  public func position(of node: ClusterNode) -> (x: UInt32, y: UInt32) {
    let entry = entry(of: node)
    return (entry.x, entry.y)
  }

  /// The row of a leaf.
  public func row(of leaf: ClusterNode) -> UInt32 { leaf.isCluster ? .max : leaves[leaf.index].row }

  /// The lowest id of the points of a node.
  public func firstID(of node: ClusterNode) -> Int { order(of: node) }

  /// The first zoom at which the cluster is not shown as one node; at most one more than the last zoom with clusters.
  public func expansionZoom(of node: ClusterNode) -> Int {
    node.isCluster ? Int(clusters[node.index].zoom) + 1 : settings.maxZoom + 1
  }

  /// Identifies a cluster by the ids of its points.
  public func hash(of node: ClusterNode) -> UInt64 { node.isCluster ? clusters[node.index].hash : 0 }

  /// The nodes of which a cluster consists at its expansion zoom, by ascending first id.
  public func children(of node: ClusterNode) -> [ClusterNode] {
    guard node.isCluster else { return [] }
    var children: [ClusterNode] = []
    var child = clusters[node.index].first
    while child != .none {
      children.append(child)
      child = next(of: child)
    }
    return children
  }

  /// Calls `body` with the row of each point of a node, starting at `offset`, until it returns false. Points are in tree order:
  /// those of a child together, children by ascending first id.
  ///
  /// - Complexity: O(points from offset on + children skipped).
  public func forEachRow(of node: ClusterNode, from offset: Int = 0, _ body: (UInt32) throws -> Bool) rethrows {
    var skip = offset
    var open = [node]
    while let node = open.popLast() {
      let count = count(of: node)
      if skip >= count {
        skip -= count
      } else if node.isCluster {
        open += children(of: node).reversed()
      } else if try !body(leaves[node.index].row) {
        return
      }
    }
  }

  /// The node that represents a leaf at a zoom.
  public func node(of leaf: ClusterNode, zoom: Int) -> ClusterNode {
    let level = level(zoom)
    var node = leaf
    while case let above = parent(of: node), above != .none, Int(clusters[above.index].zoom) >= level { node = above }
    return node
  }

  /// The cluster with the given hash that contains a leaf; nil if there is none.
  public func cluster(around leaf: ClusterNode, hash: UInt64) -> ClusterNode? {
    var node = parent(of: leaf)
    while node != .none, clusters[node.index].hash != hash { node = parent(of: node) }
    return node == .none ? nil : node
  }
}
