// The plane in which points are clustered: Web Mercator's square, or a reference's own plane, with sides of 2^32 units.

import Geometry
import Platform

/// Conversion of a reference's positions to coordinates of the plane, and back.
public enum ClusterPlane: Hashable, Sendable {
  /// Longitudes and latitudes in degrees, on Web Mercator's square.
  case degrees
  /// Web Mercator.
  case mercator
  /// Any other reference, in its own plane: a square around the origin, twice as wide as Web Mercator's.
  case own(metersPerUnit: Double)

  /// The circumference of Web Mercator's sphere, metres.
  public static let width = 2 * 6_378_137 * Double.pi
  private static let side = 0x1p32

  /// The width of the plane in widths of Web Mercator's square, for which zooms are defined.
  private var turns: Double { if case .own = self { 2 } else { 1 } }

  /// Settings in which a radius has the same size on the screen as in Web Mercator.
  public func settings(_ settings: ClusterSettings) -> ClusterSettings {
    ClusterSettings(radius: settings.radius / turns, maxZoom: settings.maxZoom)
  }

  /// The coordinate of a fraction of the side. Fractions beyond an edge are clamped to it, NaN to the first.
  private static func coordinate(_ fraction: Double) -> UInt32 {
    fraction > 0 ? UInt32(min((fraction * side).rounded(.down), side - 1)) : 0
  }

  /// Longitude reduced to one turn.
  private static func longitude(_ x: Double) -> Double {
    guard abs(x) > 180 else { return x }
    return x - ((x + 180) / 360).rounded(.down) * 360
  }

  /// - Parameters: finite.
  public func coordinates(x: Double, y: Double) -> (x: UInt32, y: UInt32) {
    switch self {
    case .degrees:
      return (Self.coordinate(Self.longitude(x) / 360 + 0.5), Self.coordinate(Self.north(y)))
    case .mercator:
      return (Self.coordinate(x / Self.width + 0.5), Self.coordinate(0.5 - y / Self.width))
    case .own(let unit):
      return (
        Self.coordinate(x * unit / Self.width / 2 + 0.5), Self.coordinate(0.5 - y * unit / Self.width / 2)
      )
    }
  }

  /// The distance from the northern edge as a fraction of the side: y = 1/2 - ln((1 + sin)/(1 - sin)) / 4 pi.
  ///
  /// - Parameter latitude: any number; one beyond a pole is clamped.
  private static func north(_ latitude: Double) -> Double {
    let sine = sin(min(max(latitude, -90), 90) * .pi / 180)
    return 0.5 - 0.25 * log((1 + sine) / (1 - sine)) / .pi
  }

  /// The position of the middle of a unit.
  public func position(x: UInt32, y: UInt32) -> Point {
    let (x, y) = ((Double(x) + 0.5) / Self.side - 0.5, 0.5 - (Double(y) + 0.5) / Self.side)
    switch self {
    case .degrees: return Point(x: x * 360, y: atan(sinh(2 * .pi * y)) * 180 / .pi)
    case .mercator: return Point(x: x * Self.width, y: y * Self.width)
    case .own(let unit): return Point(x: x * 2 * Self.width / unit, y: y * 2 * Self.width / unit)
    }
  }

  /// A box that contains the positions of all clusters of points in a box.
  public func positions(of points: Envelope) -> Envelope {
    // Longitudes are reduced to one turn.
    if case .degrees = self { return Envelope(xMin: -180, yMin: -90, xMax: 180, yMax: 90) }
    let box = box(points)
    let first = position(x: box.x.lowerBound, y: box.y.upperBound)
    let last = position(x: box.x.upperBound, y: box.y.lowerBound)
    return Envelope(xMin: first.x, yMin: first.y, xMax: last.x, yMax: last.y)
  }

  /// The coordinates within a box.
  public func box(_ envelope: Envelope) -> ClusterTree.Box {
    // Unlike a longitude, a box is not reduced to one turn: parts beyond the edge are cut off.
    let limit = Envelope(xMin: -180, yMin: -90, xMax: 180, yMax: 90)
    var box = envelope
    if case .degrees = self {
      (box.xMin, box.xMax) = (min(max(box.xMin, limit.xMin), limit.xMax), max(min(box.xMax, limit.xMax), limit.xMin))
      (box.yMin, box.yMax) = (min(max(box.yMin, limit.yMin), limit.yMax), max(min(box.yMax, limit.yMax), limit.yMin))
    }
    let first = coordinates(x: box.xMin, y: box.yMax)
    let last = coordinates(x: box.xMax, y: box.yMin)
    return .init(x: min(first.x, last.x)...max(first.x, last.x), y: min(first.y, last.y)...max(first.y, last.y))
  }
}
