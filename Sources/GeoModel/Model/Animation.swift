// The movement of a view by the clock: its way, its timing, and how it may end.

import Geometry

/// The timing of an animation, or its way.
public enum Easing: Hashable, Sendable {
  case linear
  case easeIn
  case easeOut
  case easeInOut
  /// Evenly along a ``FlightPath``.
  case flight

  /// Progress in 0...1 for elapsed time in 0...1. Ease in is t², ease out 2t - t², which is constant deceleration; ease in and
  /// out is the cubic 3t² - 2t³.
  func progress(at time: Double) -> Double {
    switch self {
    case .linear, .flight: time
    case .easeIn: time * time
    case .easeOut: time * (2 - time)
    case .easeInOut: time * time * (3 - 2 * time)
    }
  }
}

/// What an animation is asked to do.
public struct AnimationTiming: Hashable, Sendable {
  /// In seconds; nil for 0.25, or as long as a flight takes at its speed.
  public var duration: Double?
  public var easing: Easing
  /// Of flights; see ``FlightPath``.
  public var rho: Double
  /// Of flights: length of the path per second.
  public var speed: Double
  /// Frames per second; nil for one at each tick and at each end of an advance.
  public var rate: Double?

  public init(
    duration: Double? = nil, easing: Easing = .easeInOut, rho: Double = 1.42, speed: Double = 1.2, rate: Double? = nil
  ) {
    (self.duration, self.easing, self.rho, self.speed, self.rate) = (duration, easing, rho, speed, rate)
  }

  /// The longest duration, in seconds.
  public static let longest = 3600.0

  func duration(along path: FlightPath?) -> Double {
    duration ?? min(path.map { $0.length / speed } ?? 0.25, Self.longest)
  }
}

/// An animation from one viewpoint to another, or a fling.
struct Animation: Sendable {
  /// Nil for a fling, for whose end nobody waits.
  let process: ProcessID?
  var start: Instant
  var duration: Double
  var timing: AnimationTiming
  /// The ends of the way; ``to`` may be beyond the edge of the world.
  var from: Camera
  var to: Camera
  var path: FlightPath?
  /// The cameras of a scene; set if one end is a scene camera.
  var sceneCameras: (from: SceneCamera, to: SceneCamera)?
  /// What the view gets at the end, exactly.
  var destination: (camera: Camera, viewpoint: Viewpoint)
  /// The target if it has to be fitted again to another screen.
  let fit: ViewpointTarget?
  /// Whether the limits of the map or scene moved the target.
  var isConstrained: Bool
  /// Number of the last frame at ``AnimationTiming/rate``.
  var frame = 0

  /// The number of the frame that is due after some seconds. Times are rounded to nanoseconds, so a frame may be early by some.
  func frame(after elapsed: Double) -> Int? { timing.rate.map { Int(elapsed * $0 + 1e-6) } }

  /// The part of the way, the multiple of the scale at the start, and the part of the turn.
  func position(after elapsed: Double) -> (way: Double, zoom: Double?, turn: Double) {
    let progress = timing.easing.progress(at: max(0, elapsed / duration))
    guard let (way, zoom) = path?.position(at: progress) else { return (progress, nil, progress) }
    return (way, zoom, progress)
  }
}

/// Why an animation has ended before it arrived.
public struct Interruption: Hashable, Sendable {
  public enum Cause: Hashable, Sendable {
    /// A viewpoint that was set.
    case viewpoint
    case animation
    case interaction
    /// Auto-pan.
    case location
    /// Another map or scene.
    case content
    /// The closing of the view, its document or the session.
    case closed
  }
  public let cause: Cause
  public let origin: Origin

  public init(cause: Cause, origin: Origin) { (self.cause, self.origin) = (cause, origin) }
}
