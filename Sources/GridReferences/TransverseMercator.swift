// The two conformal projections of UTM and UPS on WGS 84.

import Geometry
import Platform

/// Conformal latitudes, by tangents.
enum Conformal {
  static let a = 6_378_137.0
  static let f = 1 / 298.257223563
  static let e2 = f * (2 - f)
  static let e = e2.squareRoot()

  /// The tangent of the conformal latitude. C. F. F. Karney, "Transverse Mercator with an accuracy of a few nanometers", J. Geodesy 85,
  /// 475-485, 2011, equations 7 to 9.
  static func conformal(_ tangent: Double) -> Double {
    let secant = hypot(1, tangent)
    let sigma = sinh(e * atanh(e * tangent / secant))
    return tangent * hypot(1, sigma) - sigma * secant
  }

  /// The inverse, by Newton's method (equations 19 to 21 there).
  static func geographic(_ conformal: Double) -> Double {
    var tangent = conformal / (1 - e2)
    guard tangent.isFinite, abs(tangent) < 1e12 else { return conformal * exp(e * atanh(e)) }
    for _ in 0..<5 {
      let found = self.conformal(tangent)
      let step = (conformal - found) / hypot(1, found) * (1 + (1 - e2) * tangent * tangent) / ((1 - e2) * hypot(1, tangent))
      tangent += step
      if abs(step) < 1e-15 * max(1, abs(tangent)) { break }
    }
    return tangent
  }
}

/// Sine and cosine of degrees, exact at multiples of 90.
func sineAndCosine(_ degrees: Double) -> (sine: Double, cosine: Double) {
  let quarter = (degrees / 90).rounded()
  let rest = (degrees - 90 * quarter) * .pi / 180
  let (s, c) = (sin(rest), cos(rest))
  switch Int(quarter) & 3 {
  case 0: return (s, c)
  case 1: return (c, -s)
  case 2: return (-s, -c)
  default: return (-c, s)
  }
}

/// The transverse Mercator projection by Krueger's series to the sixth power of the third flattening, as Karney (2011) gives it in equations
/// 11, 12, 35 and 36: errors are below 5 nm within 3,900 km of the central meridian.
enum TransverseMercator {
  private static let n = Conformal.f / (2 - Conformal.f)
  /// Metres for each radian of the rectifying latitude, times the scale 0.9996 of UTM.
  private static let unit = 0.9996 * Conformal.a / (1 + n) * (1 + n * n * (1.0 / 4 + n * n * (1.0 / 64 + n * n / 256)))

  private static func series(_ coefficients: [[Double]]) -> [Double] {
    coefficients.enumerated().map { order, terms in terms.reversed().reduce(0) { ($0 + $1) * n } * pow(n, Double(order)) }
  }
  private static let forth = series([
    [1 / 2, -2 / 3, 5 / 16, 41 / 180, -127 / 288, 7891 / 37800],
    [13 / 48, -3 / 5, 557 / 1440, 281 / 630, -1_983_433 / 1_935_360],
    [61 / 240, -103 / 140, 15061 / 26880, 167_603 / 181_440],
    [49561 / 161_280, -179 / 168, 6_601_661 / 7_257_600],
    [34729 / 80640, -3_418_889 / 1_995_840],
    [212_378_941 / 319_334_400],
  ])
  private static let back = series([
    [1 / 2, -2 / 3, 37 / 96, -1 / 360, -81 / 512, 96199 / 604_800],
    [1 / 48, 1 / 15, -437 / 1440, 46 / 105, -1_118_711 / 3_870_720],
    [17 / 480, -37 / 840, -209 / 4480, 5569 / 90720],
    [4397 / 161_280, -11 / 504, -830_251 / 7_257_600],
    [4583 / 161_280, -108_847 / 3_991_680],
    [20_648_693 / 638_668_800],
  ])

  private static func sum(_ coefficients: [Double], _ xi: Double, _ eta: Double) -> (xi: Double, eta: Double) {
    coefficients.enumerated().reduce(into: (0.0, 0.0)) { sum, term in
      let turn = Double(2 * (term.offset + 1))
      sum.0 += term.element * sin(turn * xi) * cosh(turn * eta)
      sum.1 += term.element * cos(turn * xi) * sinh(turn * eta)
    }
  }

  /// Metres east of the meridian and north of the equator.
  static func project(latitude: Double, meridian degrees: Double) -> SIMD2<Double> {
    let (sine, cosine) = sineAndCosine(latitude)
    let tangent = Conformal.conformal(sine / cosine)
    let (east, along) = sineAndCosine(degrees)
    let (xi, eta) = (atan2(tangent, along), asinh(east / hypot(tangent, along)))
    let more = sum(forth, xi, eta)
    return SIMD2(eta + more.eta, xi + more.xi) * unit
  }

  /// Degrees from the meridian, and the latitude.
  static func place(_ position: SIMD2<Double>) -> Point {
    let (eta, xi) = (position.x / unit, position.y / unit)
    let less = sum(back, xi, eta)
    let (s, c) = (sinh(eta - less.eta), cos(xi - less.xi))
    let tangent = Conformal.geographic(sin(xi - less.xi) / hypot(s, c))
    return Point(x: atan2(s, c) * 180 / .pi, y: atan(tangent) * 180 / .pi)
  }
}

/// The polar stereographic projection of UPS, with the scale 0.994 at the pole (Snyder, "Map projections", 1987, equations 21-33 and 21-34).
enum PolarStereographic {
  private static let unit = 2 * 0.994 * Conformal.a / ((1 - Conformal.e2).squareRoot() * exp(Conformal.e * atanh(Conformal.e)))

  /// Metres from the pole, y away from longitude 0 in the north and towards it in the south.
  static func project(_ point: Point, isNorth: Bool) -> SIMD2<Double> {
    let latitude = isNorth ? point.y : -point.y
    let (sine, cosine) = sineAndCosine(latitude)
    let tangent = cosine == 0 ? Double.infinity : Conformal.conformal(sine / cosine)
    let radius = tangent == .infinity ? 0 : unit / (hypot(1, tangent) + tangent)
    let (east, along) = sineAndCosine(point.x)
    return SIMD2(radius * east, isNorth ? -radius * along : radius * along)
  }

  static func place(_ position: SIMD2<Double>, isNorth: Bool) -> Point {
    let radius = hypot(position.x, position.y)
    guard radius > 0 else { return Point(x: 0, y: isNorth ? 90 : -90) }
    let part = radius / unit
    let latitude = atan(Conformal.geographic((1 / part - part) / 2)) * 180 / .pi
    return Point(
      x: atan2(position.x, isNorth ? -position.y : position.y) * 180 / .pi, y: isNorth ? latitude : -latitude)
  }
}
