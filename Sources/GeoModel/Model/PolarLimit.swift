// Maps whose poles lie at infinity, as in Web Mercator: how far north and south they are shown.

import Geometry

/// The parallels at which such a map ends, so that boxes up to a pole have a size.
public struct PolarLimit: Hashable, Sendable {
  /// Degrees: where Web Mercator's y is its x at 180 degrees, so that the world is a square: atan(sinh(pi)).
  public static let latitude = 85.0511287798066
  /// The same in map units, of the south and the north.
  let y: ClosedRange<Double>

  /// Nil for a reference whose poles have a place, or in which parallels are no straight lines.
  public init?(_ info: SpatialReferenceInfo, _ transformer: any CoordinateTransformer) {
    guard info.kind != .geographic else { return nil }
    guard info.reference != .webMercator else {
      y = -WorldWrap.webMercatorReach...WorldWrap.webMercatorReach
      return
    }
    func place(_ longitude: Double, _ latitude: Double) -> Point? {
      try? transformer.transform(Point(x: longitude, y: latitude), from: .wgs84, to: info.reference)
    }
    // Cylindrical projections alone keep a distance along the equator at all latitudes.
    guard let west = place(10, 0), let east = place(75, 0), let north = place(10, Self.latitude),
      let other = place(75, Self.latitude), let south = place(10, -Self.latitude),
      abs((other.x - north.x) - (east.x - west.x)) < abs(east.x - west.x) * 1e-9, south.y < west.y, west.y < north.y
    else { return nil }
    // Five degrees more are a sixteenth of the way, or else without end: at 89.9 degrees Mercator is more than twice as far.
    let nearPole = place(10, 89.9).map { $0.y - west.y } ?? .infinity
    guard nearPole > (north.y - west.y) * 1.5 else { return nil }
    y = south.y...north.y
  }

  /// A geometry in degrees without what lies beyond.
  func clamped(degrees geometry: Geometry) -> Geometry { clamped(geometry, -Self.latitude...Self.latitude) }

  /// A geometry in map units without what lies beyond.
  func clamped(_ geometry: Geometry) -> Geometry { clamped(geometry, y) }

  /// A place in degrees, at the edge where it lies beyond. What lies beyond the pole is none, and stays.
  func clamped(degrees point: Point) -> Point {
    abs(point.y) <= 90 ? Self.clamped(point, -Self.latitude...Self.latitude) : point
  }

  /// A place in map units, at the edge where it lies beyond.
  func clamped(_ point: Point) -> Point { Self.clamped(point, y) }

  private static func clamped(_ point: Point, _ range: ClosedRange<Double>) -> Point {
    guard point.y < range.lowerBound || point.y > range.upperBound else { return point }
    return Point(x: point.x, y: min(max(point.y, range.lowerBound), range.upperBound), z: point.z)
  }

  /// A box in map units without what lies beyond; at an edge where it lies beyond that, or ends at it but for rounding.
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
  /// The latitudes that lie within reach in a map that is no rectangle: up to ``latitude`` where the pole lies at infinity; nil for all.
  static func latitudes(
    near info: SpatialReferenceInfo, _ transformer: any CoordinateTransformer
  ) -> ClosedRange<Double>? {
    guard info.kind != .geographic else { return nil }
    // Rounding gives poles at infinity a place 1e20 metres away and more; the farthest that has one is not a billionth of that.
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
  /// The box around a box in another reference; where the poles of that one lie at infinity, no further than its limits.
  public func bounds(
    of box: Envelope, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> Envelope {
    guard source != target, let limit = PolarLimit(try transformer.describe(target), transformer) else {
      return try transformer.bounds(of: box, from: source, to: target)
    }
    var box = box
    if try transformer.describe(source).kind == .geographic { box.clamp(-PolarLimit.latitude...PolarLimit.latitude) }
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
