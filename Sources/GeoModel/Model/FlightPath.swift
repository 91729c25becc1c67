// The path of a flight: out, across and in again, so that the picture moves evenly however far the target is.

import Platform

/// The optimal path between two windows on a plane. J. J. van Wijk and W. A. A. Nuij, "Smooth and efficient zooming and panning",
/// IEEE Symposium on Information Visualization 2003.
public struct FlightPath: Hashable, Sendable {
  /// Length in the metric of the paper, in which zooming costs as much as panning.
  public let length: Double
  private let distance: Double
  private let widths: (from: Double, to: Double)
  private let rho: Double
  /// The path's parameter r at its start.
  private let start: Double

  /// - Parameters:
  ///   - distance: between the centers, in the units of the widths.
  ///   - from: the width of the window at the start, greater than 0.
  ///   - to: that at the end.
  ///   - rho: how far the path zooms out; the paper's test subjects preferred 1.42.
  public init(distance: Double, from: Double, to: Double, rho: Double) {
    // From or to a point, the way would be endless.
    let least = 1e-12 * max(distance, from, to)
    let (from, to) = (max(from, least), max(to, least))
    (widths, self.rho) = ((from, to), rho)
    // Without a distance the path only zooms; a tiny one would overflow.
    guard distance > 1e-12 * max(from, to) else {
      (self.distance, start, length) = (0, 0, abs(log(to / from)) / rho)
      return
    }
    let square = rho * rho
    let (grown, way) = ((to - from) * (to + from), square * square * distance * distance)
    start = -asinh((grown + way) / (2 * from * square * distance))
    let end = -asinh((grown - way) / (2 * to * square * distance))
    length = (end - start) / rho
    self.distance = distance
  }

  /// The part of the distance that is covered at a part of the length, and the width there as a multiple of the first.
  public func position(at part: Double) -> (way: Double, zoom: Double) {
    guard distance > 0 else { return (part, pow(widths.to / widths.from, part)) }
    let angle = part * length * rho
    // u(s) of the paper, without its difference of large numbers.
    let way = widths.from / (rho * rho) * sinh(angle) / cosh(angle + start)
    return (way / distance, cosh(start) / cosh(angle + start))
  }

  public static func == (path: FlightPath, other: FlightPath) -> Bool {
    path.widths == other.widths && path.distance == other.distance && path.rho == other.rho
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(distance)
    hasher.combine(widths.from)
  }
}
