// Geocentric positions against known ones, and back.

import Geometry
import Testing

struct GeocentricTests {
  @Test(arguments: [
    Point(x: 0, y: 0, z: 0), Point(x: -84.25, y: 36.6, z: 513), Point(x: 179.999, y: -89.999, z: 8848), Point(x: 0, y: 90, z: -500),
    Point(x: 12, y: 47, z: 35_786_000), Point(x: -120, y: 1e-9, z: 1e9),
  ])
  func `a position is found again from its vector`(point: Point) {
    let found = Geocentric.point(at: Geocentric.position(of: point))
    #expect(abs(found.y - point.y) < 1e-11)
    #expect(abs((found.z ?? .nan) - (point.z ?? 0)) < 1e-6)
    if abs(point.y) < 89.9 { #expect(abs(found.x - point.x) < 1e-11) }
  }

  @Test func `axes of the ellipsoid are known`() {
    #expect(Geocentric.position(of: Point(x: 0, y: 0)) == SIMD3(6_378_137, 0, 0))
    #expect(abs(Geocentric.position(of: Point(x: 0, y: 90)).z - 6_356_752.314245) < 1e-6)
    // PROJ: echo 12 55 100 | cct +proj=cart +ellps=WGS84
    let place = Geocentric.position(of: Point(x: 12, y: 55, z: 100))
    #expect(abs(place.x - 3_586_525.5) < 1 && abs(place.y - 762_339.6) < 1 && abs(place.z - 5_201_465.4) < 1)
  }

  @Test func `a ray straight down meets the ellipsoid below, one that looks up does not`() throws {
    let eye = Geocentric.position(of: Point(x: 30, y: 40, z: 1000))
    let up = Geocentric.axes(longitude: 30, latitude: 40).up
    let below = try #require(Geocentric.crossing(from: eye, along: -1 * up, raisedBy: 0))
    #expect(abs(below.near - 1000) < 1e-6)
    let above = try #require(Geocentric.crossing(from: eye, along: up, raisedBy: 0))
    #expect(above.near < 0 && above.far < 0)
  }
}
