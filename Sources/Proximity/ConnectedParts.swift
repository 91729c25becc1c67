// Geometries that may touch one another, in groups: what is united costs far less in parts.

import Geometry
import SpatialIndex

/// Groups of boxes that are connected through boxes they share a position with.
package enum ConnectedParts {
  /// The groups, each ascending, in order of their first members. Empty geometries are in none.
  ///
  /// - Complexity: O(n log n) in geometries for boxes of which few meet.
  package static func groups(_ geometries: [Geometry], checking check: () throws -> Void) rethrows -> [[Int]] {
    let boxes = geometries.map(\.envelope)
    var rows = IndexedRows()
    for (row, box) in boxes.enumerated() { rows.add(UInt32(row), box.flatMap { IndexedGeometry($0) }) }
    var index = SpatialIndex()
    index.insert(rows)
    var parents = Array(geometries.indices)
    func root(_ row: Int) -> Int {
      var row = row
      while parents[row] != row {
        parents[row] = parents[parents[row]]
        row = parents[row]
      }
      return row
    }
    for (row, box) in boxes.enumerated() {
      guard let box else { continue }
      if row & 255 == 0 { try check() }
      var found = FoundRows()
      index.search(box, into: &found)
      found.withRows { others in
        for other in others {
          let (one, two) = (root(row), root(Int(other)))
          if one != two { parents[max(one, two)] = min(one, two) }
        }
      }
    }
    var groups: [Int: [Int]] = [:]
    for row in geometries.indices where boxes[row] != nil { groups[root(row), default: []].append(row) }
    return groups.sorted { $0.key < $1.key }.map(\.value)
  }
}
