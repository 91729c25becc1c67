// Geometry values, without native libraries.

import Geometry
import Testing

@Suite struct GeometryTests {
  @Test func `an empty point has no envelope and is not absent`() {
    #expect(Geometry.point(nil).isEmpty)
    #expect(Geometry.point(nil).envelope == nil)
    #expect(Geometry.point(Point(x: 1, y: 2)).envelope == Envelope(xMin: 1, yMin: 2, xMax: 1, yMax: 2))
  }

  @Test func `a box across the antimeridian is two boxes`() {
    let box = Envelope(xMin: 170, yMin: -10, xMax: -170, yMax: 10)
    #expect(
      box.split(at: 180) == [
        Envelope(xMin: 170, yMin: -10, xMax: 180, yMax: 10), Envelope(xMin: -180, yMin: -10, xMax: -170, yMax: 10),
      ])
  }
}
