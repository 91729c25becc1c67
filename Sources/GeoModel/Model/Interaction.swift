// What a person does on the screen of a view, as a client with a real screen reports it.

import Geometry

/// A place on the screen in device-independent pixels, from the upper left.
public struct ScreenPosition: Hashable, Sendable {
  public let x: Double
  public let y: Double

  public init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
}

/// A movement of the picture under the fingers: what was at the anchor is then `x`, `y` pixels beside it, magnified and turned
/// around it.
public struct Gesture: Hashable, Sendable {
  public var x = 0.0
  public var y = 0.0
  /// Magnification; above 1 zooms in.
  public var factor = 1.0
  /// Clockwise, in degrees.
  public var angle = 0.0
  /// Nil for the center of the screen.
  public var anchor: ScreenPosition?

  public init(x: Double = 0, y: Double = 0, factor: Double = 1, angle: Double = 0, anchor: ScreenPosition? = nil) {
    (self.x, self.y, self.factor, self.angle, self.anchor) = (x, y, factor, angle, anchor)
  }

  var onlyZooms: Bool { x == 0 && y == 0 && angle == 0 }
}

public enum Interaction: Hashable, Sendable {
  /// - Parameter ends: whether the fingers leave the screen, and scale and rotation snap.
  case move(Gesture, ends: Bool)
  /// The velocity in pixels per second, and its decrease per second.
  case fling(x: Double, y: Double, deceleration: Double)
  case tap(Tap.Kind, at: ScreenPosition)
}

/// A tap on a view. Observers are notified of it; it is no state.
public struct Tap: Sendable {
  public enum Kind: Hashable, Sendable { case tap, doubleTap, longPress }
  public let view: ViewID
  public let kind: Kind
  public let point: ScreenPosition
  /// In the map's reference. Nil where a map in degrees has no latitude, and in a scene above the horizon, or until ``located``.
  public private(set) var location: Point?
  public let reference: SpatialReference
  public let origin: Origin
  /// What a scene showed.
  let scene: (perspective: Perspective, surface: BaseSurface)?

  init(_ kind: Kind, on view: View, at point: ScreenPosition, by origin: Origin, in world: World) {
    (self.view, self.kind, self.point, self.origin) = (view.id, kind, point, origin)
    reference = view.reference.reference
    scene = view.perspective(in: world)
    guard scene == nil else { return }
    let location = view.location(x: point.x, y: point.y)
    if view.reference.kind != .geographic || abs(location.y) <= 90 { self.location = location }
  }

  /// The tap with the point of the ground under it. Where the ground cannot be read it has none.
  ///
  /// - Returns: nil if sources may read nothing, and one would have to.
  public func located(_ transformer: any CoordinateTransformer, onlyKept: Bool) -> Tap? {
    guard let (perspective, surface) = scene else { return self }
    var tap = self
    do {
      let found = try perspective.locations(of: [point], on: surface, transformer, onlyKept: onlyKept) { false }
      guard let found else { return nil }
      tap.location = found.first ?? nil
    } catch {}
    return tap
  }
}

extension Camera {
  /// The camera after a gesture that keeps its anchor, for a scale and rotation that may have been limited.
  func moved(
    by gesture: Gesture, scale: Double, rotation: Double, on screen: Screen, metersPerUnit: Double
  ) -> Camera {
    let anchor = gesture.anchor ?? ScreenPosition(x: screen.width / 2, y: screen.height / 2)
    let held = location(x: anchor.x, y: anchor.y, on: screen, metersPerUnit: metersPerUnit)
    var moved = Camera(x: 0, y: 0, scale: scale, rotation: rotation)
    let offset = moved.location(x: anchor.x + gesture.x, y: anchor.y + gesture.y, on: screen, metersPerUnit: metersPerUnit)
    (moved.x, moved.y) = (held.x - offset.x, held.y - offset.y)
    return moved
  }
}
