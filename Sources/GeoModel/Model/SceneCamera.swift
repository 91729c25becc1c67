// The camera of a scene, and the scale of a flat map that corresponds to it.

import Geometry
import Platform

/// A position above the ellipsoid and a direction of view.
public struct SceneCamera: Hashable, Sendable {
  /// In degrees on WGS 84.
  public let longitude: Double
  public let latitude: Double
  /// In metres above the ellipsoid.
  public let altitude: Double
  /// In degrees clockwise from north, in [0, 360).
  public let heading: Double
  /// In degrees: 0 looks straight down, 90 to the horizon, 180 straight up.
  public let pitch: Double
  /// Clockwise rotation around the line of sight, in degrees.
  public let roll: Double

  /// Makes a camera within the limits of the protocol. Computed values outside of a limit are clamped to it.
  public init(longitude: Double, latitude: Double, altitude: Double, heading: Double, pitch: Double, roll: Double) {
    func clamped(_ number: Double, _ range: ClosedRange<Double>) -> Double {
      min(max(number, range.lowerBound), range.upperBound)
    }
    self.longitude = clamped(longitude, -180...180)
    self.latitude = clamped(latitude, -90...90)
    self.altitude = clamped(altitude, Self.altitudes)
    self.heading = Camera.normalized(degrees: heading)
    self.pitch = clamped(pitch, 0...180)
    self.roll = clamped(roll, -180...180)
  }

  /// The altitudes that a camera can have, in metres.
  static let altitudes = -100_000.0...1e9
}

extension SceneCamera {
  /// Tangent of half of the horizontal field of view, which is 55 degrees.
  static let halfView = tan(27.5 * .pi / 180)
  /// Maximum pitch for computing the target point, in degrees: toward the horizon it approaches infinity.
  private static let steepest = 85.0

  /// Angle between straight down and the line of sight, in radians.
  private var slant: Double { min(pitch, Self.steepest) * .pi / 180 }
  /// Height above the ground, for which the ellipsoid is used, in metres; at least one.
  private var height: Double { max(altitude, 1) }

  /// Whether two scales differ only by rounding, since the scale of a camera is computed from its altitude.
  static func isSame(_ scale: Double, _ other: Double) -> Bool { abs(scale - other) <= 1e-9 * other }

  /// Distance along the ground to the target point, in metres.
  var reach: Double { height * tan(slant) }

  /// The scale denominator at which a flat map shows the target point in the same size as the camera does.
  ///
  /// At a distance of s metres, the width of the screen shows 2 s tan(55°/2) metres.
  func scale(on screen: Screen) -> Double {
    min(2 * (height / cos(slant)) * Self.halfView / screen.widthInMeters, Camera.scales.upperBound)
  }

  /// Height, and distance along the ground to the target point, at which the camera would have a scale.
  func offset(at scale: Double, on screen: Screen) -> (height: Double, reach: Double) {
    let height = max(scale * screen.widthInMeters / (2 * Self.halfView) * cos(slant), 1)
    return (height, height * tan(slant))
  }

  /// The camera straight above a point, at the altitude that corresponds to a scale.
  static func above(_ point: Point, scale: Double, rotation: Double, on screen: Screen) -> SceneCamera {
    SceneCamera(
      longitude: point.x, latitude: point.y, altitude: scale * screen.widthInMeters / (2 * halfView),
      heading: -rotation, pitch: 0, roll: 0)
  }

  /// Interpolates between two cameras. Angles change along the short way; altitudes above the ground change by equal ratios, or as
  /// on a flight.
  static func between(
    _ start: SceneCamera, _ end: SceneCamera, at position: (way: Double, zoom: Double?, turn: Double)
  ) -> SceneCamera {
    func even(_ from: Double, _ to: Double, _ part: Double) -> Double { from + (to - from) * part }
    var longitude = Camera.turned(start.longitude, end.longitude, at: position.way)
    if longitude > 180 { longitude -= 360 }
    if longitude < -180 { longitude += 360 }
    let (way, turn) = (position.way, position.turn)
    let isAbove = start.altitude > 0 && end.altitude > 0
    let zoom = position.zoom ?? (isAbove ? pow(end.altitude / start.altitude, turn) : nil)
    return SceneCamera(
      longitude: longitude, latitude: even(start.latitude, end.latitude, way),
      altitude: zoom.map { start.altitude * $0 } ?? even(start.altitude, end.altitude, turn),
      heading: Camera.turned(start.heading, end.heading, at: turn), pitch: even(start.pitch, end.pitch, turn),
      roll: even(start.roll, end.roll, turn))
  }

  /// The path of a flight to another camera; nil if one is not above the ground. The window is what a camera at its altitude sees
  /// straight below it.
  func flight(to end: SceneCamera, rho: Double, _ geodesy: any Geodesy) -> FlightPath? {
    guard altitude > 0, end.altitude > 0,
      let line = try? geodesy.inverse(
        from: Point(x: longitude, y: latitude), to: Point(x: end.longitude, y: end.latitude))
    else { return nil }
    return FlightPath(
      distance: line.distance, from: 2 * altitude * Self.halfView, to: 2 * end.altitude * Self.halfView, rho: rho)
  }
}

extension Screen {
  fileprivate var widthInMeters: Double { width * Camera.metersPerInch / dpi }
}

extension World {
  /// The flat camera at the target point, with the corresponding scale.
  func flattened(_ camera: SceneCamera, on screen: Screen) throws(ModelError) -> Camera {
    let nadir = Point(x: camera.longitude, y: camera.latitude)
    do {
      let target =
        camera.reach > 0 ? try geodesy.direct(from: nadir, azimuth: camera.heading, distance: camera.reach).0 : nadir
      return Camera(
        x: target.x, y: target.y, scale: camera.scale(on: screen), rotation: Camera.normalized(degrees: -camera.heading)
      )
    } catch { throw .transform(error) }
  }

  /// The camera with the pitch and roll of another that looks at the center of a flat one, at its scale.
  func sceneCamera(
    over flat: Camera, like scene: SceneCamera, on screen: Screen
  ) throws(ModelError) -> SceneCamera {
    let (height, reach) = scene.offset(at: flat.scale, on: screen)
    var (place, heading) = (flat.center, Camera.normalized(degrees: -flat.rotation))
    do {
      if reach > 0 {
        let (nadir, azimuth) = try geodesy.direct(from: place, azimuth: heading + 180, distance: reach)
        (place, heading) = (nadir, azimuth + 180)
      }
    } catch { throw .transform(error) }
    return SceneCamera(
      longitude: place.x, latitude: place.y, altitude: height, heading: heading, pitch: scene.pitch, roll: scene.roll)
  }

  /// Moves the camera along its line of sight so that the scale denominator at the target point is multiplied by `factor`, within
  /// the range of altitudes.
  func dollied(_ camera: SceneCamera, by factor: Double) throws(ModelError) -> SceneCamera {
    let height = max(camera.altitude, 1)
    let altitude = min(max(height * factor, 1), SceneCamera.altitudes.upperBound)
    guard altitude != height else { return camera }
    let factor = altitude / height
    let nadir = Point(x: camera.longitude, y: camera.latitude)
    do {
      let distance = camera.reach * (1 - factor)
      let position =
        distance == 0 ? nadir : try geodesy.direct(from: nadir, azimuth: camera.heading, distance: distance).0
      return SceneCamera(
        longitude: position.x, latitude: position.y, altitude: altitude, heading: camera.heading, pitch: camera.pitch,
        roll: camera.roll)
    } catch { throw .transform(error) }
  }
}
