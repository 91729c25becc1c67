// The nodes that match a pattern, one by one.

import GeoModel

/// Walks the tree depth first and makes each node only when the iteration reaches it: a snapshot of many objects is sent a few at
/// a time.
package struct StateMatches: Sequence, IteratorProtocol {
  package typealias Element = (path: ModelPath, node: StateNode)

  /// A node on the way, and the names of its children that are still to be visited.
  private struct Level {
    let path: ModelPath
    var node: StateNode
    var names: ArraySlice<String>
    /// Supplies further names if the node is a collection.
    var more: World.IDCursor?
  }

  private let world: World
  private let segments: [StatePattern.Segment]
  private var levels: [Level] = []
  /// The root, if the pattern has no segments.
  private var root: Element?
  /// Ids of a collection that are listed at a time.
  private static let idsAtOnce = 256

  package init(of pattern: StatePattern, in world: World) {
    self.world = world
    segments = pattern.segments
    let root = (path: ModelPath([]), node: StateTree.root(world))
    if segments.isEmpty { self.root = root } else { descend(to: root) }
  }

  private mutating func descend(to node: Element) {
    var level = Level(path: node.path, node: node.node, names: [])
    if case .name(let name) = segments[levels.count] {
      level.names = [name.string]
    } else if levels.count == 1, let name = node.path.names.first, let collection = Collection(rawValue: name.string) {
      level.more = World.IDCursor(collection)
    } else {
      level.node = node.node.opened ?? node.node
      level.names = level.node.names[...]
    }
    levels.append(level)
  }

  package mutating func next() -> Element? {
    if let root {
      self.root = nil
      return root
    }
    while var level = levels.popLast() {
      if level.names.isEmpty { level.names = level.more?.next(Self.idsAtOnce, in: world)[...] ?? [] }
      guard let name = level.names.popFirst() else { continue }
      levels.append(level)
      guard let node = level.node.child(name) else { continue }
      let found = (path: level.path.appending(name), node: node)
      if levels.count == segments.count { return found }
      descend(to: found)
    }
    return nil
  }
}
