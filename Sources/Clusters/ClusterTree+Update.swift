// Edits of points: only the affected nodes are computed again, zoom by zoom; the result equals a new tree.

import Sorting

extension ClusterTree {
  /// Removes points and adds others. A moved point is removed and added with the same id.
  ///
  /// - Parameters:
  ///   - removed: leaves, each once.
  ///   - check: called every few hundred nodes.
  /// - Returns: the leaves of the added points.
  /// - Throws: ``ClusterEditTooLarge`` if building a new tree costs less, or any error of `check`. The tree is then unusable.
  /// - Complexity: O(k zooms log n) for k nodes that the edits reach.
  @discardableResult
  public mutating func update(
    removing removed: [ClusterNode], adding points: [ClusterPoint], checking check: CancellationCheck = { _ in }
  ) throws -> [ClusterNode] {
    edits += removed.count + points.count
    var added: [ClusterNode] = []
    for point in points {
      let leaf = Leaf(id: point.id, row: point.row, x: point.x, y: point.y)
      if let free = freeLeaves.popLast() {
        leaves[Int(free)] = leaf
        added.append(.leaf(Int(free)))
      } else {
        added.append(.leaf(leaves.count))
        leaves.append(leaf)
      }
    }
    var update = ClusterUpdate(removed: removed, added: added, budget: 2 * leaves.count + 10_000)
    update.apply(to: &levels[settings.maxZoom + 1], self)
    for zoom in stride(from: settings.maxZoom, through: 0, by: -1) {
      let (done, zooms) = (Double(settings.maxZoom - zoom), Double(settings.maxZoom + 1))
      try update.step(&self, zoom) { try check(done / zooms) }
      update.apply(to: &levels[zoom], self)
    }
    freeLeaves += removed.map(\.raw)
    freeClusters += update.dissolved.map { UInt32($0.index) }
    return added
  }
}

/// The edit affects so many points that building a new tree costs less.
public struct ClusterEditTooLarge: Error {}

/// The differences between the nodes of a zoom before and after an edit, carried from zoom to zoom.
struct ClusterUpdate {
  private var removed: Set<ClusterNode>
  private var added: Set<ClusterNode>
  private(set) var dissolved: [ClusterNode] = []
  /// The previous links of nodes whose links the edit has changed.
  private var oldLinks: [ClusterNode: (parent: ClusterNode, next: ClusterNode)] = [:]

  // State of the current zoom.
  private var zoom = 0
  private var reach = Reach(0)
  /// By examined node, the first node of its cluster; the node itself if it is first or alone.
  private var owners: [ClusterNode: ClusterNode] = [:]
  private var pending = PendingNodes()
  /// Examined nodes whose first node has changed.
  private var changed: [ClusterNode] = []
  /// Clusters of this zoom that change.
  private var affected: Set<ClusterNode> = []
  /// Number of neighbours that may still be examined.
  private var budget: Int

  init(removed: [ClusterNode], added: [ClusterNode], budget: Int) {
    self.removed = Set(removed)
    self.added = Set(added)
    self.budget = budget
  }

  /// Applies the differences to the rows of a zoom.
  func apply(to level: inout ClusterTree.Level, _ tree: ClusterTree) {
    for node in removed { level.remove(tree.entry(of: node)) }
    for node in added { level.insert(tree.entry(of: node)) }
  }

  mutating func step(_ tree: inout ClusterTree, _ zoom: Int, checking check: () throws -> Void) throws {
    self.zoom = zoom
    reach = tree.settings.reach(at: zoom)
    (owners, changed, affected) = ([:], [], [])
    for node in removed {
      guard let cluster = oldCluster(of: node, tree) else { continue }
      affected.insert(cluster)
      if tree.clusters[cluster.index].first == node { pushOthers(of: cluster, tree) }
    }
    for node in added { pending.push(node, tree.order(of: node)) }
    var count = 0
    while let node = pending.pop() {
      count += 1
      if count & 63 == 0 { try check() }
      guard budget > 0 else { throw ClusterEditTooLarge() }
      examine(node, tree)
    }
    replaceClusters(&tree)
  }

  // MARK: Before the edit

  private func oldParent(of node: ClusterNode, _ tree: ClusterTree) -> ClusterNode {
    oldLinks[node]?.parent ?? tree.parent(of: node)
  }

  /// The cluster of a node at this zoom before the edit; nil if it was alone.
  private func oldCluster(of node: ClusterNode, _ tree: ClusterTree) -> ClusterNode? {
    let parent = oldParent(of: node, tree)
    return parent != .none && Int(tree.clusters[parent.index].zoom) == zoom ? parent : nil
  }

  private func oldChildren(of cluster: ClusterNode, _ tree: ClusterTree) -> [ClusterNode] {
    var children: [ClusterNode] = []
    var child = tree.clusters[cluster.index].first
    while child != .none {
      children.append(child)
      child = oldLinks[child]?.next ?? tree.next(of: child)
    }
    return children
  }

  private mutating func pushOthers(of cluster: ClusterNode, _ tree: ClusterTree) {
    for child in oldChildren(of: cluster, tree).dropFirst() where !removed.contains(child) {
      pending.push(child, tree.order(of: child))
    }
  }

  /// The first node of a node's cluster, as far as it is determined.
  private func owner(of node: ClusterNode, _ tree: ClusterTree) -> ClusterNode {
    if let owner = owners[node] { return owner }
    // An added node that has not been examined owns only itself.
    if added.contains(node) { return node }
    return oldCluster(of: node, tree).map { tree.clusters[$0.index].first } ?? node
  }

  // MARK: Examining

  /// Determines the first node of a node's cluster, given those of all earlier nodes; queues the nodes that depend on it.
  private mutating func examine(_ node: ClusterNode, _ tree: ClusterTree) {
    let neighbours = neighbours(of: node, tree)
    budget -= neighbours.count + 1
    let order = tree.order(of: node)
    var owner = node
    var lowest = order
    for each in neighbours where each.order < lowest && self.owner(of: each.node, tree) == each.node {
      (owner, lowest) = (each.node, each.order)
    }
    let old = added.contains(node) ? nil : self.owner(of: node, tree)
    owners[node] = owner
    guard owner != old else { return }
    changed.append(node)
    let cluster = old == nil ? nil : oldCluster(of: node, tree)
    if let cluster { affected.insert(cluster) }
    if owner == node {
      for each in neighbours where each.order > order && tree.order(of: self.owner(of: each.node, tree)) > order {
        pending.push(each.node, each.order)
      }
    } else if let cluster, old == node {
      pushOthers(of: cluster, tree)
    }
  }

  private func neighbours(of node: ClusterNode, _ tree: ClusterTree) -> [(node: ClusterNode, order: Int)] {
    let entry = tree.entry(of: node)
    func range(_ value: UInt32) -> ClosedRange<UInt32> {
      let (end, isBeyond) = value.addingReportingOverflow(reach.span)
      return (value > reach.span ? value - reach.span : 0)...(isBeyond ? .max : end)
    }
    var found: [(node: ClusterNode, order: Int)] = []
    let box = ClusterTree.Box(x: range(entry.x), y: range(entry.y))
    tree.forEachEntry(in: box, at: tree.levels[zoom + 1]) { other in
      if other.node != node, reach.covers(entry, other) { found.append((other.node, tree.order(of: other.node))) }
    }
    return found
  }

  // MARK: Result

  /// Replaces the clusters whose nodes have changed, and updates the differences for the next zoom.
  private mutating func replaceClusters(_ tree: inout ClusterTree) {
    var groups: [ClusterNode: Set<ClusterNode>] = [:]
    for node in changed {
      let owner = owner(of: node, tree)
      groups[owner, default: []].insert(node)
      // The node that takes it may have had a cluster before.
      if !added.contains(owner), let cluster = oldCluster(of: owner, tree) { affected.insert(cluster) }
    }
    for cluster in affected {
      for child in oldChildren(of: cluster, tree) where !removed.contains(child) {
        groups[owner(of: child, tree), default: []].insert(child)
      }
    }
    var (gone, new): (Set<ClusterNode>, Set<ClusterNode>) = (affected, [])
    for node in removed where oldCluster(of: node, tree) == nil { gone.insert(node) }
    for (owner, members) in groups {
      let nodes = members.union([owner]).sorted { tree.order(of: $0) < tree.order(of: $1) }
      for node in nodes where !added.contains(node) && oldCluster(of: node, tree) == nil { gone.insert(node) }
      if nodes.count > 1 {
        for node in nodes { keepLinks(of: node, tree) }
        new.insert(tree.makeCluster(of: nodes, at: zoom))
      } else {
        new.insert(owner)
      }
    }
    // Nodes that were alone before and are alone afterwards.
    let same = gone.intersection(new)
    for node in new.subtracting(same) where !node.isCluster || !isMade(node, tree) { clearLinks(of: node, &tree) }
    dissolved += affected
    (removed, added) = (gone.subtracting(same), new.subtracting(same))
  }

  /// Whether the cluster was made at this zoom.
  private func isMade(_ node: ClusterNode, _ tree: ClusterTree) -> Bool {
    Int(tree.clusters[node.index].zoom) == zoom
  }

  private mutating func keepLinks(of node: ClusterNode, _ tree: ClusterTree) {
    if oldLinks[node] == nil { oldLinks[node] = (tree.parent(of: node), tree.next(of: node)) }
  }

  /// Clears the links of a node that was in a cluster and is now shown alone.
  private mutating func clearLinks(of node: ClusterNode, _ tree: inout ClusterTree) {
    keepLinks(of: node, tree)
    tree.link(node, to: .none, before: .none)
  }
}

/// Nodes to be examined, by ascending order, each once.
private struct PendingNodes {
  private var heap: [(order: Int, node: ClusterNode)] = []
  private var known: Set<ClusterNode> = []

  mutating func push(_ node: ClusterNode, _ order: Int) {
    guard known.insert(node).inserted else { return }
    heap.append((order, node))
    var index = heap.count - 1
    while index > 0, heap[(index - 1) / 2].order > heap[index].order {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  mutating func pop() -> ClusterNode? {
    guard let first = heap.first else {
      known = []
      return nil
    }
    let last = heap.removeLast()
    guard !heap.isEmpty else { return first.node }
    heap[0] = last
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].order < heap[least].order {
        least = child
      }
      guard least != index else { return first.node }
      heap.swapAt(index, least)
      index = least
    }
  }
}

extension ClusterTree.Level {
  mutating func insert(_ entry: ClusterEntry) {
    let row = row(of: entry.y)
    let index = rows[row].partitioningIndex { $0.x >= entry.x }
    rows[row].insert(entry, at: index)
  }

  mutating func remove(_ entry: ClusterEntry) {
    let row = row(of: entry.y)
    var index = rows[row].partitioningIndex { $0.x >= entry.x }
    while index < rows[row].count, rows[row][index].node != entry.node { index += 1 }
    if index < rows[row].count { rows[row].remove(at: index) }
  }
}
