// Spatial relations against GEOS: random geometries on a lattice, so that positions lie on edges and vertices.

import FeatureStore
import Filtering
import Geometry
import GeometryEngine
import SpatialRelations
import Testing

@Suite struct `Spatial relations to a constant geometry` {
  static let relations: [SpatialRelation] =
    [.intersects, .contains, .crosses, .within, .overlaps, .touches, .disjoint, .equals]
    + ["T********", "FF*FF****", "T*F**F***", "0********", "*T*******"].compactMap(IntersectionPattern.init).map {
      .relate($0)
    }

  private func read(_ text: String) throws -> Geometry { try Geometry(wkt: text) }

  /// GEOS's own answer; nil where it has none.
  private func answer(_ relation: SpatialRelation, _ row: Geometry, _ constant: Geometry) -> Bool? {
    try? PreparedGeometry(constant).relates(relation, row)
  }

  @Test(arguments: UInt64(0)..<40)
  func `geometries that cannot meet are disjoint, also once they are made valid`(seed: UInt64) {
    var random = RandomShapes(seed: seed)
    for _ in 0..<200 {
      let (one, other) = (random.any(), random.any())
      guard !one.mayMeet(other) else { continue }
      #expect(!other.mayMeet(one))
      for isMadeValid in [false, true] {
        let meets = try? PreparedGeometry(one, isMadeValid: isMadeValid).relates(.intersects, other)
        #expect(meets != true, "\(one) \(other)")
      }
    }
  }

  @Test func `polygons whose boxes meet can be proven apart`() throws {
    let corner = try read("POLYGON ((0 0, 10 0, 10 1, 1 1, 1 10, 0 10, 0 0))")
    #expect(try !corner.mayMeet(read("POLYGON ((2 2, 12 2, 12 12, 2 12, 2 2))")))
    #expect(try corner.mayMeet(read("POLYGON ((1 1, 12 1, 12 12, 1 12, 1 1))")))
    #expect(try corner.mayMeet(read("POLYGON ((0.2 0.2, 0.4 0.2, 0.4 0.4, 0.2 0.2))")))
  }

  @Test(arguments: UInt64(0)..<40)
  func `every relation of random geometries is GEOS's`(seed: UInt64) throws {
    var random = RandomShapes(seed: seed)
    for _ in 0..<6 {
      let constant = random.valid()
      for relation in Self.relations {
        let predicate = try SpatialPredicate(relation, constant)
        for _ in 0..<24 {
          let row = random.any()
          guard let expected = answer(relation, row, constant) else { continue }
          #expect(try predicate.holds(for: row) == expected, "\(row.wkt) \(relation) \(constant.wkt)")
        }
      }
    }
  }

  @Test(arguments: UInt64(0)..<10)
  func `positions on and beside edges are where GEOS says`(seed: UInt64) throws {
    var random = RandomShapes(seed: seed)
    for _ in 0..<20 {
      // Coordinates without a short binary form: rounding decides nothing.
      let scale = random.next(1...1000) / 7
      let polygon = random.star(count: 3 + Int(random.next(0...40)), around: random.next(-50...50) / 3).scaled(scale)
      guard try GeometryEngine.validity(of: polygon) == .valid else { continue }
      let within = try SpatialPredicate(.within, polygon)
      let touches = try SpatialPredicate(.touches, polygon)
      var points: [Point] = []
      polygon.forEachPositions { ring in
        for (start, end) in zip(ring.points, ring.points.dropFirst()) {
          points.append(start)
          let part = random.next(0...100) / 100
          let middle = Point(x: start.x + (end.x - start.x) * part, y: start.y + (end.y - start.y) * part)
          points += [middle, Point(x: middle.x.nextUp, y: middle.y), Point(x: start.x + 1, y: start.y)]
        }
      }
      for point in points {
        let row = Geometry.point(point)
        #expect(try within.holds(for: row) == answer(.within, row, polygon), "\(row.wkt) \(polygon.wkt)")
        #expect(try touches.holds(for: row) == answer(.touches, row, polygon), "\(row.wkt) \(polygon.wkt)")
      }
    }
  }

  @Test func `a constant that is invalid is refused with the place of its fault`() throws {
    #expect(throws: SpatialError.invalid(reason: "Self-intersection", at: Point(x: 2, y: 2))) {
      try SpatialPredicate(.intersects, read("POLYGON ((0 0, 4 4, 4 0, 0 4, 0 0))"))
    }
    #expect(throws: SpatialError.self) { try SpatialPredicate(.intersects, read("POLYGON ((0 0, 1 1, 0 0))")) }
    // Its envelope is that of any other.
    #expect(
      try SpatialPredicate(.envelopeIntersects, read("POLYGON ((0 0, 4 4, 4 0, 0 4, 0 0))"))
        .holds(for: read("POINT (4 4)")) == true)
  }

  @Test func `a feature that crosses itself is made valid where GEOS refuses it`() throws {
    let bow = try read("POLYGON ((0 0, 4 4, 4 0, 0 4, 0 0))")
    #expect(try SpatialPredicate(.within, read("POLYGON ((-1 -1, 5 -1, 5 5, -1 5, -1 -1))")).holds(for: bow) == true)
    #expect(try SpatialPredicate(.overlaps, read("POLYGON ((2 1, 5 1, 5 3, 2 3, 2 1))")).holds(for: bow) == true)
  }

  @Test func `collections are united, and intersect where a member does`() throws {
    let mixed = try read("GEOMETRYCOLLECTION (POINT (9 9), POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0)))")
    #expect(try SpatialPredicate(.intersects, mixed).holds(x: 9, y: 9))
    #expect(try SpatialPredicate(.disjoint, mixed).holds(x: 8, y: 9))
    #expect(throws: SpatialError.mixedCollection) { try SpatialPredicate(.within, mixed) }
    let halves = try read(
      "GEOMETRYCOLLECTION (POLYGON ((0 0, 2 0, 2 4, 0 4, 0 0)), GEOMETRYCOLLECTION (POLYGON ((2 0, 4 0, 4 4, 2 4, 2 0))))"
    )
    let square = try read("POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))")
    #expect(try SpatialPredicate(.equals, halves).holds(for: square) == true)
    #expect(try SpatialPredicate(.within, halves).holds(for: read("POINT (2 2)")) == true)
    #expect(try SpatialPredicate(.equals, square).holds(for: halves) == true)
    #expect(try SpatialPredicate(.within, square).holds(for: mixed) == nil)
    #expect(try SpatialPredicate(.intersects, read("GEOMETRYCOLLECTION EMPTY")).holds(x: 0, y: 0) == false)
  }

  @Test func `what is empty relates to nothing`() throws {
    let square = try read("POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))")
    for relation in Self.relations.prefix(8) {
      #expect(try SpatialPredicate(relation, square).holds(for: .point(nil)) == (relation == .disjoint))
      #expect(try SpatialPredicate(relation, read("POLYGON EMPTY")).holds(x: 1, y: 1) == (relation == .disjoint))
    }
    #expect(try SpatialPredicate(.equals, read("POLYGON EMPTY")).holds(for: read("LINESTRING EMPTY")) == true)
  }

  @Test func `copies around the world count once`() throws {
    let box = try read("POLYGON ((170 0, 190 0, 190 10, 170 10, 170 0))")
    let within = try SpatialPredicate(.within, box, shifts: [0, -360])
    #expect(try within.holds(x: 175, y: 5) && within.holds(x: -175, y: 5) && !within.holds(x: 0, y: 5))
    let disjoint = try SpatialPredicate(.disjoint, box, shifts: [0, -360])
    #expect(try !disjoint.holds(x: 175, y: 5) && !disjoint.holds(x: -175, y: 5) && disjoint.holds(x: 0, y: 5))
    #expect(within.indexBoxes?.count == 2 && disjoint.indexBoxes == nil)
  }

  @Test func `features without a geometry are unknown, and others are filtered by store`() throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    for id in 0..<3 { batch.begin(id: id) }
    try batch.setGeometries([.point(Point(x: 1, y: 1)), nil, .point(Point(x: 9, y: 9, m: 3))])
    try store.append(batch)
    let square = try SpatialPredicate(.within, read("POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))"))
    let rows = store.rowsInDrawingOrder()
    #expect(try rows.map { try store[$0].flatMap { try square.holds(for: $0) } } == [true, nil, false])
    #expect(try square.filter(rows, of: store) { _ in } == [rows[0]])
  }

  @Test func `a converse relation holds the other way around`() throws {
    #expect(SpatialRelation.within.converse == .contains && SpatialRelation.touches.converse == .touches)
    #expect(
      IntersectionPattern("T*F**F***").map { SpatialRelation.relate($0).converse }
        == IntersectionPattern("T*****FF*").map { .relate($0) })
    #expect(IntersectionPattern("T*F**F**") == nil && IntersectionPattern("T*F**F**3") == nil)
    #expect(IntersectionPattern("ff*ff****")?.needsCommonPosition == false)
  }
}

/// Geometries on a lattice of 0...12.
private struct RandomShapes {
  private var random: SplitMix

  init(seed: UInt64) { random = SplitMix(seed) }

  mutating func next(_ range: ClosedRange<Int>) -> Double { Double(Int.random(in: range, using: &random)) }

  private mutating func point() -> Point { Point(x: next(0...12), y: next(0...12)) }

  private mutating func positions(_ range: ClosedRange<Int>) -> Positions {
    Positions((0..<Int(next(range))).map { _ in point() })
  }

  /// A polygon whose ring goes once around a point.
  mutating func star(count: Int, around center: Double) -> Geometry {
    let angles = (0..<count).map { _ in Double.random(in: 0..<(2 * .pi), using: &random) }.sorted()
    var points = angles.map { angle in
      let radius = Double.random(in: 1...6, using: &random)
      return Point(x: center + radius * angle.cosine, y: center + radius * angle.sine)
    }
    points.append(points[0])
    return .polygon([Positions(points)])
  }

  private mutating func box(_ range: ClosedRange<Int>) -> Positions {
    let (x, y, width, height) = (next(range), next(range), next(1...6), next(1...6))
    return Positions([
      Point(x: x, y: y), Point(x: x + width, y: y), Point(x: x + width, y: y + height), Point(x: x, y: y + height),
      Point(x: x, y: y),
    ])
  }

  private mutating func ring() -> Positions {
    var points = positions(3...6).points
    points.append(points[0])
    return Positions(points)
  }

  /// Valid or not, such as rings that cross themselves or have no area.
  mutating func any() -> Geometry {
    switch Int(next(0...9)) {
    case 0...2: .point(point())
    case 3: .multiPoint(positions(0...4))
    case 4: .lineString(positions(2...4))
    case 5: .multiLineString([positions(2...3), positions(2...3)])
    case 6: .polygon([ring()])
    case 7: .polygon([box(0...8)])
    case 8: .multiPolygon([[box(0...5)], [box(5...8)]])
    default: .polygon([])
    }
  }

  mutating func valid() -> Geometry {
    while true {
      var shape = any()
      if Int.random(in: 0..<3, using: &random) == 0, case .polygon(let rings) = shape, !rings.isEmpty {
        shape = .polygon(rings + [box(2...6)])
      }
      if (try? GeometryEngine.validity(of: shape)) == .valid { return shape }
    }
  }
}

extension Geometry {
  fileprivate func scaled(_ factor: Double) -> Geometry {
    mapPositions { positions in
      Positions(values: positions.values.map { $0 * factor })
    }
  }
}

extension Double {
  /// By the first terms of the series: any function that goes around a circle will do.
  fileprivate var sine: Double { (self + .pi / 2).cosine }
  fileprivate var cosine: Double {
    let turned = remainder(dividingBy: 2 * .pi)
    let square = turned * turned
    return 1 - square / 2 * (1 - square / 12 * (1 - square / 30 * (1 - square / 56 * (1 - square / 90))))
  }
}
