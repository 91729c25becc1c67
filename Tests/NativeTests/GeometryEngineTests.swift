// Results of GEOS for geometries, including invalid ones.

import Geometry
import GeometryEngine
import Glibc
import Testing

@Suite struct `Planar geometry by GEOS` {
  private func read(_ text: String) throws -> Geometry { try Geometry(wkt: text) }

  @Test func `a fault has a reason and a position`() throws {
    #expect(try GeometryEngine.validity(of: read("POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))")) == .valid)
    let bow = try GeometryEngine.validity(of: read("POLYGON ((0 0, 4 4, 4 0, 0 4, 0 0))"))
    #expect(bow == .invalid(reason: "Self-intersection", at: Point(x: 2, y: 2)))
    guard case .invalid(let reason, nil) = try GeometryEngine.validity(of: read("POLYGON ((0 0, 0 0))")) else {
      throw Unexpected()
    }
    #expect(reason.contains("LinearRing"))
    guard case .invalid = try GeometryEngine.validity(of: read("POLYGON ((0 0, 4 0, 4 4, 0 4))")) else {
      throw Unexpected()
    }
    #expect(try GeometryEngine.validity(of: read("POINT EMPTY")) == .valid)
  }

  @Test(arguments: samples) func `every type goes in`(geometry: Geometry) throws {
    _ = try GeometryEngine.validity(of: geometry)
    #expect(try PreparedGeometry(geometry).relates(.intersects, geometry) == !geometry.isEmpty)
  }

  @Test func `areas are made valid on a grid`() throws {
    // A bow whose crossing is between the positions of the grid, and areas that overlap: what two of them cover is in none.
    for text in [
      "MULTIPOLYGON (((0 0, 7 5, 7 0, 0 4, 0 0)))", "MULTIPOLYGON (((0 0, 9 0, 9 9, 0 9, 0 0)), ((8 1, 20 2, 19 3, 8 1)))",
      "MULTIPOLYGON (((0 0, 9 0, 9 9, 9 0, 5 0, 5 5, 0 0)))",
    ] {
      let made = try GeometryCalculator()(.snap(to: 1), [read(text)]).geometries
      #expect(made.count == 1)
      for geometry in made {
        #expect(geometry.dimension == 2)
        #expect(try GeometryEngine.validity(of: geometry) == .valid)
        geometry.forEachPositions { #expect($0.values.allSatisfy { $0 == $0.rounded() }) }
      }
    }
    let line = try GeometryCalculator()(.snap(to: 1), [read("MULTIPOLYGON (((0 0, 9 9, 0 0, 9 9, 0 0)))")]).geometries
    #expect(!line.contains { !$0.isEmpty })
  }

  @Test(arguments: [GeometryOperation.Cap.round, .flat, .square]) func `closed lines have the buffers of their segments`(cap: GeometryOperation.Cap) throws {
    let calculator = try GeometryCalculator()
    func buffer(_ geometry: Geometry, _ distance: Double, _ cap: GeometryOperation.Cap) throws -> Double {
      let around = GeometryOperation.buffer(distance, quadrantSegments: 8, cap: cap, join: .round, mitreLimit: 5, isOneSided: false)
      return try calculator(around, [geometry]).geometries[0].covered
    }
    var numbers = SplitMix64(state: 28)
    for turn in 0..<120 {
      var place = Point(x: 0, y: 0)
      let walk = (0..<(3 + turn % 4)).map { _ in
        place = Point(x: place.x + Double.random(in: -1...1, using: &numbers), y: place.y + Double.random(in: -1...1, using: &numbers))
        return place
      }
      let distance = Double.random(in: 0.1...3, using: &numbers)
      // A loop, which may cross itself, and a way out and back.
      for line in [walk + [walk[0]], walk + walk.dropLast().reversed()] {
        let segments = zip(line, line.dropFirst()).map { Positions([$0, $1]) }
        let whole = try calculator(GeometryOperation(.union), try segments.map { segment in
          let around = GeometryOperation.buffer(distance, quadrantSegments: 8, cap: .round, join: .round, mitreLimit: 5, isOneSided: false)
          return try calculator(around, [.lineString(segment)]).geometries[0]
        }).geometries[0].covered
        let made = try buffer(.lineString(Positions(line)), distance, cap)
        #expect(abs(made - whole) < 0.01 * whole, "\(line) by \(distance)")
        // Beside others it is the same.
        let point = Geometry.point(Point(x: 100, y: 100))
        let both = try buffer(.collection([.multiLineString([Positions(line)]), point]), distance, cap)
        #expect(abs(both - made - (try buffer(point, distance, cap))) < 1e-6 * both)
      }
    }
  }

  /// A line to and fro: GEOS looks at each pair of its edges, which takes hours.
  private var tangled: Geometry { toAndFro(beside: 0) }

  /// - Parameter offset: how far it is from ``tangled``, whose lines are 0.0002 apart at the most.
  private func toAndFro(beside offset: Double) -> Geometry {
    let points = (0..<200_000).map { index in
      let (side, shift) = (Double(index % 2), offset + Double(index) * 1e-9)
      return Point(x: side + shift, y: side - shift)
    }
    return .lineString(Positions(points))
  }

  @Test(arguments: [SpatialRelation.crosses, .touches, .overlaps])
  func `an operation on large geometries ends when it is cancelled`(relation: SpatialRelation) throws {
    let prepared = try PreparedGeometry(tangled)
    // They have no point in common, so that GEOS has no answer before it has seen every pair of their edges.
    let other = toAndFro(beside: 0.001)
    var asked = 0
    var (begun, cancelled) = (processorSeconds(), 0.0)
    #expect(throws: EngineError.interrupted) {
      try GeometryEngine.interruptible {
        asked += 1
        if asked == 1000 { cancelled = processorSeconds() }
        return asked >= 1000
      } _: {
        begun = processorSeconds()
        _ = try prepared.relates(relation, other)
      }
    }
    #expect(cancelled > begun && processorSeconds() - cancelled < 0.1)
  }

  /// Of this thread: independent of what else runs.
  private func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  @Test func `making valid, uniting and checking end when they are cancelled`() throws {
    let ring = (0..<100_000).map { Point(x: Double($0 % 2) * 100, y: Double($0) * 1e-4) }
    let polygon = Geometry.polygon([Positions(ring + [ring[0]])])
    let operations: [() throws -> Void] = [
      { _ = try PreparedGeometry(polygon, isMadeValid: true) },
      { _ = try PreparedGeometry(.collection([tangled, tangled])) },
    ]
    for operation in operations {
      var asked = 0
      #expect(throws: EngineError.interrupted) {
        try GeometryEngine.interruptible {
          asked += 1
          return asked >= 100
        } _: {
          try operation()
        }
      }
    }
  }

  @Test func `a cancelled operation disturbs none of other threads`() async throws {
    let polygon = try read("POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0), (4 4, 6 4, 6 6, 4 6, 4 4))")
    let other = try read("POLYGON ((5 5, 15 5, 15 15, 5 15, 5 5))")
    let (tangled, beside) = (tangled, toAndFro(beside: 0.001))
    let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for _ in 0..<200 {
            if worker.isMultiple(of: 2) {
              do {
                var asked = 0
                try GeometryEngine.interruptible {
                  asked += 1
                  return asked > 5
                } _: {
                  _ = try PreparedGeometry(tangled).relates(.overlaps, beside)
                }
                return false
              } catch EngineError.interrupted {}
            } else if try !PreparedGeometry(polygon).relates(.overlaps, other) {
              return false
            }
          }
          return true
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes == [true, true, true, true])
  }

  @Test func `a prepared polygon ends at its edges and those of its holes`() throws {
    let polygon = try read("POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0), (4 4, 6 4, 6 6, 4 6, 4 4))")
    let prepared = try PreparedGeometry(polygon)
    for x in -1...11 {
      let point = Geometry.point(Point(x: Double(x), y: 5))
      #expect(try prepared.relates(.intersects, point) == ((0...10).contains(x) && x != 5))
    }
    #expect(try !prepared.relates(.intersects, read("POLYGON ((4.5 4.5, 5.5 4.5, 5.5 5.5, 4.5 5.5, 4.5 4.5))")))
    #expect(try prepared.relates(.intersects, read("POLYGON ((9 9, 12 9, 12 12, 9 12, 9 9))")))
    #expect(try prepared.relates(.intersects, read("LINESTRING (10 3, 12 3)")))
  }
}

@Suite struct `Lines beside lines` {
  private func beside(_ line: Geometry, _ distance: Double, _ join: GeometryOperation.Join = .round) throws -> Geometry {
    try GeometryCalculator()(.offset(distance, quadrantSegments: 8, join: join, mitreLimit: 5), [line]).geometries[0]
  }

  @Test(arguments: [GeometryOperation.Join.round, .mitre]) func `no place is nearer than the distance`(join: GeometryOperation.Join) throws {
    var (random, made) = (SplitMix64(state: 5), 0)
    for _ in 0..<100 {
      let points = (0..<Int.random(in: 2...8, using: &random)).map { _ in
        SIMD2(Double.random(in: 0...100, using: &random), Double.random(in: 0...100, using: &random))
      }
      let distance = Double.random(in: 1...15, using: &random) * (Bool.random(using: &random) ? 1 : -1)
      func gap(_ place: SIMD2<Double>) -> Double {
        zip(points, points.dropFirst()).map { start, end in
          let way = end - start
          let rest = place - start - way * min(max(((place - start) * way).sum() / (way * way).sum(), 0), 1)
          return (rest * rest).sum().squareRoot()
        }.min() ?? 0
      }
      try beside(.lineString(Positions(points.map { Point(x: $0.x, y: $0.y) })), distance, join).forEachPositions { line in
        for (start, end) in zip(line.points, line.points.dropFirst()) {
          for part in 0...8 {
            let share = Double(part) / 8
            let place = SIMD2(start.x + share * (end.x - start.x), start.y + share * (end.y - start.y))
            // Chords of a quarter's eighth, or half as long again.
            #expect(gap(place) >= 0.985 * abs(distance))
          }
          made += 1
        }
      }
    }
    #expect(made > 100)
  }

  @Test func `gentle bends are on one side`() throws {
    let line = Geometry.lineString(Positions((0..<2000).map { Point(x: Double($0) / 2, y: 1000 * sin(Double($0) / 600)) }))
    for distance in [50.0, -50] {
      guard case .lineString = try beside(line, distance) else { throw Unexpected() }
    }
  }
}

@Suite struct `Proofs that polygons are valid` {
  @Test(arguments: 0..<20) func `what is proved valid is valid for GEOS`(seed: UInt64) throws {
    var random = SplitMix64(state: seed)
    for _ in 0..<500 {
      let count = Int.random(in: 3...9, using: &random)
      // Few places, so that rings touch themselves, and their edges lie on one another.
      let most = Bool.random(using: &random) ? 4.0 : 40
      let offset = Bool.random(using: &random) ? 0 : 5_300_000.1
      var values = (0..<2 * count).map { _ in offset + Double.random(in: 0...most, using: &random).rounded() / 7 }
      values += values[..<2]
      let polygon = Geometry.polygon([Positions(values: values)])
      if polygon.isSurelyValid { #expect(try GeometryEngine.validity(of: polygon) == .valid) }
    }
  }

  @Test func `buildings are proved valid, bows and rings that touch themselves are not`() throws {
    for text in ["(0 0, 4 0, 4 4, 2 4, 2 2, 0 2, 0 0)", "(0.1 0.1, 0.1 3, 0.1 9, 7 9, 7 0.1, 0.1 0.1)"] {
      #expect(try Geometry(wkt: "POLYGON (\(text))").isSurelyValid)
    }
    for text in ["(0 0, 4 4, 4 0, 0 4, 0 0)", "(0 0, 4 0, 4 4, 2 0, 0 4, 0 0)", "(0 0, 4 0, 2 0, 2 2, 0 0)", "(0 0, 4 0, 2 0, 0 0)"] {
      #expect(try !Geometry(wkt: "POLYGON (\(text))").isSurelyValid)
    }
  }
}

extension Geometry {
  /// The area of polygons.
  fileprivate var covered: Double {
    polygons.reduce(0) { sum, rings in
      sum + rings.enumerated().reduce(0) { $0 + ($1.offset == 0 ? 0.5 : -0.5) * abs($1.element.doubledArea) }
    }
  }
}
