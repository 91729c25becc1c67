// Sources of locations, and the one that goes along a line by itself.

import Geometry

/// Where something is. Null is "not known".
public struct Location: Hashable, Sendable {
  public var timestamp: Instant?
  /// Longitude and latitude in degrees on WGS 84.
  public var position: Point?
  /// Metres.
  public var horizontalAccuracy = 0.0
  public var verticalAccuracy = 0.0
  /// Metres a second.
  public var speed: Double?
  /// Degrees clockwise from true north.
  public var course: Double?
  public var isLastKnown = false
}

/// Whether a source runs.
public enum LocationStatus: Hashable, Sendable {
  case stopped, starting, started, stopping
  case failedToStart(Failure)
}

/// A line on the ellipsoid that is gone along at a steady velocity.
struct Drive: Sendable {
  struct Segment: Sendable {
    let start: Point
    let azimuth: Double
    /// Metres, and metres before it.
    let length: Double
    let before: Double
  }
  let segments: [Segment]
  let end: Point
  let endAzimuth: Double

  var length: Double { segments.last.map { $0.before + $0.length } ?? 0 }

  /// - Returns: nil when no two positions of the line differ.
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
        Segment(start: start, azimuth: geodesic.startAzimuth, length: geodesic.distance, before: before))
      before += geodesic.distance
      last = (end, geodesic.endAzimuth)
    }
    guard !segments.isEmpty else { return nil }
    self.segments = segments
    end = last.point
    endAzimuth = last.azimuth
  }

  /// Where it is after so many metres, and which way it goes there.
  ///
  /// - Complexity: logarithmic in the line's positions.
  func position(at distance: Double, _ geodesy: any Geodesy) throws(TransformError) -> (Point, course: Double) {
    guard distance < length else { return (end, endAzimuth) }
    var low = 0
    var high = segments.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if segments[middle].before <= distance { low = middle } else { high = middle }
    }
    let segment = segments[low]
    let rest = max(0, distance - segment.before)
    guard rest > 0 else { return (Point(x: segment.start.x, y: segment.start.y), segment.azimuth) }
    let (point, azimuth) = try geodesy.direct(from: segment.start, azimuth: segment.azimuth, distance: rest)
    return (point, azimuth)
  }
}

/// A source of locations. So far all are simulated.
public struct LocationSource: Sendable {
  public let id: LocationSourceID
  public var revision = 0
  /// Metres a second.
  public let velocity: Double
  /// Seconds between two locations.
  public let interval: Double
  public let loops: Bool
  /// The object with which it is closed.
  public let owner: ObjectReference?
  public internal(set) var status = LocationStatus.stopped
  public internal(set) var location: Location?
  let drive: Drive
  /// The first location's timestamp; the clock's at its first start when nil.
  let startTime: Instant?
  /// Locations given so far.
  var emitted = 0
  /// While it runs: when the location numbered ``emitted`` is due, counted from here.
  var resumedAt: Instant?
  public var isRunning: Bool { resumedAt != nil }
  var emittedAtResume = 0
  var firstTimestamp: Instant?

  /// Whether it has given the location at its line's end.
  var hasEnded: Bool { !loops && emitted > 0 && Double(emitted - 1) * interval * velocity >= drive.length }

  /// When the next location is due, while it runs.
  var nextTime: Instant? {
    resumedAt?.advanced(by: Double(emitted - emittedAtResume) * interval)
  }
}
