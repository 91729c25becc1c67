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

  @Test func `outer rings turn counterclockwise, holes clockwise, with their Z`() {
    let clockwise = Positions(values: [0, 0, 1, 0, 4, 2, 4, 4, 3, 4, 0, 4, 0, 0, 1], hasZ: true)
    let counterclockwise = Positions(values: [0, 0, 1, 4, 0, 4, 4, 4, 3, 0, 4, 2, 0, 0, 1], hasZ: true)
    let wanted = Geometry.polygon([counterclockwise, clockwise])
    for rings in [[clockwise, counterclockwise], [clockwise, clockwise], [counterclockwise, clockwise]] {
      #expect(Geometry.polygon(rings).withRightHandRings == wanted)
      #expect(
        Geometry.collection([.multiPolygon([rings])]).withRightHandRings
          == .collection([.multiPolygon([[counterclockwise, clockwise]])]))
    }
    #expect(Geometry.polygon([Positions(), Positions(hasM: true)]).withRightHandRings.isEmpty)
    #expect(Geometry.lineString(clockwise).withRightHandRings == .lineString(clockwise))
  }
}
