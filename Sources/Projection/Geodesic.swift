// Geodesics by the routines of C. F. F. Karney that PROJ includes (J. Geodesy 87, 43-55, 2013).

import CPROJ
import Geometry

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

  /// Without the last position of a ring, which equals the first.
  func measure(_ line: Positions, isRing: Bool) -> (length: Double, area: Double) {
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

  /// Normalizes an azimuth from ±180 to [0, 360).
  private static func compass(_ azimuth: Double) -> Double {
    // A tiny negative azimuth plus 360 rounds to 360.
    let turned = azimuth < 0 ? azimuth + 360 : azimuth
    return turned >= 360 ? 0 : turned + 0
  }
}
