// The nodes that match a pattern, one by one.

import GeoModel

/// Walks the tree depth first and makes each node when it is asked for: a snapshot of many objects is sent a few at a time.
package struct StateMatches: Sequence, IteratorProtocol {
  package typealias Element = (path: ModelPath, node: StateNode)

  /// A node on the way, and the names of its children that are still to be visited.
  private struct Level {
    let path: ModelPath
    let node: StateNode
    var names: ArraySlice<String>
  }

  private let segments: [StatePattern.Segment]
  private var levels: [Level] = []
  /// The root, if the pattern has no segments.
  private var root: Element?

  package init(of pattern: StatePattern, in world: World) {
    segments = pattern.segments
    let root = (path: ModelPath([]), node: StateTree.root(world))
    if segments.isEmpty { self.root = root } else { descend(to: root) }
  }

  private mutating func descend(to node: Element) {
    let names = if case .name(let name) = segments[levels.count] { [name.string] } else { node.node.names }
    levels.append(Level(path: node.path, node: node.node, names: names[...]))
  }

  package mutating func next() -> Element? {
    if let root {
      self.root = nil
      return root
    }
    while let level = levels.last {
      guard let name = level.names.first else {
        levels.removeLast()
        continue
      }
      levels[levels.count - 1].names.removeFirst()
      guard let node = level.node.child(name) else { continue }
      let found = (path: level.path.appending(name), node: node)
      if levels.count == segments.count { return found }
      descend(to: found)
    }
    return nil
  }
}
