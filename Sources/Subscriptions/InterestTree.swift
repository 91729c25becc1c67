// Subscriptions in a tree by the names of their patterns: a change visits only those that it concerns.

import GeoModel
import Geometry
import StateTree

/// Numbers of subscriptions by the patterns that they observe.
struct InterestTree {
  private final class Node {
    /// Subscriptions whose pattern ends here.
    var here: [Int] = []
    var below: [StatePattern.Segment: Node] = [:]
  }

  private let root = Node()

  func add(_ number: Int, _ pattern: StatePattern) {
    var node = root
    for segment in pattern.segments {
      let below = node.below[segment] ?? Node()
      node.below[segment] = below
      node = below
    }
    if !node.here.contains(number) { node.here.append(number) }
  }

  func remove(_ number: Int, _ pattern: StatePattern) { remove(number, pattern.segments[...], from: root) }

  private func remove(_ number: Int, _ rest: ArraySlice<StatePattern.Segment>, from node: Node) {
    guard let segment = rest.first else { return node.here.removeAll { $0 == number } }
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
    found += node.here
    guard let name = rest.first else {
      for below in node.below.values { collect(rest, below, &found) }
      return
    }
    if let below = node.below[.name(name)] { collect(rest.dropFirst(), below, &found) }
    if let below = node.below[.any] { collect(rest.dropFirst(), below, &found) }
  }
}
