// Lower bounds of distances on the ellipsoid, which are cheaper to compute than the distances.

import Geometry
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

  /// The same for all positions within `reach` metres of a range of latitudes.
  static func leastDegree(from low: Double, to high: Double, within reach: Double) -> SIMD2<Double> {
    let span = reach / leastDegree
    let farthest = max(abs(low), abs(high))
    let nearest = low <= 0 && high >= 0 ? 0 : max(min(abs(low), abs(high)) - span, 0)
    let sine = sin(nearest * radian)
    let square = 1 - e2 * sine * sine
    return SIMD2(
      leastDegree(around: farthest, within: reach).x, a * (1 - e2) / (square * square.squareRoot()) * radian * slack)
  }

  /// A position in space, in metres from the centre. Both poles are the same for all longitudes.
  static func position(_ place: SIMD2<Double>) -> SIMD3<Double> {
    let (turn, angle) = (place.x * radian, place.y * radian)
    let sine = sin(angle)
    let cosine = abs(place.y) == 90 ? 0 : cos(angle)
    let across = a / (1 - e2 * sine * sine).squareRoot()
    return SIMD3(across * cosine * cos(turn), across * cosine * sin(turn), across * (1 - e2) * sine)
  }

  /// The greatest distance of an edge, straight in longitude and latitude, from the chord between its ends: an eighth of the greatest second
  /// derivative (the error of linear interpolation). The distance from the axis is at most that of an end, or of the equator.
  static func sag(
    _ start: SIMD2<Double>, _ end: SIMD2<Double>, _ first: SIMD3<Double>, _ last: SIMD3<Double>
  ) -> Double {
    let way = (end - start) * radian
    let isOverEquator = start.y * end.y < 0
    let square = max(first.x * first.x + first.y * first.y, last.x * last.x + last.y * last.y)
    let axis = isOverEquator ? a : square.squareRoot()
    let (across, along) = (abs(way.x), abs(way.y))
    // The radii of curvature of the ellipsoid are up to 1.01 a.
    return 1.02 / 8 * (axis * across * across + a * along * (2 * across + along)) + 5e-8
  }

  /// An upper bound of the geodesic between positions whose chord is that long: nowhere is the ellipsoid more curved than along the meridian
  /// at the equator, and of two curves the more curved one has the shorter chord (Schur 1921).
  static func greatestArc(over chord: Double) -> Double {
    let radius = b * b / a
    return chord < 1.8 * radius ? 2 * radius * asin(chord / (2 * radius)) / slack + 1e-6 : .infinity
  }

  /// The unit vector from the centre to a position on the surface, as distance from the axis and height above the equator.
  static func direction(latitude: Double) -> SIMD2<Double> {
    let angle = latitude * radian
    let way = SIMD2(abs(cos(angle)), (1 - e2) * sin(angle))
    return way / (way * way).sum().squareRoot()
  }
}

/// A box from which distances are measured, with lower bounds at any distance.
struct EllipsoidBox {
  private let box: IndexedBox
  /// Distances from the axis, and heights above the equator, of the directions in the box.
  private let radii: (low: Double, high: Double)
  private let heights: (low: Double, high: Double)

  init(_ place: Point) {
    let position = SIMD2(place.x, place.y)
    self.init(IndexedBox(lower: position, upper: position))
  }

  init(_ box: IndexedBox) {
    self.box = box
    let low = Ellipsoid.direction(latitude: max(box.lower.y, -90))
    let high = Ellipsoid.direction(latitude: min(box.upper.y, 90))
    let isOverEquator = box.lower.y < 0 && box.upper.y > 0
    radii = (min(low.x, high.x), isOverEquator ? 1 : max(low.x, high.x))
    heights = (low.y, high.y)
  }

  /// A lower bound of the distance to another box in degrees, in metres.
  ///
  /// The ball of radius `b` is inside the ellipsoid. Projecting to the nearest position of a convex body makes no path longer,
  /// and for a ball the projection follows the direction from its centre. So the distance is at least the arc between the
  /// directions, times `b`. The directions of each box are on arcs between two latitudes; the nearest meridians are `turn` apart.
  /// The chord between such arcs has a part across the plane of one meridian and a part within it, where the arc is within a rectangle.
  func bound(_ other: IndexedBox) -> Double {
    let turn = turn(to: other) * Ellipsoid.radian
    let other = EllipsoidBox(other)
    let (sine, cosine) = (sin(turn), cos(turn))
    let across = radii.low * sine
    let along = Self.gap(
      min(radii.low * cosine, radii.high * cosine), max(radii.low * cosine, radii.high * cosine), other.radii.low,
      other.radii.high)
    let up = Self.gap(heights.low, heights.high, other.heights.low, other.heights.high)
    let chord = (across * across + along * along + up * up).squareRoot()
    // Rounding of the chord is absolute: a micrometre on the ellipsoid is far more.
    return max(2 * Ellipsoid.b * asin(min(chord / 2, 1)) * Ellipsoid.slack - 1e-6, 0)
  }

  /// The least difference of longitudes, in 0...180 degrees, independent of whole turns.
  private func turn(to other: IndexedBox) -> Double {
    let (own, width) = (box.upper.x - box.lower.x, other.upper.x - other.lower.x)
    guard own + width < 360 else { return 0 }
    var offset = (box.lower.x - other.lower.x).truncatingRemainder(dividingBy: 360)
    if offset < 0 { offset += 360 }
    return offset <= width || offset + own >= 360 ? 0 : min(offset - width, 360 - offset - own)
  }

  private static func gap(_ low: Double, _ high: Double, _ otherLow: Double, _ otherHigh: Double) -> Double {
    max(max(otherLow - high, low - otherHigh), 0)
  }
}
