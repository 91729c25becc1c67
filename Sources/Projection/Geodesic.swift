// Geodesics by the routines of C. F. F. Karney that PROJ includes (J. Geodesy 87, 43-55, 2013).

import CPROJ
import Geometry
import Platform

/// The WGS 84 ellipsoid, ready for geodesics.
///
/// `@unchecked`: the C struct is immutable once made, and lives as long as the process, as PROJ's functions do.
struct Geodesic: @unchecked Sendable {
  private let proj: UnsafePointer<cproj_functions>
  /// 400 bytes, which no call copies.
  private let ellipsoid: UnsafePointer<geod_geodesic>

  static let wgs84: Result<Geodesic, TransformError> = PROJLibrary.shared.map { library in
    let ellipsoid = UnsafeMutablePointer<geod_geodesic>.allocate(capacity: 1)
    ellipsoid.initialize(to: geod_geodesic())
    library.functions.pointee.geod_init(ellipsoid, 6_378_137, 1 / 298.257223563)
    return Geodesic(proj: library.functions, ellipsoid: UnsafePointer(ellipsoid))
  }

  static func outside(_ index: Int) -> TransformError {
    .outsideDomain(index: index, from: SpatialReference.wgs84.definition, to: "geodesic")
  }

  /// Accepts any finite longitude, and latitudes within ±90°.
  static func check(_ point: Point, _ index: Int) throws(TransformError) {
    guard point.x.isFinite, abs(point.y) <= 90 else { throw outside(index) }
  }

  func inverse(_ start: Point, _ end: Point) -> GeodesicLine {
    var distance = 0.0
    var startAzimuth = 0.0
    var endAzimuth = 0.0
    proj.pointee.geod_inverse(ellipsoid, start.y, start.x, end.y, end.x, &distance, &startAzimuth, &endAzimuth)
    return GeodesicLine(
      distance: distance, startAzimuth: Self.compass(startAzimuth), endAzimuth: Self.compass(endAzimuth))
  }

  func direct(_ start: Point, _ azimuth: Double, _ distance: Double) -> (Point, azimuth: Double) {
    var point = start
    var endAzimuth = 0.0
    proj.pointee.geod_direct(ellipsoid, start.y, start.x, azimuth, distance, &point.y, &point.x, &endAzimuth)
    return (point, Self.compass(endAzimuth))
  }

  func line(_ start: Point, _ azimuth: Double, _ distances: [Double]) -> [Point] {
    var line = geod_geodesicline()
    let wanted = UInt32(GEOD_LATITUDE.rawValue | GEOD_LONGITUDE.rawValue | GEOD_DISTANCE_IN.rawValue)
    proj.pointee.geod_lineinit(&line, ellipsoid, start.y, start.x, azimuth, wanted)
    return distances.map { distance in
      var point = start
      _ = proj.pointee.geod_genposition(
        &line, UInt32(GEOD_LONG_UNROLL.rawValue), distance, &point.y, &point.x, nil, nil, nil, nil, nil, nil)
      return point
    }
  }

  /// Without the last position of a ring, which equals the first.
  func measure(_ line: Positions, isRing: Bool) -> (length: Double, area: Double) {
    if Geometry.lineString(line).envelope.map({ $0.width >= 180 }) ?? false { return measureWide(line) }
    var polygon = geod_polygon()
    proj.pointee.geod_polygon_init(&polygon, isRing ? 0 : 1)
    let stride = line.stride
    line.values.withUnsafeBufferPointer { values in
      for base in Swift.stride(from: 0, to: values.count - (isRing ? stride : 0), by: stride) {
        proj.pointee.geod_polygon_addpoint(ellipsoid, &polygon, values[base + 1], values[base])
      }
    }
    var (area, length) = (0.0, 0.0)
    // For a line the area is not set.
    _ = proj.pointee.geod_polygon_compute(ellipsoid, &polygon, 0, 1, &area, &length)
    return (length, area)
  }

  /// A line or ring that spans half of the world or more. Sides of that width are straight in longitude and latitude, as for relations. The
  /// sum over the sides also is the area of what covers more than half of the world, of which PROJ's is that of the rest.
  private func measureWide(_ line: Positions) -> (length: Double, area: Double) {
    var sum = SIMD2(0.0, 0.0)
    let points = line.points
    for (start, end) in zip(points, points.dropFirst()) {
      if abs(end.x - start.x) >= 180 {
        sum += Self.straight(start, end)
      } else {
        var (length, area) = (0.0, 0.0)
        _ = proj.pointee.geod_geninverse(ellipsoid, start.y, start.x, end.y, end.x, &length, nil, nil, nil, nil, nil, &area)
        sum += SIMD2(length, area)
      }
    }
    return (sum.x, sum.y)
  }

  /// The length of a line that is straight in longitude and latitude, and the area between it and the equator, by Simpson's rule.
  private static func straight(_ start: Point, _ end: Point) -> SIMD2<Double> {
    let (a, f, radian) = (6_378_137.0, 1 / 298.257223563, Double.pi / 180)
    let e2 = f * (2 - f)
    let b2 = a * a * (1 - e2)
    let steps = 16
    let (east, north) = ((end.x - start.x) * radian / Double(steps), (end.y - start.y) * radian / Double(steps))
    func slope(_ part: Double) -> SIMD2<Double> {
      let latitude = start.y * radian + north * part
      let sine = sin(latitude)
      let w = 1 - e2 * sine * sine
      let (up, along) = (a * (1 - e2) / (w * w.squareRoot()) * north, a / w.squareRoot() * cos(latitude) * east)
      let authalic = b2 / 2 * (sine / w + atanh(e2.squareRoot() * sine) / e2.squareRoot())
      return SIMD2((up * up + along * along).squareRoot(), authalic * east)
    }
    var sum = SIMD2(0.0, 0.0)
    for half in 0...2 * steps {
      let weight = half == 0 || half == 2 * steps ? 1.0 : half.isMultiple(of: 2) ? 2 : 4
      sum += slope(Double(half) / 2) * weight
    }
    return sum / 6
  }

  /// Normalizes an azimuth from ±180 to [0, 360).
  private static func compass(_ azimuth: Double) -> Double {
    // A tiny negative azimuth plus 360 rounds to 360.
    let turned = azimuth < 0 ? azimuth + 360 : azimuth
    return turned >= 360 ? 0 : turned + 0
  }
}
