// What keeps a scene's camera aimed: around a point, or at one.

import Geometry
import Platform

/// A camera at a distance from a place, which it looks at.
public struct CameraOrbit: Hashable, Sendable {
  /// In WGS 84, with its height.
  public var target: Point
  /// Direction in which the camera looks, clockwise from north at the target, in [0, 360) degrees.
  public internal(set) var heading: Double
  /// 0 from straight above, 90 along the ground.
  public internal(set) var pitch: Double
  /// Metres.
  public internal(set) var distance: Double
  /// Degrees by which the heading turns in a second.
  public internal(set) var turnRate: Double

  public init(target: Point, heading: Double, pitch: Double, distance: Double, turnRate: Double) {
    self.target = Point(x: target.x, y: target.y, z: target.z ?? 0)
    self.heading = Camera.normalized(degrees: heading)
    (self.pitch, self.distance, self.turnRate) = (pitch, distance, turnRate)
  }

  /// The pitches and distances that gestures lead to.
  static let pitches = 0.0...90
  static let distances = 1.0...1e9
  /// The heights of places, and of cameras.
  static let heights = -100_000.0...1e9

  var camera: SceneCamera {
    let (east, north, up) = Geocentric.axes(longitude: target.x, latitude: target.y)
    let (heading, pitch) = (heading * .pi / 180, pitch * .pi / 180)
    let ahead = north * cos(heading) + east * sin(heading)
    let forward = ahead * sin(pitch) - up * cos(pitch)
    return SceneCamera(
      at: Geocentric.position(of: target) - forward * distance, along: forward,
      above: ahead * cos(pitch) + up * sin(pitch), roll: 0)
  }
}

public enum CameraController: Hashable, Sendable {
  /// Around a place; panning turns the camera around it.
  case orbit(CameraOrbit)
  /// Around a place on the ellipsoid, which panning moves.
  case globe(CameraOrbit)
  /// From wherever the camera is, at a place in WGS 84.
  case lookAt(Point)

  var orbit: CameraOrbit? {
    switch self {
    case .orbit(let orbit), .globe(let orbit): orbit
    case .lookAt: nil
    }
  }

  /// The same controller around, or aimed at, another place. An orbit keeps its height where the place has none.
  func moved(to place: Point, heading: Double?) -> CameraController {
    let height = place.z.map { min(max($0, CameraOrbit.heights.lowerBound), CameraOrbit.heights.upperBound) }
    switch self {
    case .orbit(var orbit), .globe(var orbit):
      let ground = if case .globe = self { 0.0 } else { height ?? orbit.target.z }
      orbit.target = Point(x: place.x, y: place.y, z: ground)
      if let heading { orbit.heading = Camera.normalized(degrees: heading) }
      return with(orbit)
    case .lookAt(let target): return .lookAt(Point(x: place.x, y: place.y, z: height ?? target.z))
    }
  }

  /// The same kind of controller around another place, from another side.
  func with(_ orbit: CameraOrbit) -> CameraController {
    switch self {
    case .orbit: .orbit(orbit)
    case .globe: .globe(orbit)
    case .lookAt: self
    }
  }
}

extension SceneCamera {
  /// The camera at a geocentric position. Straight down, its heading is the direction of what is above on the screen.
  fileprivate init(
    at position: SIMD3<Double>, along forward: SIMD3<Double>, above: SIMD3<Double>, roll: Double
  ) {
    let place = Geocentric.point(at: position)
    let (east, north, up) = Geocentric.axes(longitude: place.x, latitude: place.y)
    let level = (forward * east).sum() * (forward * east).sum() + (forward * north).sum() * (forward * north).sum()
    let facing = level > 1e-18 ? forward : above
    self.init(
      longitude: place.x, latitude: place.y, altitude: place.z ?? 0,
      heading: atan2((facing * east).sum(), (facing * north).sum()) * 180 / .pi,
      pitch: acos(min(max(-(forward * up).sum(), -1), 1)) * 180 / .pi, roll: roll)
  }

  /// The camera turned so that it looks at a place.
  func aimed(at target: Point) -> SceneCamera {
    let eye = Geocentric.position(of: Point(x: longitude, y: latitude, z: altitude))
    let way = Geocentric.position(of: Point(x: target.x, y: target.y, z: target.z ?? 0)) - eye
    let length = (way * way).sum().squareRoot()
    guard length > 0 else { return self }
    let north = Geocentric.axes(longitude: longitude, latitude: latitude).north
    let aimed = SceneCamera(at: eye, along: way / length, above: north, roll: roll)
    return SceneCamera(
      longitude: longitude, latitude: latitude, altitude: altitude, heading: aimed.heading, pitch: aimed.pitch, roll: roll)
  }
}

extension World {
  /// Sets what keeps a scene's camera aimed, and aims it; nil leaves the camera where it is.
  ///
  /// - Throws: `cameraNeedsScene`.
  public mutating func setCameraController(of id: ViewID, to controller: CameraController?) throws(ModelError) {
    let view = try views.require(id)
    guard let controller else { return changeKnown(id) { $0.steering = nil } }
    let camera = try camera(of: controller, from: view)
    try setViewpoint(of: id, to: .camera(camera))
    let now = clock.now
    changeKnown(id) { $0.steering = Steering(controller: controller, turnedAt: now) }
  }

  private func camera(of controller: CameraController, from view: View) throws(ModelError) -> SceneCamera {
    let camera = try view.sceneCamera()
    return switch controller {
    case .orbit(let orbit), .globe(let orbit): orbit.camera
    case .lookAt(let target): camera.aimed(at: target)
    }
  }

  /// Moves the camera of a controller by a gesture.
  ///
  /// - Returns: nil if the view has none, or one that gestures move as any camera.
  mutating func steer(_ view: View, by gesture: Gesture) throws(ModelError) -> Bool? {
    guard let steering = view.steering, var orbit = steering.controller.orbit else { return nil }
    let asked = (pitch: orbit.pitch, distance: orbit.distance / gesture.factor)
    var change = (heading: -gesture.angle, pitch: 0.0)
    switch steering.controller {
    case .orbit:
      // The width of the screen is the field of view.
      let perPixel = 55 / view.screen.width
      change = (change.heading - gesture.x * perPixel, -gesture.y * perPixel)
    case .globe:
      let center = Camera(
        x: orbit.target.x, y: orbit.target.y, scale: view.camera.scale, rotation: Camera.normalized(degrees: -orbit.heading))
      let moved = view.placed(
        center.moved(
          by: Gesture(x: gesture.x, y: gesture.y), scale: center.scale, rotation: center.rotation, on: view.screen,
          metersPerUnit: view.metersPerUnit))
      orbit.target = Point(x: moved.x, y: moved.y, z: 0)
    case .lookAt: break
    }
    orbit.heading = Camera.normalized(degrees: orbit.heading + change.heading)
    orbit.pitch = min(max(asked.pitch + change.pitch, CameraOrbit.pitches.lowerBound), CameraOrbit.pitches.upperBound)
    orbit.distance = min(max(asked.distance, CameraOrbit.distances.lowerBound), CameraOrbit.distances.upperBound)
    let new = steering.controller.with(orbit)
    if case .orbit = new, locationDisplay(of: view).autoPanMode != .off {
      // Whoever goes around what moves goes on following it.
      aim(view, Steering(controller: new, turnedAt: clock.now), by: origin)
    } else {
      try setCameraController(of: view.id, to: new)
    }
    return orbit.pitch != asked.pitch + change.pitch || orbit.distance != asked.distance
  }

  /// Turns an orbit by the time that has passed.
  mutating func advanceController(of view: View) {
    guard let steering = view.steering, steering.isTurning, var orbit = steering.controller.orbit else { return }
    let now = clock.now
    orbit.heading = Camera.normalized(
      degrees: orbit.heading + orbit.turnRate * now.seconds(since: steering.turnedAt))
    aim(view, Steering(controller: steering.controller.with(orbit), turnedAt: now), by: .animation)
  }

  /// Aims a camera, whose controller goes on.
  mutating func aim(_ view: View, _ steering: Steering, by origin: Origin?) {
    guard let camera = try? camera(of: steering.controller, from: view), let flat = try? flattened(camera, on: view.screen)
    else { return }
    changeKnown(view.id, by: origin) { ($0.camera, $0.viewpoint, $0.steering) = (flat, .camera(camera), steering) }
  }
}
