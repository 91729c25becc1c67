// The features nearest to lines and polygons, and the nearest lines and polygons.

import Geometry
import SpatialIndex

/// Neighbours with azimuths.
typealias ShapeList = NeighbourList<Double>

extension NearestQuery {
  /// The features nearest to a geometry in the plane, ascending by distance in units of the coordinates, ties by id: 0 where they meet.
  public func planar(to geometry: Geometry) throws -> [Neighbour] {
    if case .point(let point?) = geometry { return try planar(to: SIMD2(point.x, point.y)) }
    guard let shape = try EdgeTree(geometry, on: .plane(1), checking: check) else { return [] }
    var list = ShapeList(capacity: count, radius: radius)
    try addPlanar(to: &list, shape, geometry, takesPoints: true)
    return list.neighbours(of: self) { ($0.distance, 0) }
  }

  func addPlanar(to list: inout ShapeList, _ shape: EdgeTree, _ geometry: Geometry, takesPoints: Bool) throws {
    try add(to: &list, .plane(shape.box), takesPoints: takesPoints) { other, limit in
      guard let other = try EdgeTree(other, on: .plane(1), checking: self.check) else { return nil }
      if max(shape.reach, other.reach) < 1e150 {
        return try shape.planarDistance(to: other, limit: limit, checking: self.check).map { ($0, 0) }
      }
      // Squares overflow, so all is made smaller by a power of two.
      let k = 0x1p-514
      guard let small = try EdgeTree(geometry, on: .plane(k), checking: self.check),
        let far = try EdgeTree(other.geometry, on: .plane(k), checking: self.check)
      else { return nil }
      let distance = try small.planarDistance(to: far, limit: limit * k, checking: self.check)
      return distance.map { (min($0 / k, .greatestFiniteMagnitude), 0) }
    }
  }

  /// The features nearest to a geometry on the WGS 84 ellipsoid, as ``geodetic(to:_:)-(Point,_)``, with edges that are straight in longitude
  /// and latitude (RFC 7946, 3.1.1): 0 where they meet, and else at most 1 mm too great.
  public func geodetic(to geometry: Geometry, _ geodesy: any Geodesy) throws -> [Neighbour] {
    if case .point(let point?) = geometry { return try geodetic(to: point, geodesy) }
    guard let shape = try EdgeTree(geometry, on: .ellipsoid, checking: check) else { return [] }
    var list = ShapeList(capacity: count, radius: radius)
    try addGeodetic(to: &list, shape, takesPoints: true, geodesy)
    return list.neighbours(of: self) { ($0.distance, $0.detail) }
  }

  /// Boxes are bounded in a plane whose degrees are short enough for paths of a certain length, which grows until enough features are nearer;
  /// beyond 1,000 km on a ball.
  func addGeodetic(to list: inout ShapeList, _ shape: EdgeTree, takesPoints: Bool, _ geodesy: any Geodesy) throws {
    guard let extent = store.index.bounds else { return }
    let known = list
    var reach = 4_000.0
    while true {
      list = known
      let isFar = reach > 1_000_000
      let window: ShapeWindow =
        isFar ? .ball(EllipsoidBox(shape.box)) : .degrees(DegreeWindow(shape.box, reach: reach, IndexedBox(extent)))
      try add(to: &list, window, within: isFar ? .infinity : reach, takesPoints: takesPoints) { other, limit in
        guard let other = try EdgeTree(other, on: .ellipsoid, checking: self.check) else { return nil }
        return try shape.geodeticDistance(to: other, limit: limit, geodesy, checking: self.check)
      }
      if isFar || list.limit <= reach { return }
      reach *= 8
    }
  }

  private func add(
    to list: inout ShapeList, _ window: ShapeWindow, within reach: Double = .infinity, takesPoints: Bool,
    _ distance: @escaping (Geometry, Double) throws -> (Double, Double)?
  ) throws {
    if takesPoints {
      var points = ShapeVisitor<IndexedPoint>(query: self, window: window, reach: reach, distance: distance, list: list)
      try store.index.points.visitNearest(&points)
      list = points.list
    }
    var boxes = ShapeVisitor<IndexedBox>(query: self, window: window, reach: reach, distance: distance, list: list)
    try store.index.boxes.visitNearest(&boxes)
    list = boxes.list
  }
}

/// How boxes are bounded.
private enum ShapeWindow {
  case plane(IndexedBox)
  case degrees(DegreeWindow)
  case ball(EllipsoidBox)

  @inline(__always)
  func bound(_ box: IndexedBox) -> Double {
    switch self {
    case .plane(let own): own.distance(to: box) * (1 - 1e-15)
    case .degrees(let window): window.bound(box)
    case .ball(let own): own.bound(box)
    }
  }
}

/// Measures features one by one.
private struct ShapeVisitor<Shape: IndexedShape>: NearestVisitor {
  let query: NearestQuery
  let window: ShapeWindow
  /// Bounds hold for distances up to this.
  let reach: Double
  /// The distance of a geometry and the azimuth; nil beyond a limit.
  let distance: (Geometry, Double) throws -> (Double, Double)?
  var list: ShapeList

  var limit: Double { min(list.limit, reach) }

  @inline(__always)
  func bound(_ box: IndexedBox) -> Double { window.bound(box) }

  mutating func visit(_ leaf: LeafBlock<Shape>) throws {
    for index in 0..<leaf.count {
      let (shape, row) = (leaf.shapes[index], leaf.rows[index])
      let bound = bound(IndexedBox(lower: shape.lower, upper: shape.upper))
      guard bound <= limit, query.includes(row), list.admits(bound, row, of: query) else { continue }
      try query.check()
      guard let geometry = query.store[row]?.geometry, let found = try distance(geometry, list.limit) else { continue }
      list.insert(found.0, row, found.1, of: query)
    }
  }
}

/// Bounds in a plane whose degrees are no longer than those of any path of a length from a box in degrees.
private struct DegreeWindow {
  private let box: IndexedBox
  private let degree: SIMD2<Double>
  /// The turns by which the box is moved to meet others; empty where none is within reach.
  private let turns: [Double]

  init(_ box: IndexedBox, reach: Double, _ extent: IndexedBox) {
    self.box = box
    var degree = Ellipsoid.leastDegree(from: box.lower.y, to: box.upper.y, within: reach)
    let width = 180.0
    let all = EdgeTree.turns(box.lower.x, box.upper.x, extent.lower.x - width, extent.upper.x + width, 360)
    // With longitudes of many turns, a difference of longitudes is no bound.
    if all.count >= 8 { degree.x = 0 }
    self.degree = degree
    turns =
      degree.x == 0
      ? [0] : all.filter { turn in max(box.lower.x + turn - extent.upper.x, extent.lower.x - box.upper.x - turn) * degree.x <= reach }
  }

  @inline(__always)
  func bound(_ other: IndexedBox) -> Double {
    var least = Double.infinity
    for turn in turns {
      let shift = SIMD2(turn, 0)
      let way = IndexedBox(lower: box.lower + shift, upper: box.upper + shift).way(to: other) * degree
      least = min(least, way.x * way.x + way.y * way.y)
    }
    return least.squareRoot()
  }
}

extension IndexedBox {
  /// The gap to another box in x and y.
  @inline(__always)
  func way(to other: IndexedBox) -> SIMD2<Double> {
    let (below, above) = (lower - other.upper, other.lower - upper)
    let way = below.replacing(with: above, where: above .> below)
    return way.replacing(with: 0, where: way .< 0)
  }

  fileprivate func distance(to other: IndexedBox) -> Double { way(to: other).length }
}
