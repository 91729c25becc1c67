// The nearest on the ellipsoid, for stores in longitude and latitude.

import FeatureStore
import Geometry
import Sorting
import SpatialIndex

extension NearestQuery {
  /// The nearest on the WGS 84 ellipsoid, near ones first, ties by id; distances are in metres. Longitudes may be written with any turn.
  /// Features with a latitude beyond a pole have no distance, and are left out.
  ///
  /// Points are guessed first, by a plane around the place; the distance of the farthest of these then bounds the search for what the guess
  /// left out. Where that is far, and for lines and polygons, all boxes are bounded on a ball.
  ///
  /// - Parameter place: longitude and latitude in degrees.
  public func geodetic(to place: Point, _ geodesy: any Geodesy) throws -> [Neighbour] {
    var list = GeodeticList(capacity: count, radius: radius)
    let measure = Measure(place: place, geodesy: geodesy)
    let seen = try addGuessed(to: &list, measure)
    if list.limit < Self.farReach {
      try addWithin(list.limit, to: &list, besides: seen, measure)
    } else if store.index.points.count > 0 {
      var far = FarPoints(query: self, measure: measure, seen: seen, list: list)
      try store.index.points.visitNearest(&far)
      list = far.list
    }
    if store.index.boxes.count > 0 {
      var shapes = FarShapes(query: self, measure: measure, list: list)
      try store.index.boxes.visitNearest(&shapes)
      list = shapes.list
    }
    return list.neighbours(of: self) { ($0.distance, $0.detail) }
  }

  /// Beyond it the plane around a place bounds little.
  private static let farReach = 1_000_000.0

  /// Adds the points that are nearest in the plane around the place.
  ///
  /// - Returns: their rows, ascending.
  private func addGuessed(to list: inout GeodeticList, _ measure: Measure) throws -> [UInt32] {
    // What is a little farther is left out; what that is wrong for is found within the reach.
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

  /// Adds the points within a distance that have not been seen.
  private func addWithin(
    _ reach: Double, to list: inout GeodeticList, besides seen: [UInt32], _ measure: Measure
  ) throws {
    let places = places(measure.place)
    var degree = Ellipsoid.leastDegree(around: measure.place.y, within: reach)
    // Longitudes far beyond a turn bound nothing.
    if places.count == 1, !(store.extent.map { $0.xMin >= -900 && $0.xMax <= 900 } ?? true) { degree.x = 0 }
    var window = PlaneWindow(query: self, degree: degree, limit: (reach * reach).nextUp, seen: seen)
    for place in places {
      window.place = place
      try store.index.points.visitNearest(&window)
    }
    // One row may be near in several turns.
    window.found.sort { $0.row < $1.row }
    for (index, each) in window.found.enumerated() where index == 0 || window.found[index - 1].row != each.row {
      if index & 255 == 255 { try check() }
      measure.add(each.row, at: each.position, of: self, to: &list)
    }
  }

  /// The place as longitudes of the store may be written: a turn apart, each nearest to others of them.
  private func places(_ place: Point) -> [SIMD2<Double>] {
    guard let extent = store.index.points.bounds else { return [] }
    let x = place.x.remainder(dividingBy: 360)
    let first = ((extent.lower.x - 180 - x) / 360).rounded(.up)
    let last = ((extent.upper.x + 180 - x) / 360).rounded(.down)
    guard last - first < 8 else { return [SIMD2(x, place.y)] }
    return stride(from: first, through: last, by: 1).map { SIMD2(x + 360 * $0, place.y) }
  }
}

/// With azimuths.
private typealias GeodeticList = NeighbourList<Double>

extension [UInt32] {
  /// Whether the rows, which ascend, have one.
  fileprivate func hasRow(_ row: UInt32) -> Bool {
    let place = partitioningIndex { $0 >= row }
    return place < count && self[place] == row
  }
}

/// Distances from one place.
private struct Measure {
  let place: Point
  let geodesy: any Geodesy

  /// Adds a point, if it has a distance within the list's.
  func add(_ row: UInt32, at position: SIMD2<Double>, of query: NearestQuery, to list: inout GeodeticList) {
    guard let line = line(to: position) else { return }
    list.insert(line.distance, row, line.startAzimuth, of: query)
  }

  func line(to point: SIMD2<Double>) -> GeodesicLine? {
    try? geodesy.inverse(from: place, to: Point(x: point.x, y: point.y))
  }
}

/// The nearest in a plane, by squares of distances.
private struct PlaneNearest: NearestVisitor {
  let query: NearestQuery
  /// Lengths of a degree.
  let degree: SIMD2<Double>
  var place = SIMD2<Double>.zero
  /// With positions as they are in the index.
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
      // Half a turn away another writing of the place is as near.
      guard square <= list.limit, turn.x >= -180, turn.x < 180, query.includes(rows[index]) else { continue }
      list.insert(square, rows[index], shapes[index].position, of: query)
    }
  }
}

/// All within a distance in a plane that have not been seen.
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

/// The nearest points, however far.
private struct FarPoints: NearestVisitor {
  let query: NearestQuery
  let measure: Measure
  let from: EllipsoidPlace
  let seen: [UInt32]
  var list: GeodeticList

  init(query: NearestQuery, measure: Measure, seen: [UInt32], list: GeodeticList) {
    (self.query, self.measure, self.seen, self.list) = (query, measure, seen, list)
    from = EllipsoidPlace(SIMD2(measure.place.x, measure.place.y))
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

/// The nearest lines, polygons and collections.
private struct FarShapes: NearestVisitor {
  let query: NearestQuery
  let measure: Measure
  let from: EllipsoidPlace
  var list: GeodeticList

  init(query: NearestQuery, measure: Measure, list: GeodeticList) {
    (self.query, self.measure, self.list) = (query, measure, list)
    from = EllipsoidPlace(SIMD2(measure.place.x, measure.place.y))
  }

  var limit: Double { list.limit }

  func bound(_ box: IndexedBox) -> Double { from.bound(box) }

  mutating func visit(_ leaf: LeafBlock<IndexedBox>) throws {
    for index in 0..<leaf.count where bound(leaf.shapes[index]) <= limit {
      let row = leaf.rows[index]
      guard query.includes(row), let geometry = query.store[row]?.geometry else { continue }
      try query.check()
      var nearest = NearestPosition(from: from, limit: limit) { [measure] in measure.line(to: $0) }
      try nearest.add(geometry, checking: query.check)
      guard let line = nearest.line else { continue }
      list.insert(line.distance, row, line.startAzimuth, of: query)
    }
  }
}
