// Results of GEOS for geometries, including invalid ones.

import Geometry
import GeometryEngine
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
    #expect(try GeometryEngine.intersects(geometry, geometry) == !geometry.isEmpty)
  }

  @Test func `prepared and plain agree`() throws {
    let polygon = try read("POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0), (4 4, 6 4, 6 6, 4 6, 4 4))")
    let prepared = try PreparedGeometry(polygon)
    for x in -1...11 {
      let point = Geometry.point(Point(x: Double(x), y: 5))
      let plain = try GeometryEngine.intersects(polygon, point)
      #expect(try prepared.intersects(point) == plain)
      #expect(plain == ((0...10).contains(x) && x != 5))
    }
    #expect(try !prepared.intersects(Envelope(xMin: 4.5, yMin: 4.5, xMax: 5.5, yMax: 5.5)))
    #expect(try prepared.intersects(Envelope(xMin: 9, yMin: 9, xMax: 12, yMax: 12)))
    #expect(try prepared.intersects(Envelope(xMin: 10, yMin: 3, xMax: 12, yMax: 3)))
  }
}
