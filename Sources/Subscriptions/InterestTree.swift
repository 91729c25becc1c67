// Subscriptions in a tree by the segments of their patterns: a change visits only the subscriptions that observe it.

import GeoModel
import Geometry
import StateTree

/// Numbers of subscriptions by the patterns that they observe.
struct InterestTree {
  private final class Node {
    /// Subscriptions whose pattern ends here, ascending.
    var here: [Int] = []
    /// Numbers in `here` whose subscriptions have ended; they are removed together.
    var ended: Set<Int> = []
    var below: [StatePattern.Segment: Node] = [:]

    var living: [Int] { ended.isEmpty ? here : here.filter { !ended.contains($0) } }

    /// - Complexity: O(1) amortized.
    func end(_ number: Int) {
      ended.insert(number)
      guard ended.count > here.count / 2 else { return }
      here = living
      ended = []
    }
  }

  private let root = Node()

  func add(_ number: Int, _ pattern: StatePattern) {
    var node = root
    for segment in pattern.segments {
      let below = node.below[segment] ?? Node()
      node.below[segment] = below
      node = below
    }
    // Numbers ascend, so a subscription that adds the same pattern twice is the last entry.
    if node.here.last != number { node.here.append(number) }
  }

  func remove(_ number: Int, _ pattern: StatePattern) { remove(number, pattern.segments[...], from: root) }

  private func remove(_ number: Int, _ rest: ArraySlice<StatePattern.Segment>, from node: Node) {
    guard let segment = rest.first else { return node.end(number) }
    guard let below = node.below[segment] else { return }
    remove(number, rest.dropFirst(), from: below)
    if below.here.isEmpty, below.below.isEmpty { node.below[segment] = nil }
  }

  /// Subscriptions that observe the path, or one above or below it, each once and ascending.
  ///
  /// - Complexity: O(d + k log k) for a path of d names and k subscriptions found.
  func subscribers(of path: ModelPath) -> [Int] {
    var found: [Int] = []
    collect(path.names[...], root, &found)
    guard found.count > 1 else { return found }
    found.sort()
    var last = -1
    found.removeAll { number in
      defer { last = number }
      return number == last
    }
    return found
  }

  private func collect(_ rest: ArraySlice<Text>, _ node: Node, _ found: inout [Int]) {
    found += node.living
    guard let name = rest.first else {
      for below in node.below.values { collect(rest, below, &found) }
      return
    }
    if let below = node.below[.name(name)] { collect(rest.dropFirst(), below, &found) }
    if let below = node.below[.any] { collect(rest.dropFirst(), below, &found) }
  }
}
