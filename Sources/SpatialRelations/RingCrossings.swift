// Where a position lies relative to rings: inside, outside or on an edge, exactly.

import Geometry

/// The place of a position relative to an area.
package enum AreaLocation: Sendable {
  case interior, boundary, exterior
}

/// Counts the edges that a ray from a position crosses: an odd number means inside (the even-odd rule).
///
/// Source: F. P. Preparata, M. I. Shamos, "Computational Geometry", 1985, section 2.2. An edge owns its lower end and not its upper one, so
/// that a ray through a vertex counts once.
package struct RingCrossings {
  let position: SIMD2<Double>
  private var isOdd = false
  private(set) var isOnEdge = false

  @inline(__always)
  init(_ position: SIMD2<Double>) { self.position = position }

  /// Notes an edge. The ray goes to the right.
  @inline(__always)
  mutating func add(_ start: SIMD2<Double>, _ end: SIMD2<Double>) {
    let (x, y) = (position.x, position.y)
    if start.x < x && end.x < x { return }
    let isStartAbove = start.y > y
    if isStartAbove != (end.y > y) {
      // Wholly to the right: crossed, whatever its slope.
      if start.x > x && end.x > x {
        isOdd.toggle()
        return
      }
      let side = Orientation.sign(start, end, position)
      if side == 0 { isOnEdge = true } else if (side > 0) != isStartAbove { isOdd.toggle() }
    } else if start.y == y && end.y == y {
      if min(start.x, end.x) <= x && x <= max(start.x, end.x) { isOnEdge = true }
    } else if end.y == y && end.x == x || start.y == y && start.x == x {
      isOnEdge = true
    }
  }

  /// Where a position lies relative to the rings that edges make.
  @inline(__always)
  package static func location(of position: SIMD2<Double>, _ edges: [Edge]) -> AreaLocation {
    var crossings = RingCrossings(position)
    edges.withUnsafeBufferPointer { edges in
      for edge in edges { crossings.add(edge.start, edge.end) }
    }
    return crossings.location
  }

  var location: AreaLocation { isOnEdge ? .boundary : isOdd ? .interior : .exterior }
}

extension Positions {
  /// Calls `body` with the ends of each edge.
  @inline(__always)
  package func forEachEdge(_ body: (SIMD2<Double>, SIMD2<Double>) -> Void) {
    let stride = stride
    values.withUnsafeBufferPointer { values in
      guard values.count >= 2 else { return }
      var start = SIMD2(values[0], values[1])
      var index = stride
      while index < values.count {
        let end = SIMD2(values[index], values[index &+ 1])
        body(start, end)
        start = end
        index &+= stride
      }
    }
  }
}

extension Geometry {
  /// Whether it is a polygon or several.
  package var isPolygonal: Bool {
    switch self {
    case .polygon, .multiPolygon: true
    case .point, .multiPoint, .lineString, .multiLineString, .collection: false
    }
  }

  /// Where a position lies relative to a polygon or several. O(n) in positions; ``EdgeIndex`` is for many positions.
  package func location(of position: SIMD2<Double>) -> AreaLocation {
    var crossings = RingCrossings(position)
    func add(_ rings: [Positions]) { for ring in rings { ring.forEachEdge { crossings.add($0, $1) } } }
    switch self {
    case .polygon(let rings): add(rings)
    case .multiPolygon(let polygons): polygons.forEach(add)
    case .point, .multiPoint, .lineString, .multiLineString, .collection: return .exterior
    }
    return crossings.location
  }
}
