// The position of a line or polygon that is nearest to a place on the ellipsoid.

import Geometry
import SpatialIndex
import SpatialRelations

/// Finds the nearest position of geometries in degrees, whose edges are straight in longitude and latitude (RFC 7946, 3.1.1).
struct NearestPosition {
  private let from: EllipsoidPlace
  private let limit: Double
  private let measure: (SIMD2<Double>) -> GeodesicLine?
  /// The geodesic to the nearest position; nil if none is within the limit.
  private(set) var line: GeodesicLine?

  private var least: Double { line?.distance ?? limit }

  init(from: EllipsoidPlace, limit: Double, _ measure: @escaping (SIMD2<Double>) -> GeodesicLine?) {
    (self.from, self.limit, self.measure) = (from, limit, measure)
  }

  /// - Parameter check: called every few hundred edges.
  mutating func add(_ geometry: Geometry, checking check: () throws -> Void) throws {
    switch geometry {
    case .collection(let parts): for part in parts { try add(part, checking: check) }
    case .point(let point): if let point { add(SIMD2(point.x, point.y)) }
    case .multiPoint(let positions): for point in positions.points { add(SIMD2(point.x, point.y)) }
    case .lineString(let line): try add([line], check)
    case .multiLineString(let lines): try add(lines, check)
    case .polygon, .multiPolygon:
      if contains(geometry) {
        line = GeodesicLine(distance: 0, startAzimuth: 0, endAzimuth: 0)
      } else {
        var rings: [Positions] = []
        geometry.forEachPositions { rings.append($0) }
        try add(rings, check)
      }
    }
  }

  /// Whether the place is in a polygon, its longitude taken modulo whole turns.
  private func contains(_ geometry: Geometry) -> Bool {
    guard let box = geometry.envelope, box.yMin <= from.position.y, box.yMax >= from.position.y else { return false }
    let first = ((box.xMin - from.position.x) / 360).rounded(.up)
    let last = ((box.xMax - from.position.x) / 360).rounded(.down)
    guard last - first < 8 else { return false }
    return stride(from: first, through: last, by: 1).contains { turn in
      geometry.location(of: SIMD2(from.position.x + 360 * turn, from.position.y)) != .exterior
    }
  }

  private mutating func add(_ position: SIMD2<Double>) {
    guard bound(position, position) <= least, let found = measure(position), found.distance <= least else { return }
    line = found
  }

  /// A lower bound of the distance to an edge.
  private func bound(_ start: SIMD2<Double>, _ end: SIMD2<Double>) -> Double {
    from.bound(IndexedBox(lower: pointwiseMin(start, end), upper: pointwiseMax(start, end)))
  }

  private mutating func add(_ runs: [Positions], _ check: () throws -> Void) throws {
    var edges: [(bound: Double, start: SIMD2<Double>, end: SIMD2<Double>)] = []
    for run in runs {
      run.forEachEdge { start, end in
        // Pieces are short enough for the distance to have a single minimum, inside or at an end.
        let way = pointwiseMax(end - start, start - end)
        let count = min(36, max(1, (max(way.x, way.y) / 10).rounded(.up)))
        let step = (end - start) / count
        for index in 0..<Int(count) {
          let piece = (start + step * Double(index), index + 1 == Int(count) ? end : start + step * Double(index + 1))
          let bound = bound(piece.0, piece.1)
          if bound <= least { edges.append((bound, piece.0, piece.1)) }
        }
      }
      try check()
    }
    edges.sort { $0.bound < $1.bound }
    for (index, edge) in edges.enumerated() {
      guard edge.bound <= least else { return }
      if index & 15 == 15 { try check() }
      search(edge.start, edge.end)
    }
  }

  /// Tests both ends, then searches between them by golden section (J. Kiefer, "Sequential minimax search for a maximum",
  /// Proceedings of the AMS 4 (3), 1953).
  private mutating func search(_ start: SIMD2<Double>, _ end: SIMD2<Double>) {
    add(start)
    add(end)
    let ratio = (5.0.squareRoot() - 1) / 2
    var low = 0.0
    var high = 1.0
    func line(_ part: Double) -> GeodesicLine? { measure(start + (end - start) * part) }
    var left = line(1 - ratio)
    var right = line(ratio)
    for _ in 0..<52 {
      guard let first = left, let second = right else { return }
      if first.distance <= second.distance {
        if first.distance <= least { self.line = first }
        high = low + ratio * (high - low)
        (left, right) = (line(high - ratio * (high - low)), first)
      } else {
        if second.distance <= least { self.line = second }
        low = high - ratio * (high - low)
        (left, right) = (second, line(low + ratio * (high - low)))
      }
    }
  }
}
