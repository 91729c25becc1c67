// What is drawn of geometries that go behind the horizon of a map is what lies before it.

import Foundation
import GeoModel
import Geometry
import Projection
import TestSupport
import Testing

@Suite struct HorizonTests {
  private let proj = PROJTransformer()

  private func transform(_ projection: String, _ longitude: Double, _ latitude: Double) throws -> MapTransform {
    try MapTransform(
      from: .wgs84, to: SpatialReference("+proj=\(projection) +lat_0=\(latitude) +lon_0=\(longitude) +type=crs"), proj)
  }

  /// The positions of a polygon with many positions on its sides.
  private func ring(_ corners: [SIMD2<Double>]) -> Positions {
    var values: [Double] = []
    for (from, to) in zip(corners, corners.dropFirst() + corners.prefix(1)) {
      for step in 0..<100 {
        let place = from + (to - from) * (Double(step) / 100)
        values += [place.x, place.y]
      }
    }
    return Positions(values: values + values.prefix(2))
  }

  private func rings(of geometry: Geometry) -> [[Positions]] {
    switch geometry {
    case .polygon(let rings): [rings]
    case .multiPolygon(let polygons): polygons
    case .collection(let parts): parts.flatMap(rings)
    default: []
    }
  }

  /// Whether an odd number of sides is to the right of a place, and whether one is near.
  private func contains(_ place: SIMD2<Double>, _ rings: [Positions]) -> Bool {
    var isInside = false
    for ring in rings {
      let values = ring.values
      for index in stride(from: 2, to: values.count, by: 2) where (values[index - 1] > place.y) != (values[index + 1] > place.y) {
        let part = (place.y - values[index - 1]) / (values[index + 1] - values[index - 1])
        if values[index - 2] + part * (values[index] - values[index - 2]) > place.x { isInside.toggle() }
      }
    }
    return isInside
  }

  private func isNear(_ place: SIMD2<Double>, _ rings: [Positions], _ distance: Double) -> Bool {
    rings.contains { ring in
      stride(from: 0, to: ring.values.count, by: 2).contains { index in
        let way = SIMD2(ring.values[index], ring.values[index + 1]) - place
        return (way * way).sum().squareRoot() < distance
      }
    }
  }

  @Test(arguments: UInt64(0)..<40)
  func `areas are drawn where they are before the horizon`(seed: UInt64) throws {
    var random = Random(seed: seed)
    let projection = ["ortho", "nsper +h=5000000", "gnom"][random.integer(0..<3)]
    let transform = try transform(projection, random.number(-180...180).rounded(), random.number(-80...80).rounded())
    let middle = SIMD2(random.number(-60...60), random.number(-30...30))
    let corners = (0..<12).map { step in
      let angle = Double(step) * .pi / 6
      return middle + random.number(0.3...1) * SIMD2(115 * cos(angle), 55 * sin(angle))
    }
    let hole = corners.map { middle + 0.3 * ($0 - middle) }
    let rings = [ring(corners), ring(hole)]
    let drawn = (try? transform.drawnParts(of: .polygon(rings)) {}).map(self.rings) ?? []
    for _ in 0..<300 {
      let place = SIMD2(random.number(-179...179), random.number(-87...87))
      var values = [place.x, place.y]
      guard (try? transform.transform(&values)) != nil, !isNear(place, rings, 4) else { continue }
      // Where the projection goes to infinity, and beside the horizon, pictures of degrees are very small or very large.
      let reach = projection == "gnom" ? 2e7 : projection == "ortho" ? 6.2e6 : 3.3e6
      guard (values[0] * values[0] + values[1] * values[1]).squareRoot() < reach else { continue }
      let found = drawn.contains { contains(SIMD2(values[0], values[1]), $0) }
      #expect(found == contains(place, rings), "\(projection) \(place)")
    }
  }

  @Test func `lines end at the horizon, and what is behind it is left out`() throws {
    let transform = try transform("ortho", 10, 0)
    let line = Geometry.lineString(Positions(values: [10, 0, 190, 0, 280, 20, 350, 0]))
    guard case .collection(let parts) = try transform.drawnParts(of: line, checking: {}) else {
      Issue.record("one part")
      return
    }
    let boxes = parts.compactMap(\.envelope)
    #expect(boxes.count == 2)
    #expect(abs(boxes[0].xMax - 6_378_137) < 1 && boxes[0].xMin == 0)
    #expect(abs(boxes[1].xMin + 6_378_137 * cos(20 * .pi / 180)) < 1e5 && boxes[1].xMax < 0)
    let far = Geometry.polygon([Positions(values: [150, -10, 170, -10, 170, 10, 150, 10, 150, -10])])
    #expect(throws: TransformError.self) { _ = try transform.drawnParts(of: far) {} }
    let points = Geometry.multiPoint(Positions(values: [0, 0, 180, 0, 20, 0]))
    guard case .collection(let shown) = try transform.drawnParts(of: points, checking: {}) else {
      Issue.record("one part")
      return
    }
    #expect(shown.count == 2)
  }

  @Test func `an area around all that is seen covers it`() throws {
    let transform = try transform("ortho", 0, 0)
    let world = Geometry.polygon([ring([SIMD2(-170, -89), SIMD2(170, -89), SIMD2(170, 89), SIMD2(-170, 89)])])
    let drawn = rings(of: try transform.drawnParts(of: world) {})
    let box = drawn.joined().map { Geometry.lineString($0).envelope ?? .none }.reduce(Envelope.none) { box, other in
      var box = box
      box.include(other)
      return box
    }
    #expect(box.xMax > 6.37e6 && box.xMin < -6.37e6 && box.yMax > 6.3e6 && contains(.zero, drawn[0]))
  }
}
