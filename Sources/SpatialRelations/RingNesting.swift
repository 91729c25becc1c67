// Polygons of rings that are in no order.

import Geometry

extension Geometry {
  /// Polygons of rings by what lies in what, whatever their direction: one that lies in an odd number of others is a hole of the smallest
  /// around it.
  ///
  /// - Parameter check: called for each ring and each one around it; throws to cancel.
  /// - Complexity: O(n log n) in positions where few boxes of rings are in others.
  package static func polygons(ofRings rings: [Positions], checking check: () throws -> Void) rethrows -> Geometry {
    let boxes = rings.map { Geometry.lineString($0).envelope ?? .none }
    // From left to right: the open ones begin left of a ring, and do not end before it does.
    let areas = rings.map { abs($0.doubledArea) }
    let fromLeft = rings.indices.sorted { (boxes[$0].xMin, -areas[$0]) < (boxes[$1].xMin, -areas[$1]) }
    var around = [Int?](repeating: nil, count: rings.count)
    var edges: [Int: EdgeIndex] = [:]
    var open: [Int] = []
    for ring in fromLeft {
      try check()
      open.removeAll { boxes[$0].xMax < boxes[ring].xMin }
      for other in open.reversed() where areas[other] > areas[ring] && boxes[other].contains(boxes[ring]) {
        if let known = around[ring], areas[known] <= areas[other] { continue }
        try check()
        guard let index = edges[other] ?? EdgeIndex(.polygon([rings[other]])) else { continue }
        edges[other] = index
        if rings[ring].lies(in: index) { around[ring] = other }
      }
      open.append(ring)
    }
    var isHole = [Bool](repeating: false, count: rings.count)
    for ring in rings.indices.sorted(by: { areas[$0] > areas[$1] }) { isHole[ring] = around[ring].map { !isHole[$0] } ?? false }
    var places: [Int: Int] = [:]
    var polygons: [[Positions]] = []
    for ring in rings.indices where !isHole[ring] {
      places[ring] = polygons.count
      polygons.append([rings[ring]])
    }
    for ring in rings.indices where isHole[ring] {
      if let place = around[ring].flatMap({ places[$0] }) { polygons[place].append(rings[ring]) }
    }
    return polygons.count == 1 ? .polygon(polygons[0]) : .multiPolygon(polygons)
  }
}

extension Positions {
  /// Whether a ring lies within another that it does not cross: by the first of its positions and middles that is not on the other's edge.
  fileprivate func lies(in other: EdgeIndex) -> Bool {
    for point in points {
      let place = other.location(of: SIMD2(point.x, point.y))
      if place != .boundary { return place == .interior }
    }
    var (isKnown, isWithin) = (false, false)
    forEachEdge { start, end in
      guard !isKnown else { return }
      let place = other.location(of: (start + end) / 2)
      if place != .boundary { (isKnown, isWithin) = (true, place == .interior) }
    }
    return isWithin
  }
}
