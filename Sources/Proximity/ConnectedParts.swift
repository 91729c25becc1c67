// Geometries that may touch one another, in groups: what is united costs far less in parts.

import Geometry
import GeometryEngine
import SpatialIndex

/// Geometries that are connected through others they may share a position with.
///
/// ```swift
/// let parts = ConnectedParts(geometries)
/// let groups = parts.groups([try parts.links(geometries.indices) {}])
/// ```
package struct ConnectedParts: Sendable {
  private let geometries: [Geometry]
  private let boxes: [Envelope?]
  private let index: SpatialIndex

  package init(_ geometries: [Geometry]) {
    var rows = IndexedRows()
    let boxes = geometries.map(\.envelope)
    for (row, box) in boxes.enumerated() { rows.add(UInt32(row), box.flatMap { IndexedGeometry($0) }) }
    var index = SpatialIndex()
    index.insert(rows)
    (self.geometries, self.boxes, self.index) = (geometries, boxes, index)
  }

  /// Pairs of some geometries with later ones that connect what is connected through these: at most one for each geometry.
  ///
  /// - Complexity: O(n log n) in geometries for boxes of which few meet.
  package func links(_ rows: Range<Int>, checking check: () throws -> Void) rethrows -> [(Int, Int)] {
    var (links, roots) = ([(Int, Int)](), Roots(geometries.count))
    var found = FoundRows()
    for row in rows {
      guard let box = boxes[row] else { continue }
      try check()
      found.count = 0
      index.search(box, into: &found)
      found.withRows { others in
        for other in others where other > row && !roots.areOne(row, Int(other)) {
          guard geometries[row].mayMeet(geometries[Int(other)]) else { continue }
          roots.join(row, Int(other))
          links.append((row, Int(other)))
        }
      }
    }
    return links
  }

  /// The groups, each ascending, in order of their first members. Empty geometries are in none.
  package func groups(_ links: [[(Int, Int)]]) -> [[Int]] {
    var (roots, groups) = (Roots(geometries.count), [[Int]]())
    for (one, other) in links.joined() { roots.join(one, other) }
    var numbers = [Int](repeating: -1, count: geometries.count)
    for row in geometries.indices where boxes[row] != nil {
      let root = roots.root(row)
      if numbers[root] < 0 {
        numbers[root] = groups.count
        groups.append([])
      }
      groups[numbers[root]].append(row)
    }
    return groups
  }
}

/// Sets of numbers that are joined.
private struct Roots {
  private var parents: [Int]

  init(_ count: Int) { parents = Array(0..<count) }

  mutating func root(_ number: Int) -> Int {
    var number = number
    while parents[number] != number {
      parents[number] = parents[parents[number]]
      number = parents[number]
    }
    return number
  }

  mutating func areOne(_ one: Int, _ other: Int) -> Bool { root(one) == root(other) }

  mutating func join(_ one: Int, _ other: Int) {
    let (one, other) = (root(one), root(other))
    if one != other { parents[max(one, other)] = min(one, other) }
  }
}
