// The nearest features on the ellipsoid and in the plane, against all distances.

import FeatureStore
import Geometry
import Projection
import Proximity
import TestSupport
import Testing

@Suite struct `Nearest features` {
  private let geodesy = PROJTransformer()

  private func store(_ geometries: [Geometry?]) throws -> FeatureStore {
    var store = FeatureStore()
    var batch = FeatureBatch()
    for id in geometries.indices { batch.begin(id: geometries.count - id) }
    try batch.setGeometries(geometries)
    try store.append(batch)
    return store
  }

  private func all(_ store: FeatureStore, _ measure: (Point) -> Double?) -> [(id: Int, distance: Double)] {
    var all: [(id: Int, distance: Double)] = []
    store.forEach { row in
      if case .point(let point?)? = row.geometry, let distance = measure(point) { all.append((row.id, distance)) }
      return true
    }
    return all.sorted { $0.distance != $1.distance ? $0.distance < $1.distance : $0.id < $1.id }
  }

  /// Where points are spread, and where places are.
  static let worlds: [(x: ClosedRange<Double>, y: ClosedRange<Double>)] = [
    (-180...180, -90...90), (170...190, -20...20), (-181 ... -179, -1...1), (-180...180, 88...90),
    (-180...180, -90 ... -89.9),
    (5...15, 45...55), (-540...540, -80...80), (10...10.001, 50...50.001), (0...0, 0...0), (-1e6...1e6, -10...10),
  ]

  @Test(arguments: 0..<worlds.count)
  func `those on the ellipsoid are the least of all distances`(world: Int) throws {
    let (x, y) = Self.worlds[world]
    var random = SystemSeed(UInt64(world))
    var points = (0..<700).map { _ in Point(x: .random(in: x, using: &random), y: .random(in: y, using: &random)) }
    points += points.prefix(40)
    points += [Point(x: 0, y: 90), Point(x: 77, y: 90), Point(x: 180, y: 0), Point(x: -180, y: 0)]
    let store = try store(points.map { .point($0) } + [nil, .point(nil)])
    let places =
      (0..<12).map { _ in Point(x: .random(in: x, using: &random), y: .random(in: y, using: &random)) }
      + (0..<6).map { _ in Point(x: .random(in: -180...180, using: &random), y: .random(in: -90...90, using: &random)) }
      + [
        points[3], Point(x: 12, y: 90), Point(x: 12, y: -90), Point(x: 180, y: 10), Point(x: -180, y: 10),
        Point(x: 365, y: 50),
      ]
    for place in places {
      let expected = all(store) { try? geodesy.inverse(from: place, to: $0).distance }
      for (count, radius) in [
        (1, Double.infinity), (10, .infinity), (60, .infinity), (2000, .infinity), (2000, 50_000), (5, 3_000_000),
      ] {
        let found = try NearestQuery(store, rows: nil, count: count, radius: radius).geodetic(to: place, geodesy)
        let near = expected.prefix(count).filter { $0.distance <= radius }
        #expect(found.map(\.distance) == near.map(\.distance), "\(place) \(count) \(radius)")
        #expect(found.map(\.id) == near.map(\.id), "\(place) \(count) \(radius)")
      }
    }
  }

  @Test(arguments: UInt64(0)..<6)
  func `those in the plane are the least of all distances, among rows that count`(seed: UInt64) throws {
    var random = SystemSeed(seed)
    let points = (0..<3000).map { _ in
      Point(x: Double(Int.random(in: 0...60, using: &random)), y: Double(Int.random(in: 0...60, using: &random)))
    }
    let store = try store(points.map { .point($0) })
    let rows = store.rowsInDrawingOrder().filter { $0 % 3 != 0 }
    let allowed = Set(rows.compactMap { store[$0]?.id })
    for _ in 0..<20 {
      let place = SIMD2(Double.random(in: -5...65, using: &random), Double(Int.random(in: 0...60, using: &random)))
      let expected = all(store) { point in
        let way = SIMD2(point.x, point.y) - place
        return (way * way).sum().squareRoot()
      }.filter { allowed.contains($0.id) }
      for (count, radius) in [(1, Double.infinity), (25, .infinity), (4000, .infinity), (4000, 5)] {
        let found = try NearestQuery(store, rows: RowSet(rows), count: count, radius: radius).planar(to: place)
        let near = expected.prefix(count).filter { $0.distance <= radius }
        #expect(found.map(\.id) == near.map(\.id) && found.map(\.distance) == near.map(\.distance))
      }
    }
  }

  @Test(arguments: UInt64(1)..<7)
  func `lines and polygons are as far as their nearest position`(seed: UInt64) throws {
    var random = SystemSeed(seed)
    let center = Point(
      x: .random(in: -185...185, using: &random), y: seed < 4 ? .random(in: -60...60, using: &random) : 85)
    func near(_ reach: Double) -> Point {
      Point(
        x: center.x + .random(in: -reach...reach, using: &random),
        y: min(90, center.y + .random(in: -reach...reach, using: &random)))
    }
    let lines = (0..<20).map { _ in Positions([near(8), near(8), near(8)]) }
    let store = try store(lines.map { .lineString($0) })
    for _ in 0..<5 {
      let place = near(9)
      let found = try NearestQuery(store, rows: nil, count: 20).geodetic(to: place, geodesy)
      #expect(found.count == 20 && zip(found, found.dropFirst()).allSatisfy { $0.distance <= $1.distance })
      for each in found {
        let line = lines[20 - each.id].points
        var sampled = Double.infinity
        for (start, end) in zip(line, line.dropFirst()) {
          for step in 0...800 {
            let part = Double(step) / 800
            let position = Point(x: start.x + (end.x - start.x) * part, y: start.y + (end.y - start.y) * part)
            sampled = min(sampled, try geodesy.inverse(from: place, to: position).distance)
          }
        }
        // Samples are up to three kilometres apart.
        #expect(each.distance <= sampled + 1e-6 && each.distance >= sampled - 1500, "\(each) \(sampled)")
      }
    }
  }

  @Test func `a place in a polygon is not away from it, on either side of the antimeridian`() throws {
    let polygon = try Geometry(
      wkt: "POLYGON ((170 -10, 190 -10, 190 10, 170 10, 170 -10), (178 -1, 182 -1, 182 1, 178 1, 178 -1))")
    let query = NearestQuery(try store([polygon]), rows: nil, count: 1)
    for x in [175.0, -175, 185, -170.1] {
      #expect(try query.geodetic(to: Point(x: x, y: 0), geodesy).first?.distance == 0)
    }
    let hole = try #require(try query.geodetic(to: Point(x: 180, y: 0), geodesy).first)
    #expect(abs(hole.distance - 110_574.39) < 1)
    #expect(try query.planar(to: SIMD2(180, 0)).first?.distance == 1)
    #expect(try query.planar(to: SIMD2(171, 0)).first?.distance == 0)
    let west = try #require(try query.geodetic(to: Point(x: -169, y: 0), geodesy).first)
    #expect(abs(west.distance - 111_319.49) < 1 && abs(west.azimuth - 270) < 1e-6)
  }

  /// Pairs and their distances in metres, found outside of this project by GeographicLib's inverse on grids of positions of both edges, refined
  /// around the nearest.
  static let pairs: [(String, String, Double)] = [
    ("LINESTRING (0 50, 10 50)", "LINESTRING (2 51, 8 51)", 111_238.6809),
    ("LINESTRING (0 60, 40 60)", "LINESTRING (0 62, 40 61)", 111_420.7279),
    ("POLYGON ((176 -18, 179 -18, 179 -15, 176 -15, 176 -18))", "LINESTRING (-179 -20, -178 -10)", 231_796.6980),
    ("LINESTRING (10 89, 100 89.5)", "LINESTRING (190 89, 280 88)", 124_876.2885),
    (
      "POLYGON ((-40 -89, 40 -89, 40 -85, -40 -85, -40 -89))", "POLYGON ((140 -89, 220 -89, 220 -85, 140 -85, 140 -89))",
      171_121.3392
    ),
    ("LINESTRING (-60 -30, -50 20)", "LINESTRING (10 20, 30 -35)", 6_241_727.6013),
    ("POINT (13.4 52.5)", "POLYGON ((2 48, 3 48, 3 49, 2 48))", 829_759.5155),
    ("LINESTRING (12.1 55.2, 12.1 55.2)", "POLYGON ((12.5 55, 13 55, 13 56, 12.5 55))", 30_637.1607),
    ("LINESTRING (0 0, 10 10)", "LINESTRING (0 10, 10 0)", 0), ("LINESTRING (170 0, 190 0)", "LINESTRING (-180 -1, -180 1)", 0),
    ("POLYGON ((170 0, 190 0, 190 9, 170 9, 170 0))", "LINESTRING (-178 2, -177 3)", 0),
    ("LINESTRING (0 90, 10 80)", "LINESTRING (77 85, 120 90)", 0),
  ]

  @Test(arguments: 0..<pairs.count)
  func `lines and polygons are as far from each other as their nearest positions`(pair: Int) throws {
    let (first, second, distance) = Self.pairs[pair]
    for (own, other) in [(first, second), (second, first)] {
      let query = NearestQuery(try store([try Geometry(wkt: other)]), rows: nil, count: 1)
      let found = try #require(try query.geodetic(to: try Geometry(wkt: own), geodesy).first)
      #expect(distance == 0 ? found.distance == 0 : abs(found.distance - distance) < 1e-3, "\(found.distance)")
    }
  }

  @Test(arguments: UInt64(0)..<5)
  func `the nearest of many lines and polygons are those of all pairs`(seed: UInt64) throws {
    var random = SystemSeed(seed)
    let reach = [0.3, 3, 20, 60, 170][Int(seed)]
    func shape() -> Geometry {
      let (x, y) = (Double.random(in: 180 - reach...180 + reach, using: &random), Double.random(in: -80...80, using: &random))
      let count = Int.random(in: 1...20, using: &random)
      var ring = (0..<count).map { index in
        // Around a diamond.
        let (part, size) = (Double(index) / Double(count) * 4, Double.random(in: 0.05...1, using: &random) * reach / 20)
        let (east, north) = (abs((part + 1).truncatingRemainder(dividingBy: 4) - 2) - 1, abs(part - 2) - 1)
        return Point(x: x + size * east, y: max(min(y + size * north, 90), -90))
      }
      guard count > 2, Bool.random(using: &random) else { return count == 1 ? .point(ring[0]) : .lineString(Positions(ring)) }
      ring.append(ring[0])
      return .polygon([Positions(ring)])
    }
    let all = (0..<80).map { _ in shape() }
    let store = try store(all)
    for _ in 0..<3 {
      let own = shape()
      for isPlanar in [true, false] {
        func found(_ store: FeatureStore, count: Int) throws -> [Neighbour] {
          let query = NearestQuery(store, rows: nil, count: count)
          return try isPlanar ? query.planar(to: own) : query.geodetic(to: own, geodesy)
        }
        // One by one, nothing is bounded by what was found.
        let expected = try all.map { try found(self.store([$0]), count: 1).first?.distance ?? .nan }.sorted()
        let near = try found(store, count: 7).map(\.distance)
        #expect(zip(near, expected).allSatisfy { abs($0 - $1) <= 1e-3 } && near.count == 7, "\(near) \(expected.prefix(7))")
      }
    }
  }

  @Test func `distances in the plane are finite for all finite coordinates, and each feature comes once`() throws {
    let points = (1...400).map {
      Geometry.point(Point(x: $0.isMultiple(of: 2) ? 1e305 * Double($0 / 2) : 0, y: Double($0)))
    }
    let line = try Geometry(wkt: "LINESTRING (-1e308 3, 1e308 3)")
    let store = try store(points + [line, .point(Point(x: -1.7e308, y: 1.7e308))])
    for place in [SIMD2(0.0, 0), SIMD2(-1e308, 7), SIMD2(1.7e308, -1.7e308)] {
      for count in [1, 20, 202, 1000] {
        let found = try NearestQuery(store, rows: nil, count: count).planar(to: place)
        #expect(found.count == min(count, 402) && Set(found.map(\.id)).count == found.count)
        #expect(found.allSatisfy { $0.distance.isFinite })
        #expect(zip(found, found.dropFirst()).allSatisfy { ($0.distance, $0.id) < ($1.distance, $1.id) })
      }
    }
    let near = try NearestQuery(store, rows: nil, count: 300).planar(to: SIMD2(0, 0))
    #expect(near.prefix(4).map(\.distance) == [1, 3, 3, 5])
    let far = try NearestQuery(store, rows: nil, count: 300, radius: 1e306).planar(to: SIMD2(0, 0))
    #expect(far.count == 200 + 1 + 10 && near.prefix(far.count).map(\.id) == far.map(\.id))
  }

  @Test func `a far search can be cancelled`() throws {
    struct Stop: Error {}
    let store = try store((0..<5000).map { .point(Point(x: Double($0 % 90), y: Double($0 % 60))) })
    #expect(throws: Stop.self) {
      try NearestQuery(store, rows: nil, count: 1, checking: { throw Stop() })
        .geodetic(to: Point(x: -120, y: -60), geodesy)
    }
    #expect(throws: Stop.self) {
      try NearestQuery(store, rows: nil, count: 5000, checking: { throw Stop() }).planar(to: .zero)
    }
  }
}

/// splitmix64.
struct SystemSeed: RandomNumberGenerator {
  var state: UInt64
  init(_ seed: UInt64) { state = seed }
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
