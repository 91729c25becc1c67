// Bounds of distances on the ellipsoid: they cost less than the distance, and are never greater.

import Geometry
import Platform
import SpatialIndex

/// The WGS 84 ellipsoid.
enum Ellipsoid {
  /// Half of the greater axis, in metres.
  static let a = 6_378_137.0
  static let f = 1 / 298.257_223_563
  /// Half of the smaller axis: the radius of the greatest ball inside.
  static let b = a * (1 - f)
  private static let e2 = f * (2 - f)
  static let radian = Double.pi / 180
  /// Takes off more than rounding adds.
  static let slack = 1 - 1e-12

  /// The least length of a degree of latitude, that at the equator. A path of a length spans at most as many latitudes as it has of these.
  static let leastDegree = a * (1 - e2) * radian * slack

  /// The length of a degree of longitude and of latitude at a latitude: a guess for places nearby, no bound.
  static func degree(at latitude: Double) -> SIMD2<Double> {
    let sine = sin(latitude * radian)
    let square = 1 - e2 * sine * sine
    let across = a / square.squareRoot()
    return SIMD2(across * abs(cos(latitude * radian)), across * (1 - e2) / square) * radian
  }

  /// Lengths of a degree of longitude and of latitude for which the distance in the plane is at most the distance on the ellipsoid, of
  /// all positions within `reach` metres of a latitude.
  ///
  /// A path of that length stays within a latitude at which a degree of longitude is longer; its length is then at least that of the
  /// straight line between its ends, by the triangle inequality. Where it may lead over a pole, longitudes bound nothing.
  static func leastDegree(around latitude: Double, within reach: Double) -> SIMD2<Double> {
    let farthest = abs(latitude) + reach / leastDegree
    return SIMD2(farthest < 90 ? a * radian * cos(farthest * radian) * slack : 0, leastDegree)
  }

  /// The unit vector from the centre to a position on the surface: its distance from the axis, and its height above the equator.
  static func direction(latitude: Double) -> SIMD2<Double> {
    let angle = latitude * radian
    let way = SIMD2(abs(cos(angle)), (1 - e2) * sin(angle))
    return way / (way * way).sum().squareRoot()
  }
}

/// A place that positions are measured from, with bounds that hold at any distance.
struct EllipsoidPlace {
  /// Longitude and latitude in degrees.
  let position: SIMD2<Double>
  private let direction: SIMD2<Double>

  init(_ position: SIMD2<Double>) {
    self.position = position
    direction = Ellipsoid.direction(latitude: position.y)
  }

  /// At most the distance to a box in degrees, in metres.
  ///
  /// The ball of radius `b` lies inside: going to the nearest position of a convex body makes no path longer, and on a ball that is along the
  /// direction from its centre. So a distance is at least the arc between the directions, times `b`. The directions of the box
  /// lie on arcs between two latitudes, whose nearest meridian is `turn` away; the chord to one is split into the part across that
  /// meridian's plane and the rest in it, where the arc lies within a rectangle.
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

  /// The least difference of longitudes, in 0...180 degrees, whatever turn they are written in.
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
