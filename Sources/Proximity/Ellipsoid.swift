// Lower bounds of distances on the ellipsoid, which are cheaper to compute than the distances.

import Platform
import SpatialIndex

/// The WGS 84 ellipsoid.
enum Ellipsoid {
  /// Semi-major axis in metres.
  static let a = 6_378_137.0
  static let f = 1 / 298.257_223_563
  /// Semi-minor axis in metres: the radius of the largest ball inside the ellipsoid.
  static let b = a * (1 - f)
  private static let e2 = f * (2 - f)
  static let radian = Double.pi / 180
  /// Factor that reduces bounds by more than rounding can increase them.
  static let slack = 1 - 1e-12

  /// The least length of a degree of latitude, which is at the equator: a path spans at most its length divided by this, in
  /// degrees.
  static let leastDegree = a * (1 - e2) * radian * slack

  /// The lengths of a degree of longitude and of latitude at a latitude: an estimate for nearby places, not a bound.
  static func degree(at latitude: Double) -> SIMD2<Double> {
    let sine = sin(latitude * radian)
    let square = 1 - e2 * sine * sine
    let across = a / square.squareRoot()
    return SIMD2(across * abs(cos(latitude * radian)), across * (1 - e2) / square) * radian
  }

  /// Lengths of a degree of longitude and of latitude with which planar distance never exceeds ellipsoidal distance, for all
  /// positions within `reach` metres of a latitude.
  ///
  /// A path of that length stays at latitudes where a degree of longitude is at least that long, so by the triangle inequality it
  /// is at least as long as the straight line between its ends. If the path may cross a pole, the length of a degree of longitude
  /// is 0.
  static func leastDegree(around latitude: Double, within reach: Double) -> SIMD2<Double> {
    let farthest = abs(latitude) + reach / leastDegree
    return SIMD2(farthest < 90 ? a * radian * cos(farthest * radian) * slack : 0, leastDegree)
  }

  /// The unit vector from the centre to a position on the surface, as distance from the axis and height above the equator.
  static func direction(latitude: Double) -> SIMD2<Double> {
    let angle = latitude * radian
    let way = SIMD2(abs(cos(angle)), (1 - e2) * sin(angle))
    return way / (way * way).sum().squareRoot()
  }
}

/// A place from which distances are measured, with lower bounds at any distance.
struct EllipsoidPlace {
  /// Longitude and latitude in degrees.
  let position: SIMD2<Double>
  private let direction: SIMD2<Double>

  init(_ position: SIMD2<Double>) {
    self.position = position
    direction = Ellipsoid.direction(latitude: position.y)
  }

  /// A lower bound of the distance to a box in degrees, in metres.
  ///
  /// The ball of radius `b` is inside the ellipsoid. Projecting to the nearest position of a convex body makes no path longer,
  /// and for a ball the projection follows the direction from its centre. So the distance is at least the arc between the
  /// directions, times `b`. The directions of the box are on arcs between two latitudes, whose nearest meridian is `turn` away.
  /// The chord to such an arc has a part across the plane of that meridian and a part within it, where the arc is within a
  /// rectangle.
  func bound(_ box: IndexedBox) -> Double {
    let turn = turn(to: box) * Ellipsoid.radian
    let low = Ellipsoid.direction(latitude: max(box.lower.y, -90))
    let high = Ellipsoid.direction(latitude: min(box.upper.y, 90))
    let isOverEquator = box.lower.y < 0 && box.upper.y > 0
    let radii = (min(low.x, high.x), isOverEquator ? 1 : max(low.x, high.x))
    let across = direction.x * sin(turn)
    let along = Self.gap(direction.x * cos(turn), radii.0, radii.1)
    let up = Self.gap(direction.y, low.y, high.y)
    let chord = (across * across + along * along + up * up).squareRoot()
    // Rounding of the chord is absolute: a micrometre on the ellipsoid is far more.
    return max(2 * Ellipsoid.b * asin(min(chord / 2, 1)) * Ellipsoid.slack - 1e-6, 0)
  }

  /// The least difference of longitudes, in 0...180 degrees, independent of whole turns.
  private func turn(to box: IndexedBox) -> Double {
    let width = box.upper.x - box.lower.x
    guard width < 360 else { return 0 }
    var offset = (position.x - box.lower.x).truncatingRemainder(dividingBy: 360)
    if offset < 0 { offset += 360 }
    return offset <= width ? 0 : min(offset - width, 360 - offset)
  }

  private static func gap(_ value: Double, _ low: Double, _ high: Double) -> Double {
    max(max(low - value, value - high), 0)
  }
}
