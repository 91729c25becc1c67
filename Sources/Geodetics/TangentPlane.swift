// The plane that touches the ellipsoid at a place, for what is small.

import Geometry
import Platform

/// A plane in metres to the east and to the north of a place, with each position of WGS 84 straight above or below it.
///
/// Within `r` metres of the place and the mean radius of curvature R, lengths are off by less than r²/2R² of them, and a geodesic by less
/// than r³/2R² from the straight line between its ends: a great circle at an angle d from the place is seen as an ellipse with the
/// semi-axes R and R sin d.
public struct TangentPlane: Sendable {
  private let longitude: Double
  private let (sine, cosine): (Double, Double)
  private let center: SIMD3<Double>
  /// The ellipsoid with its axis made longer is a sphere: the squared length of the vector to the north then, and of the one upward, whose
  /// products with the one to the north and with the center are there, too.
  private let (north, upward, slope, height): (Double, Double, Double, Double)
  /// The square of the mean radius of curvature.
  private let mean: Double
  private static let stretch = pow(Geocentric.equator / Geocentric.polar, 2)
  /// The least radius of curvature, of the meridian at the equator.
  private static let least = Geocentric.polar * Geocentric.polar / Geocentric.equator

  /// - Parameter place: longitude and latitude in degrees, no pole.
  public init(at place: Point) {
    longitude = place.x
    let latitude = place.y * .pi / 180
    (sine, cosine) = (sin(latitude), cos(latitude))
    center = Geocentric.position(of: Point(x: 0, y: place.y))
    north = sine * sine + Self.stretch * cosine * cosine
    upward = cosine * cosine + Self.stretch * sine * sine
    slope = sine * cosine * (Self.stretch - 1)
    height = center.x * cosine + center.z * sine * Self.stretch
    mean = pow(Geocentric.polar / (cosine * cosine + sine * sine / Self.stretch), 2)
  }

  /// How far what is within `reach` metres of the place may be off in metres, of lines and of lengths up to the reach.
  public static func error(_ reach: Double) -> Double { reach * reach * reach / (least * least) }

  public func position(longitude x: Double, latitude y: Double) -> SIMD2<Double> {
    let place = Geocentric.position(of: Point(x: x - longitude, y: y)) - center
    return SIMD2(place.y, cosine * place.z - sine * place.x)
  }

  /// Longitude and latitude of the place of the ellipsoid at a position.
  public func place(east x: Double, north y: Double) -> SIMD2<Double> {
    // With the axis made longer, what is to be found is on a sphere: the height solves z² upward + 2 b z + d = 0.
    let d = x * x + y * y * north
    let b = height + y * slope
    let z = -d / (b + (b * b - upward * d).squareRoot())
    let (out, axis) = (center.x - y * sine + z * cosine, center.z + y * cosine + z * sine)
    let around = (out * out + x * x).squareRoot()
    return SIMD2(longitude + atan2(x, out) * 180 / .pi, atan2(axis * Self.stretch, around) * 180 / .pi)
  }

  /// The place to which a geodesic leads. The arc is seen shorter than it is; off by less than a five-hundredth of ``error(_:)``.
  public func place(azimuth: Double, distance: Double) -> SIMD2<Double> {
    let seen = distance * (1 - distance * distance / (6 * mean))
    let (sine, cosine) = Angle.unit(degrees: azimuth)
    return place(east: seen * sine, north: seen * cosine)
  }
}
