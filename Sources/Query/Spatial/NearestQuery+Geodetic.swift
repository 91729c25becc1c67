// The nearest on the ellipsoid, for stores in longitude and latitude.

import Geometry

extension NearestQuery {
  /// The nearest on the WGS 84 ellipsoid, near ones first, ties by id; distances are in metres. Longitudes may be written with any turn.
  /// Features with a latitude beyond a pole have no distance, and are left out.
  ///
  /// Points are guessed first, by a plane around the place; the distance of the farthest of these then bounds the search for what the guess
  /// left out. Where that is far, and for lines and polygons, all boxes are bounded on a ball.
  ///
  /// - Parameters:
  ///   - place: longitude and latitude in degrees.
  ///   - check: called every few hundred microseconds of work.
  public func geodetic(
    to place: Point, _ geodesy: any Geodesy, checking check: () throws -> Void = {}
  ) throws -> [Neighbour] {
    var list = NeighbourList(capacity: count, radius: radius)
    let measure = Measure(place: place, geodesy: geodesy)
    var seen = try addGuessed(to: &list, measure)
    let reach = list.limit
    return try withoutActuallyEscaping(check) { check in
      if reach < Self.farReach {
        try addWithin(reach, to: &list, &seen, measure, check)
      } else if store.index.points.count > 0 {
        var far = FarPoints(query: self, measure: measure, seen: seen, list: list, check: check)
        try store.index.points.visitNearest(&far)
        list = far.list
      }
      guard store.index.boxes.count > 0 else { return list.neighbours(of: store) }
      var shapes = FarShapes(query: self, measure: measure, list: list, check: check)
      try store.index.boxes.visitNearest(&shapes)
      return shapes.list.neighbours(of: store)
    }
  }

  /// Beyond it the plane around a place bounds little.
  private static let farReach = 1_000_000.0

  /// Adds the points that are nearest in the plane around the place.
  private func addGuessed(to list: inout NeighbourList, _ measure: Measure) throws -> Set<UInt32> {
    var guess = PlaneNearest(
      query: self, degree: Ellipsoid.degree(at: measure.place.y),
      list: NeighbourList(capacity: count, radius: .infinity))
    for place in places(measure.place) {
      guess.place = place
      try store.index.points.visitNearest(&guess)
    }
    for each in guess.list.found { measure.add(each.row, at: each.position, of: store, to: &list) }
    return Set(guess.list.found.lazy.map(\.row))
  }

  /// Adds the points within a distance that have not been seen.
  private func addWithin(
    _ reach: Double, to list: inout NeighbourList, _ seen: inout Set<UInt32>, _ measure: Measure,
    _ check: () throws -> Void
  ) throws {
    let places = places(measure.place)
    var degree = Ellipsoid.leastDegree(around: measure.place.y, within: reach)
    // Longitudes far beyond a turn bound nothing.
    if places.count == 1, !(store.extent.map { $0.xMin >= -900 && $0.xMax <= 900 } ?? true) { degree.x = 0 }
    var window = PlaneWindow(query: self, degree: degree, limit: (reach * reach).nextUp)
    for place in places {
      window.place = place
      try store.index.points.visitNearest(&window)
    }
    for (index, each) in window.found.enumerated() where seen.insert(each.row).inserted {
      if index & 255 == 255 { try check() }
      measure.add(each.row, at: each.position, of: store, to: &list)
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

/// Distances from one place.
private struct Measure {
  let place: Point
  let geodesy: any Geodesy

  /// Adds a point, if it has a distance within the list's.
  func add(_ row: UInt32, at position: SIMD2<Double>, of store: FeatureStore, to list: inout NeighbourList) {
    guard let line = line(to: position) else { return }
    list.insert(.init(row: row, distance: line.distance, azimuth: line.startAzimuth), of: store)
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
  var list: NeighbourList

  init(query: NearestQuery, degree: SIMD2<Double>, list: NeighbourList) {
    (self.query, self.degree, self.list) = (query, degree, list)
  }

  var limit: Double { list.limit }

  func bound(_ box: IndexedBox) -> Double { box.squaredDistance(to: place, degree) }

  mutating func visit(_ leaf: LeafBlock<IndexedPoint>) {
    let (shapes, rows) = (leaf.shapes, leaf.rows)
    var limit = list.limit
    for index in 0..<leaf.count {
      let turn = shapes[index].position - place
      let way = turn * degree
      let square = (way * way).sum()
      // Half a turn away another writing of the place is as near.
      guard square <= limit, turn.x >= -180, turn.x < 180, query.includes(rows[index]) else { continue }
      list.insert(.init(row: rows[index], distance: square, position: shapes[index].position), of: query.store)
      limit = list.limit
    }
  }
}

/// All within a distance in a plane.
private struct PlaneWindow: NearestVisitor {
  let query: NearestQuery
  let degree: SIMD2<Double>
  var place = SIMD2<Double>.zero
  /// A squared distance.
  let limit: Double
  var found: [(row: UInt32, position: SIMD2<Double>)] = []

  init(query: NearestQuery, degree: SIMD2<Double>, limit: Double) {
    (self.query, self.degree, self.limit) = (query, degree, limit)
  }

  func bound(_ box: IndexedBox) -> Double { box.squaredDistance(to: place, degree) }

  mutating func visit(_ leaf: LeafBlock<IndexedPoint>) {
    let (shapes, rows) = (leaf.shapes, leaf.rows)
    for index in 0..<leaf.count {
      let way = (shapes[index].position - place) * degree
      if (way * way).sum() <= limit, query.includes(rows[index]) {
        found.append((rows[index], shapes[index].position))
      }
    }
  }
}

extension IndexedBox {
  @inline(__always)
  fileprivate func squaredDistance(to place: SIMD2<Double>, _ degree: SIMD2<Double>) -> Double {
    let way = pointwiseMax(pointwiseMax(lower - place, place - upper), .zero) * degree
    return (way * way).sum()
  }
}

/// The nearest points, however far.
private struct FarPoints: NearestVisitor {
  let query: NearestQuery
  let measure: Measure
  let from: EllipsoidPlace
  let seen: Set<UInt32>
  var list: NeighbourList
  let check: () throws -> Void

  init(
    query: NearestQuery, measure: Measure, seen: Set<UInt32>, list: NeighbourList, check: @escaping () throws -> Void
  ) {
    (self.query, self.measure, self.seen, self.list, self.check) = (query, measure, seen, list, check)
    from = EllipsoidPlace(SIMD2(measure.place.x, measure.place.y))
  }

  var limit: Double { list.limit }

  func bound(_ box: IndexedBox) -> Double { from.bound(box) }

  mutating func visit(_ leaf: LeafBlock<IndexedPoint>) throws {
    try check()
    for index in 0..<leaf.count {
      let position = leaf.shapes[index].position
      let row = leaf.rows[index]
      guard query.includes(row), from.bound(IndexedBox(lower: position, upper: position)) <= limit,
        !seen.contains(row)
      else { continue }
      measure.add(row, at: position, of: query.store, to: &list)
    }
  }
}

/// The nearest lines, polygons and collections.
private struct FarShapes: NearestVisitor {
  let query: NearestQuery
  let measure: Measure
  let from: EllipsoidPlace
  var list: NeighbourList
  let check: () throws -> Void

  init(query: NearestQuery, measure: Measure, list: NeighbourList, check: @escaping () throws -> Void) {
    (self.query, self.measure, self.list, self.check) = (query, measure, list, check)
    from = EllipsoidPlace(SIMD2(measure.place.x, measure.place.y))
  }

  var limit: Double { list.limit }

  func bound(_ box: IndexedBox) -> Double { from.bound(box) }

  mutating func visit(_ leaf: LeafBlock<IndexedBox>) throws {
    for index in 0..<leaf.count where bound(leaf.shapes[index]) <= limit {
      let row = leaf.rows[index]
      guard query.includes(row), let geometry = query.store[row]?.geometry else { continue }
      try check()
      var nearest = NearestPosition(from: from, limit: limit) { [measure] in measure.line(to: $0) }
      try nearest.add(geometry, checking: check)
      guard let line = nearest.line else { continue }
      list.insert(.init(row: row, distance: line.distance, azimuth: line.startAzimuth), of: query.store)
    }
  }
}
