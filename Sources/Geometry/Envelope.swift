// The axis-aligned box of indexes, extents and box queries.

/// An axis-aligned box, edges included, in the units of a spatial reference that its container names.
///
/// `xMin > xMax` is a box that crosses the antimeridian (only meaningful in geographic references): see ``split(at:)``.
public struct Envelope: Hashable, Sendable {
  public var xMin: Double
  public var yMin: Double
  public var xMax: Double
  public var yMax: Double

  @inlinable
  public init(xMin: Double, yMin: Double, xMax: Double, yMax: Double) {
    self.xMin = xMin
    self.yMin = yMin
    self.xMax = xMax
    self.yMax = yMax
  }

  /// The empty box: including a position gives the box of that position.
  public static let none = Envelope(xMin: .infinity, yMin: .infinity, xMax: -.infinity, yMax: -.infinity)

  /// Whether all its numbers are finite.
  public var isFinite: Bool { xMin.isFinite && yMin.isFinite && xMax.isFinite && yMax.isFinite }
  /// Whether it is ``none``.
  @inlinable public var isNone: Bool { xMin == .infinity && xMax == -.infinity }
  @inlinable public var width: Double { xMax - xMin }
  @inlinable public var height: Double { yMax - yMin }
  @inlinable public var center: Point { Point(x: (xMin + xMax) / 2, y: (yMin + yMax) / 2) }

  @inlinable
  public mutating func include(x: Double, y: Double) {
    if x < xMin { xMin = x }
    if x > xMax { xMax = x }
    if y < yMin { yMin = y }
    if y > yMax { yMax = y }
  }

  @inlinable
  public mutating func include(_ other: Envelope) {
    if other.xMin < xMin { xMin = other.xMin }
    if other.xMax > xMax { xMax = other.xMax }
    if other.yMin < yMin { yMin = other.yMin }
    if other.yMax > yMax { yMax = other.yMax }
  }

  @inlinable
  public func intersects(_ other: Envelope) -> Bool {
    other.xMin <= xMax && other.xMax >= xMin && other.yMin <= yMax && other.yMax >= yMin
  }

  package func moved(byX shift: Double) -> Envelope {
    Envelope(xMin: xMin + shift, yMin: yMin, xMax: xMax + shift, yMax: yMax)
  }

  @inlinable
  public func contains(x: Double, y: Double) -> Bool {
    x >= xMin && x <= xMax && y >= yMin && y <= yMax
  }

  @inlinable
  public func contains(_ other: Envelope) -> Bool {
    other.xMin >= xMin && other.xMax <= xMax && other.yMin >= yMin && other.yMax <= yMax
  }

  /// A box that crosses the antimeridian as one with `xMin <= xMax`, its east edge moved east by whole turns; any other box
  /// unchanged.
  ///
  /// - Parameter width: the width of the world, which is the period of x.
  public func unrolled(around width: Double) -> Envelope {
    guard xMin > xMax else { return self }
    var box = self
    box.xMax += ((xMin - xMax) / width).rounded(.up) * width
    return box
  }

  /// Whether x are longitudes in degrees that do not exceed the world.
  package var isInDegrees: Bool { min(xMin, xMax) >= -180 && max(xMin, xMax) <= 180 }

  /// The box, or the two parts of a box that crosses the antimeridian at ±`limit` (180 in degrees).
  public func split(at limit: Double) -> [Envelope] {
    guard xMin > xMax else { return [self] }
    return [
      Envelope(xMin: xMin, yMin: yMin, xMax: limit, yMax: yMax),
      Envelope(xMin: -limit, yMin: yMin, xMax: xMax, yMax: yMax),
    ]
  }
}

extension Geometry {
  /// A box in degrees as a polygon, or as two polygons if it crosses the antimeridian.
  public init(_ box: Envelope) {
    let polygons = box.split(at: 180).map { part in
      [
        Positions(values: [
          part.xMin, part.yMin, part.xMax, part.yMin, part.xMax, part.yMax, part.xMin, part.yMax, part.xMin, part.yMin,
        ])
      ]
    }
    self = polygons.count == 1 ? .polygon(polygons[0]) : .multiPolygon(polygons)
  }
}
