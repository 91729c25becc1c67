// Small areas around small geometries, made by GEOS in a plane.

import Geodetics
import Geometry
import GeometryEngine
import Platform

extension GeodeticRegion {
  /// What ``area(around:_:mends:_:)`` is, of something so small that a plane is as exact; nil if it is not, or is invalid: what is
  /// made valid has to be so in degrees.
  ///
  /// Of the deviation a tenth is for the plane, the rest for the chords of arcs and for what is straight in the plane and not in degrees.
  func planar(around geometry: Geometry, _ distance: Double, _ calculate: borrowing GeometryCalculator) throws -> Geometry? {
    let reach = abs(distance)
    // GEOS takes positions of a curve for one that are nearer to one another than a millionth of the distance.
    guard curve == .geodesic, reach > 0, deviation >= reach / 100_000, let box = geometry.envelope else { return nil }
    let middle = Point(x: (box.xMin + box.xMax) / 2, y: (box.yMin + box.yMax) / 2)
    let size = hypot(box.width, box.yMax - box.yMin) * 112_000
    let most = size / 2 + reach
    // Of a place there is one circle. A degree of longitude has more than 15 km at these latitudes.
    guard size > 0, TangentPlane.error(most) <= min(deviation / 10, 0.01), abs(middle.y) < 80, abs(middle.x) + most / 15_000 < 180 else { return nil }
    let plane = TangentPlane(at: middle)
    let flat = geometry.moved { x, y in
      let position = plane.position(longitude: x, latitude: y)
      return (position.x, position.y)
    }
    guard !flat.hasShallowBends(reach * 0.011) else { return nil }
    let quarter = (.pi / 4 / acos(1 - min(deviation * 0.4 / reach, 1))).rounded(.up)
    let operation = GeometryOperation.buffer(
      distance, quadrantSegments: Int(quarter), cap: .round, join: .round, mitreLimit: 5, isOneSided: false)
    let made: Geometry
    do { made = try calculate(operation, [flat]).geometries[0] } catch EngineError.invalid { return nil }
    // The curvature of what is straight in degrees is at most that of a parallel, and a little of the sides of the box of degrees.
    let bend = (tan(abs(middle.y) * .pi / 180 + most / 6_300_000) + 0.2) / 6_300_000
    let longest = (8 * deviation * 0.4 / bend).squareRoot()
    return made.part(ofDimension: 2).densified(longest).moved { x, y in
      let place = plane.place(east: x, north: y)
      return (place.x, place.y)
    }
  }
}

extension Geometry {
  /// Whether a line or ring bends by so little that GEOS may leave the bend out of a buffer, which it does up to a hundredth of the distance.
  fileprivate func hasShallowBends(_ height: Double) -> Bool {
    var isShallow = false
    forEachPositions { line in
      guard !isShallow, line.count > 2 else { return }
      let (values, stride) = (line.values, line.stride)
      func place(_ index: Int) -> SIMD2<Double> { SIMD2(values[index * stride], values[index * stride + 1]) }
      var corner = place(0)
      var before = place(line.count - 1) == corner ? place(line.count - 2) : corner
      for index in 1..<line.count {
        let next = place(index)
        let (way, over) = (next - corner, next - before)
        guard way != .zero else { continue }
        if corner != before, abs(way.x * over.y - way.y * over.x) <= height * (over * over).sum().squareRoot() {
          isShallow = true
          return
        }
        (before, corner) = (corner, next)
      }
    }
    return isShallow
  }
}
