// Who follows what, as a tree of names: a change asks only those whom it may concern, however many there are.

import Geometry

/// Subscriptions by the patterns that they follow.
struct InterestTree {
  private final class Node {
    /// Those whose pattern ends here.
    var here: [Int] = []
    var named: [Text: Node] = [:]
    var any: Node?

    var isEmpty: Bool { here.isEmpty && named.isEmpty && any == nil }

    func child(_ segment: StatePattern.Segment) -> Node? {
      switch segment {
      case .any: any
      case .name(let name): named[name]
      }
    }
  }

  private let root = Node()

  func add(_ number: Int, _ pattern: StatePattern) {
    var node = root
    for segment in pattern.segments {
      let below = node.child(segment) ?? Node()
      switch segment {
      case .any: node.any = below
      case .name(let name): node.named[name] = below
      }
      node = below
    }
    if !node.here.contains(number) { node.here.append(number) }
  }

  func remove(_ number: Int, _ pattern: StatePattern) { remove(number, pattern.segments[...], from: root) }

  private func remove(_ number: Int, _ rest: ArraySlice<StatePattern.Segment>, from node: Node) {
    guard let segment = rest.first else { return node.here.removeAll { $0 == number } }
    guard let below = node.child(segment) else { return }
    remove(number, rest.dropFirst(), from: below)
    guard below.isEmpty else { return }
    switch segment {
    case .any: node.any = nil
    case .name(let name): node.named[name] = nil
    }
  }

  /// Those who follow the place, something above it or something below it; each once, in ascending order.
  func followers(of place: StatePath) -> [Int] {
    var found: [Int] = []
    collect(place, 0, place.depth, root, &found)
    guard found.count > 1 else { return found }
    found.sort()
    var last = -1
    found.removeAll { number in
      defer { last = number }
      return number == last
    }
    return found
  }

  private func collect(_ place: StatePath, _ level: Int, _ depth: Int, _ node: Node, _ found: inout [Int]) {
    found += node.here
    guard level < depth else {
      for below in node.named.values { collect(place, level, depth, below, &found) }
      if let below = node.any { collect(place, level, depth, below, &found) }
      return
    }
    if let below = node.named[place[level]] { collect(place, level + 1, depth, below, &found) }
    if let below = node.any { collect(place, level + 1, depth, below, &found) }
  }
}
