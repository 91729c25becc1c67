// Contours of random ground: lines at their levels, areas that cover it without gaps.

import Geometry
import Terrain
import Testing

struct ContourTests {
  /// Whole heights, so that many equal a level, with gaps.
  private func ground(_ seed: UInt64) -> Ground {
    var random = SeededGenerator(seed: seed)
    var ground = Ground(Int.random(in: 2...40, using: &random), Int.random(in: 2...40, using: &random), rounds: Int(seed % 5), using: &random)
    let gaps = seed % 3 == 0 ? 0 : Double.random(in: 0...0.3, using: &random)
    for index in ground.heights.indices {
      if seed % 2 == 0 { ground.heights[index].round() }
      if Double.random(in: 0...1, using: &random) < gaps { ground.heights[index] = .nan }
    }
    return ground
  }

  @Test(arguments: UInt64(0)..<40)
  func `a line lies at its level, and ends where the ground does`(seed: UInt64) throws {
    let ground = ground(seed)
    let levels = [10.0, 20, 45.5, 50, 51, 90]
    let contours = try Contours(ground.heights, width: ground.width, levels: levels, limit: 1 << 20) {}
    func height(_ column: Int, _ row: Int) -> Float { ground.heights[row * ground.width + column] }
    try contours.trace(checking: { _ in }) { level, line in
      #expect(line.count > 1)
      for point in line {
        let (x, y) = (point.x - 0.5, point.y - 0.5)
        let (c, r) = (Int(x), Int(y))
        let part = x == Double(c) ? y - Double(r) : x - Double(c)
        let (a, b) = (height(c, r), part == 0 ? height(c, r) : x == Double(c) ? height(c, r + 1) : height(c + 1, r))
        #expect(abs(Double(a) + part * Double(b - a) - levels[level]) < 1e-4)
      }
    }
  }

  @Test(arguments: UInt64(0)..<60)
  func `areas cover the ground without gaps, and each has the cells between its levels`(seed: UInt64) throws {
    let ground = ground(seed)
    let levels = [10.0, 20, 45.5, 50, 51, 90]
    let contours = try Contours(ground.heights, width: ground.width, levels: levels, limit: 1 << 20) {}
    func area(_ ring: [SIMD2<Double>]) -> Double {
      zip(ring, ring.dropFirst()).reduce(0) { $0 - ($1.0.x * $1.1.y - $1.1.x * $1.0.y) / 2 }
    }
    func contains(_ rings: [[SIMD2<Double>]], _ point: SIMD2<Double>) -> Bool {
      rings.reduce(false) { isIn, ring in
        zip(ring, ring.dropFirst()).reduce(isIn) { isIn, ends in
          let (a, b) = ends
          guard (a.y > point.y) != (b.y > point.y) else { return isIn }
          return isIn != (point.x < a.x + (b.x - a.x) * (point.y - a.y) / (b.y - a.y))
        }
      }
    }
    var total = 0.0
    var bands: [Int: [[Contours.Ring]]] = [:]
    try contours.bands(checking: { _ in }) { band, polygons in
      bands[band] = polygons
      for polygon in polygons {
        total += polygon.reduce(0) { $0 + area($1) }
        #expect(area(polygon[0]) > 0 && polygon.dropFirst().allSatisfy { area($0) < 0 })
        for ring in polygon { #expect(ring.first == ring.last && Set(ring).count == ring.count - 1) }
      }
    }
    var squares = 0
    for row in 0..<ground.height - 1 {
      for column in 0..<ground.width - 1 {
        let index = row * ground.width + column
        let corners = [index, index + 1, index + ground.width, index + ground.width + 1].map { ground.heights[$0] }
        guard corners.allSatisfy({ !$0.isNaN }) else { continue }
        squares += 1
        // Beside a corner, as corners are on borders.
        guard !levels.contains(Double(corners[0])) else { continue }
        let band = levels.count { $0 <= Double(corners[0]) }
        let place = SIMD2(Double(column) + 0.5 + 1e-7, Double(row) + 0.5 + 1.1e-7)
        #expect(bands[band]?.contains { contains($0, place) } == true)
      }
    }
    #expect(abs(total - Double(squares)) < 1e-3)
  }

  @Test(arguments: UInt64(0)..<20)
  func `rings do not touch themselves where numbers are large and cells are small`(seed: UInt64) throws {
    let ground = ground(seed)
    var contours = try Contours(ground.heights, width: ground.width, levels: [10, 20, 45.5, 50, 51, 90], limit: 1 << 20) {}
    contours.margin = 4 * 5e6.ulp / 0.1
    try contours.bands(checking: { _ in }) { _, polygons in
      for ring in polygons.joined() {
        #expect(Set(ring.map { SIMD2(500_000 + $0.x * 0.1, 5_000_000 - $0.y * 0.1) }).count == ring.count - 1)
      }
    }
  }

  @Test func `more pieces than allowed are refused before they are made`() {
    var random = SeededGenerator(seed: 3)
    let ground = Ground(50, 50, rounds: 0, using: &random)
    #expect(throws: Contours.TooMany.self) {
      _ = try Contours(ground.heights, width: 50, levels: (0..<100).map { Double($0) }, limit: 1000) {}
    }
  }

  @Test func `slopes of a plane are those of the plane, in cells of any direction`() {
    // The ground falls by 3 in 4 to the south-west.
    let (east, north) = (0.75 * 0.5.squareRoot(), 0.75 * 0.5.squareRoot())
    for metric in [CellMetric(column: SIMD2(30, 0), row: SIMD2(0, -30)), CellMetric(column: SIMD2(20, 12), row: SIMD2(-9, 31))] {
      let nine = (-1...1).flatMap { row in
        (-1...1).map { column in
          let place = metric.column * Double(column) + metric.row * Double(row)
          return 100 + place.x * east + place.y * north
        }
      }
      for method in [SlopeMethod.horn, .zevenbergenThorne] {
        let gradient = Gradient((nine[0], nine[1], nine[2], nine[3], nine[4], nine[5], nine[6], nine[7], nine[8]), metric, method)
        #expect(abs(gradient.east - east) < 1e-12 && abs(gradient.north - north) < 1e-12)
        #expect(abs(gradient.aspect - 225) < 1e-9)
        #expect(abs(gradient.light(azimuth: 225, altitude: 90 - gradient.slope) - 1) < 1e-12)
      }
    }
  }
}
