// Positions on WGS 84 as vectors from the center of the earth, in which lines of sight are straight.

import Platform

/// The ellipsoid WGS 84 in geocentric coordinates, in metres: x through longitude 0, z through the north pole.
public enum Geocentric {
  public static let equator = 6_378_137.0
  public static let polar = equator * (1 - 1 / 298.257223563)
  private static let eccentricity = 1 - (polar * polar) / (equator * equator)

  /// - Parameter point: degrees, and metres above the ellipsoid; 0 without `z`.
  public static func position(of point: Point) -> SIMD3<Double> {
    let (longitude, latitude) = (point.x * .pi / 180, point.y * .pi / 180)
    let normal = equator / (1 - eccentricity * sin(latitude) * sin(latitude)).squareRoot()
    let around = (normal + (point.z ?? 0)) * cos(latitude)
    return SIMD3(
      around * cos(longitude), around * sin(longitude),
      (normal * (1 - eccentricity) + (point.z ?? 0)) * sin(latitude))
  }

  /// Longitude, latitude and height. B. R. Bowring, "Transformation from spatial to geographical coordinates", Survey Review 181,
  /// 1976: with two rounds exact to nanometres between the depths of the sea and the orbits of satellites.
  public static func point(at position: SIMD3<Double>) -> Point {
    let around = (position.x * position.x + position.y * position.y).squareRoot()
    let second = (equator * equator) / (polar * polar) - 1
    // Of the angles only sines and cosines are needed, and these without the angles: a picture asks for millions of places.
    func unit(_ y: Double, _ x: Double) -> (s: Double, c: Double) {
      let norm = (x * x + y * y).squareRoot()
      return norm > 0 ? (y / norm, x / norm) : (0, 1)
    }
    var reduced = unit(position.z * equator, around * polar)
    var (up, out) = (position.z, around)
    for _ in 0..<2 {
      let (s, c) = reduced
      (up, out) = (position.z + second * polar * s * s * s, around - eccentricity * equator * c * c * c)
      reduced = unit(polar * up, equator * out)
    }
    let (s, c) = unit(up, out)
    let height = around * c + position.z * s - equator * (1 - eccentricity * s * s).squareRoot()
    return Point(
      x: atan2(position.y, position.x) * 180 / .pi, y: atan2(up, out) * 180 / .pi, z: height)
  }

  /// Unit vectors to the east, to the north and up.
  public static func axes(
    longitude: Double, latitude: Double
  ) -> (east: SIMD3<Double>, north: SIMD3<Double>, up: SIMD3<Double>) {
    let (longitude, latitude) = (longitude * .pi / 180, latitude * .pi / 180)
    let (sl, cl, sp, cp) = (sin(longitude), cos(longitude), sin(latitude), cos(latitude))
    return (SIMD3(-sl, cl, 0), SIMD3(-sp * cl, -sp * sl, cp), SIMD3(cp * cl, cp * sl, sp))
  }

  /// The distances at which a ray enters and leaves the ellipsoid, raised by a height; nil if it passes by.
  public static func crossing(
    from origin: SIMD3<Double>, along direction: SIMD3<Double>, raisedBy height: Double
  ) -> (near: Double, far: Double)? {
    let axes = SIMD3(equator + height, equator + height, polar + height)
    let (o, d) = (origin / axes, direction / axes)
    let (a, b, c) = ((d * d).sum(), (o * d).sum(), (o * o).sum() - 1)
    let discriminant = b * b - a * c
    guard discriminant >= 0 else { return nil }
    let root = discriminant.squareRoot()
    // The smaller root without cancellation.
    return b < 0 ? (c / (root - b), (root - b) / a) : (-(root + b) / a, -c / (root + b))
  }
}
