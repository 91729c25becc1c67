// Clamping of latitudes in maps whose poles are at infinity, as in Web Mercator.

import Geometry

/// The range of y to which a map with poles at infinity is clamped, so that boxes up to a pole have finite size.
public struct PolarLimit: Hashable, Sendable {
  /// Degrees. The latitude at which Web Mercator's y equals its x at 180 degrees, so that the world is a square:
  /// atan(sinh(pi)).
  public static let latitude = 85.0511287798066
  /// The range in map units, from south to north.
  let y: ClosedRange<Double>

  /// Nil for a reference with finite poles, or with curved parallels.
  public init?(_ info: SpatialReferenceInfo, _ transformer: any CoordinateTransformer) {
    guard info.kind != .geographic else { return nil }
    guard info.reference != .webMercator else {
      y = -WorldWrap.webMercatorReach...WorldWrap.webMercatorReach
      return
    }
    func projected(_ longitude: Double, _ latitude: Double) -> Point? {
      try? transformer.transform(Point(x: longitude, y: latitude), from: .wgs84, to: info.reference)
    }
    // Only cylindrical projections keep distances along the equator at all latitudes.
    guard let west = projected(10, 0), let east = projected(75, 0), let north = projected(10, Self.latitude),
      let other = projected(75, Self.latitude), let south = projected(10, -Self.latitude),
      abs((other.x - north.x) - (east.x - west.x)) < abs(east.x - west.x) * 1e-9, south.y < west.y, west.y < north.y
    else { return nil }
    // From 85 to 89.9 degrees, a projection with finite poles advances by a sixteenth; Mercator more than doubles y.
    let nearPole = projected(10, 89.9).map { $0.y - west.y } ?? .infinity
    guard nearPole > (north.y - west.y) * 1.5 else { return nil }
    y = south.y...north.y
  }

  /// Clamps the latitudes of a geometry in degrees.
  func clamped(degrees geometry: Geometry) -> Geometry { clamped(geometry, -Self.latitude...Self.latitude) }

  /// Clamps the latitudes of positions in degrees.
  public func clamped(degrees positions: Positions) -> Positions {
    Positions(positions.points.map { Self.clamped($0, -Self.latitude...Self.latitude) })
  }

  /// Clamps y of a geometry in map units.
  func clamped(_ geometry: Geometry) -> Geometry { clamped(geometry, y) }

  /// Clamps the latitude of a point. One beyond ±90° is invalid and stays unchanged.
  func clamped(degrees point: Point) -> Point {
    abs(point.y) <= 90 ? Self.clamped(point, -Self.latitude...Self.latitude) : point
  }

  /// Clamps y of a point in map units.
  func clamped(_ point: Point) -> Point { Self.clamped(point, y) }

  private static func clamped(_ point: Point, _ range: ClosedRange<Double>) -> Point {
    guard point.y < range.lowerBound || point.y > range.upperBound else { return point }
    return Point(x: point.x, y: min(max(point.y, range.lowerBound), range.upperBound), z: point.z)
  }

  /// Clamps y of a box in map units. An edge within rounding of the limit is moved onto it.
  public func clamped(_ box: Envelope) -> Envelope {
    let rounding = (y.upperBound - y.lowerBound) * 1e-12
    var box = box
    box.clamp(y)
    if box.yMin < y.lowerBound + rounding { box.yMin = y.lowerBound }
    if box.yMax > y.upperBound - rounding { box.yMax = y.upperBound }
    return box
  }

  private func clamped(_ geometry: Geometry, _ range: ClosedRange<Double>) -> Geometry {
    guard let box = geometry.envelope, box.yMin < range.lowerBound || box.yMax > range.upperBound else {
      return geometry
    }
    return geometry.mapPositions { (run) -> Positions in
      Positions(run.points.map { Point(x: $0.x, y: min(max($0.y, range.lowerBound), range.upperBound)) })
    }
  }
}

extension PolarLimit {
  /// The latitudes with a finite position in a map that is not cylindrical; nil if all have one. A pole at infinity is replaced
  /// by ``latitude``.
  static func latitudes(
    near info: SpatialReferenceInfo, _ transformer: any CoordinateTransformer
  ) -> ClosedRange<Double>? {
    guard info.kind != .geographic else { return nil }
    // Rounding puts a pole at infinity 1e20 metres away or more; the farthest finite pole is closer than 1e11 metres.
    func isFar(_ latitude: Double) -> Bool {
      guard let pole = try? transformer.transform(Point(x: 0, y: latitude), from: .wgs84, to: info.reference) else {
        return true
      }
      return max(abs(pole.x), abs(pole.y)) * (info.metersPerUnit ?? 1) > 1e11
    }
    let (isSouthFar, isNorthFar) = (isFar(-90), isFar(90))
    guard isSouthFar || isNorthFar else { return nil }
    return (isSouthFar ? -latitude : -90)...(isNorthFar ? latitude : 90)
  }
}

extension World {
  /// The bounding box in another reference, clamped if that has poles at infinity.
  public func bounds(
    of box: Envelope, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> Envelope {
    guard source != target, let limit = PolarLimit(try transformer.describe(target), transformer) else {
      return try transformer.bounds(of: box, from: source, to: target)
    }
    var box = box
    if try transformer.describe(source).isInDegrees { box.clamp(-PolarLimit.latitude...PolarLimit.latitude) }
    var result = try transformer.bounds(of: box, from: source, to: target)
    result.clamp(limit.y)
    return result
  }
}

extension Envelope {
  fileprivate mutating func clamp(_ range: ClosedRange<Double>) {
    yMin = min(max(yMin, range.lowerBound), range.upperBound)
    yMax = min(max(yMax, range.lowerBound), range.upperBound)
  }
}
