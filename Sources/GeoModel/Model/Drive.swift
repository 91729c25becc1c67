// The route of a simulated location source.

import Geometry
import Sorting

/// A route along a line on the ellipsoid, with lengths precomputed.
struct Drive: Sendable {
  struct Segment: Sendable {
    let start: Point
    /// Z at the end of the segment; nil if it is unknown.
    let endZ: Double?
    let azimuth: Double
    /// Length of the segment in metres; `before` is the total length of earlier segments.
    let length: Double
    let before: Double
  }
  let segments: [Segment]
  /// The last position, without M.
  let end: Point
  let endAzimuth: Double

  var length: Double { segments.last.map { $0.before + $0.length } ?? 0 }

  /// - Returns: nil if all positions of the line are equal.
  init?(_ line: Positions, _ geodesy: any Geodesy) throws(TransformError) {
    var segments: [Segment] = []
    var before = 0.0
    var last = (point: line.isEmpty ? Point(x: 0, y: 0) : line[0], azimuth: 0.0)
    for index in 1..<max(line.count, 1) {
      let start = line[index - 1]
      let end = line[index]
      let geodesic = try geodesy.inverse(from: start, to: end)
      guard geodesic.distance > 0 else { continue }
      segments.append(
        Segment(
          start: start, endZ: end.z, azimuth: geodesic.startAzimuth, length: geodesic.distance, before: before))
      before += geodesic.distance
      last = (end, geodesic.endAzimuth)
    }
    guard !segments.isEmpty else { return nil }
    self.segments = segments
    end = last.point.withoutM
    endAzimuth = last.azimuth
  }

  /// The position and direction at a distance from the start, in metres. Z changes evenly along each segment.
  ///
  /// - Complexity: O(log n) in the line's positions.
  func position(at distance: Double, _ geodesy: any Geodesy) throws(TransformError) -> (Point, course: Double) {
    guard distance < length else { return (end, endAzimuth) }
    let segment = segments[max(0, segments.partitioningIndex { $0.before > distance } - 1)]
    let rest = max(0, distance - segment.before)
    guard rest > 0 else { return (segment.start.withoutM, segment.azimuth) }
    let (point, azimuth) = try geodesy.direct(from: segment.start, azimuth: segment.azimuth, distance: rest)
    return (Point(x: point.x, y: point.y, z: segment.z(at: rest / segment.length)), azimuth)
  }
}

extension Drive.Segment {
  /// Z at a fraction of the length; nil unless both ends have one.
  fileprivate func z(at fraction: Double) -> Double? {
    guard let startZ = start.z, let endZ else { return nil }
    return startZ * (1 - fraction) + endZ * fraction
  }
}

extension Point {
  fileprivate var withoutM: Point { Point(x: x, y: y, z: z) }
}
