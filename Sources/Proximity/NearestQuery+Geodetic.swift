// The nearest features on the ellipsoid, for stores in longitude and latitude.

import FeatureStore
import Geometry
import Sorting
import SpatialIndex

extension NearestQuery {
  /// The nearest features on the WGS 84 ellipsoid, ascending by distance in metres, ties by id. Longitudes may differ by whole
  /// turns. Features with a latitude beyond a pole have no distance and are omitted.
  ///
  /// Points are first estimated in a plane around the place; the greatest distance among these bounds the search for the points
  /// that the estimate missed. If that distance is large, and for lines and polygons, boxes are bounded on a ball instead.
  ///
  /// - Parameter place: longitude and latitude in degrees.
  public func geodetic(to place: Point, _ geodesy: any Geodesy) throws -> [Neighbour] {
    var list = ShapeList(capacity: count, radius: radius)
    let measure = Measure(place: place, geodesy: geodesy)
    let seen = try addGuessed(to: &list, measure)
    if list.limit < Self.farReach {
      try addWithin(list.limit, to: &list, besides: seen, measure)
    } else if store.index.points.count > 0 {
      var far = FarPoints(query: self, measure: measure, seen: seen, list: list)
      try store.index.points.visitNearest(&far)
      list = far.list
    }
    if store.index.boxes.count > 0, let shape = try EdgeTree(.point(place), on: .ellipsoid, checking: check) {
      try addGeodetic(to: &list, shape, takesPoints: false, geodesy)
    }
    return list.neighbours(of: self) { ($0.distance, $0.detail) }
  }

  /// Beyond this distance the plane around a place gives no useful bound.
  private static let farReach = 1_000_000.0

  /// Adds the points that are nearest in the plane around the place.
  ///
  /// - Returns: their rows, ascending.
  private func addGuessed(to list: inout ShapeList, _ measure: Measure) throws -> [UInt32] {
    // Points slightly beyond the radius are excluded here; `addWithin` adds those that this wrongly excludes.
    var guess = PlaneNearest(
      query: self, degree: Ellipsoid.degree(at: measure.place.y),
      list: NeighbourList(capacity: count, radius: radius * radius * 1.05))
    for place in places(measure.place) {
      guess.place = place
      try store.index.points.visitNearest(&guess)
    }
    var rows: [UInt32] = []
    rows.reserveCapacity(guess.list.entries.count)
    for (index, each) in guess.list.entries.enumerated() {
      if index & 255 == 255 { try check() }
      measure.add(each.row, at: each.detail, of: self, to: &list)
      rows.append(each.row)
    }
    rows.sort()
    return rows
  }

  /// Adds the points within a distance, except those that have been added before.
  private func addWithin(
    _ reach: Double, to list: inout ShapeList, besides seen: [UInt32], _ measure: Measure
  ) throws {
    let places = places(measure.place)
    var degree = Ellipsoid.leastDegree(around: measure.place.y, within: reach)
    // With longitudes of many turns, a difference of longitudes is no bound.
    if places.count == 1, !(store.extent.map { $0.xMin >= -900 && $0.xMax <= 900 } ?? true) { degree.x = 0 }
    var window = PlaneWindow(query: self, degree: degree, limit: (reach * reach).nextUp, seen: seen)
    for place in places {
      window.place = place
      try store.index.points.visitNearest(&window)
    }
    // A row can be within the distance in several turns.
    window.found.sort { $0.row < $1.row }
    for (index, each) in window.found.enumerated() where index == 0 || window.found[index - 1].row != each.row {
      if index & 255 == 255 { try check() }
      measure.add(each.row, at: each.position, of: self, to: &list)
    }
  }

  /// Copies of the place, whole turns apart, so that each longitude in the store is within half a turn of one.
  private func places(_ place: Point) -> [SIMD2<Double>] {
    guard let extent = store.index.points.bounds else { return [] }
    let x = place.x.remainder(dividingBy: 360)
    let first = ((extent.lower.x - 180 - x) / 360).rounded(.up)
    let last = ((extent.upper.x + 180 - x) / 360).rounded(.down)
    guard last - first < 8 else { return [SIMD2(x, place.y)] }
    return stride(from: first, through: last, by: 1).map { SIMD2(x + 360 * $0, place.y) }
  }
}

extension [UInt32] {
  /// Whether the ascending rows contain a row.
  fileprivate func hasRow(_ row: UInt32) -> Bool {
    let place = partitioningIndex { $0 >= row }
    return place < count && self[place] == row
  }
}

/// Distances from one place.
private struct Measure {
  let place: Point
  let geodesy: any Geodesy

  /// Adds a point whose distance is within the limit of the list.
  func add(_ row: UInt32, at position: SIMD2<Double>, of query: NearestQuery, to list: inout ShapeList) {
    guard let line = line(to: position) else { return }
    list.insert(line.distance, row, line.startAzimuth, of: query)
  }

  func line(to point: SIMD2<Double>) -> GeodesicLine? {
    try? geodesy.inverse(from: place, to: Point(x: point.x, y: point.y))
  }
}

/// The nearest points in a plane, by squared distance.
private struct PlaneNearest: NearestVisitor {
  let query: NearestQuery
  /// Lengths of a degree of longitude and of latitude.
  let degree: SIMD2<Double>
  var place = SIMD2<Double>.zero
  /// Neighbours with their positions in the index.
  var list: NeighbourList<SIMD2<Double>>
  private var leaves = 0

  init(query: NearestQuery, degree: SIMD2<Double>, list: NeighbourList<SIMD2<Double>>) {
    (self.query, self.degree, self.list) = (query, degree, list)
  }

  @inline(__always) var limit: Double { list.limit }

  @inline(__always)
  func bound(_ box: IndexedBox) -> Double { box.squaredDistance(to: place, degree) }

  @inline(__always)
  mutating func visit(_ leaf: LeafBlock<IndexedPoint>) throws {
    leaves &+= 1
    if leaves & 63 == 0 { try query.check() }
    let (shapes, rows) = (leaf.shapes, leaf.rows)
    for index in 0..<leaf.count {
      let turn = shapes[index].position - place
      let way = turn * degree
      let square = way.x * way.x + way.y * way.y
      // Beyond half a turn, another copy of the place is nearer.
      guard square <= list.limit, turn.x >= -180, turn.x < 180, query.includes(rows[index]) else { continue }
      list.insert(square, rows[index], shapes[index].position, of: query)
    }
  }
}

/// All points within a distance in a plane, except those added before.
private struct PlaneWindow: NearestVisitor {
  let query: NearestQuery
  let degree: SIMD2<Double>
  var place = SIMD2<Double>.zero
  /// A squared distance.
  let limit: Double
  let seen: [UInt32]
  var found: [(row: UInt32, position: SIMD2<Double>)] = []
  private var leaves = 0

  init(query: NearestQuery, degree: SIMD2<Double>, limit: Double, seen: [UInt32]) {
    (self.query, self.degree, self.limit, self.seen) = (query, degree, limit, seen)
  }

  @inline(__always)
  func bound(_ box: IndexedBox) -> Double { box.squaredDistance(to: place, degree) }

  @inline(__always)
  mutating func visit(_ leaf: LeafBlock<IndexedPoint>) throws {
    leaves &+= 1
    if leaves & 63 == 0 { try query.check() }
    let (shapes, rows) = (leaf.shapes, leaf.rows)
    for index in 0..<leaf.count {
      let way = (shapes[index].position - place) * degree
      guard way.x * way.x + way.y * way.y <= limit, query.includes(rows[index]), !seen.hasRow(rows[index]) else {
        continue
      }
      found.append((rows[index], shapes[index].position))
    }
  }
}

extension IndexedBox {
  @inline(__always)
  fileprivate func squaredDistance(to place: SIMD2<Double>, _ degree: SIMD2<Double>) -> Double {
    let way = way(to: place) * degree
    return way.x * way.x + way.y * way.y
  }
}

/// The nearest points at any distance.
private struct FarPoints: NearestVisitor {
  let query: NearestQuery
  let measure: Measure
  let from: EllipsoidBox
  let seen: [UInt32]
  var list: ShapeList

  init(query: NearestQuery, measure: Measure, seen: [UInt32], list: ShapeList) {
    (self.query, self.measure, self.seen, self.list) = (query, measure, seen, list)
    from = EllipsoidBox(measure.place)
  }

  var limit: Double { list.limit }

  func bound(_ box: IndexedBox) -> Double { from.bound(box) }

  mutating func visit(_ leaf: LeafBlock<IndexedPoint>) throws {
    try query.check()
    for index in 0..<leaf.count {
      let position = leaf.shapes[index].position
      let row = leaf.rows[index]
      guard query.includes(row), from.bound(IndexedBox(lower: position, upper: position)) <= limit,
        !seen.hasRow(row)
      else { continue }
      measure.add(row, at: position, of: query, to: &list)
    }
  }
}
