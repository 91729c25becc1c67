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

  /// A camera within the limits that clients are held to: the nearest one, where a computed one is beyond.
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
  /// Tangent of half the horizontal field of view, which is 55 degrees.
  private static let halfView = tan(27.5 * .pi / 180)
  /// Maximum pitch for computing the point looked at, in degrees: near the horizon it would be at infinity.
  private static let steepest = 85.0

  /// Angle between straight down and the line of sight, in radians.
  private var slant: Double { min(pitch, Self.steepest) * .pi / 180 }
  /// In metres above the ellipsoid, which stands for the ground; at least one.
  private var height: Double { max(altitude, 1) }

  /// Whether nothing but rounding is between two scales: a camera has an altitude, from which its scale is computed.
  static func isSame(_ scale: Double, _ other: Double) -> Bool { abs(scale - other) <= 1e-9 * other }

  /// Distance along the ground to the point looked at, in metres.
  var reach: Double { height * tan(slant) }

  /// The scale denominator at which a flat map shows the point looked at as large as the camera does.
  ///
  /// At a distance of s metres, the width of the screen shows 2 s tan(55°/2) metres.
  func scale(on screen: Screen) -> Double {
    min(2 * (height / cos(slant)) * Self.halfView / screen.widthInMeters, Camera.scales.upperBound)
  }

  /// A camera straight above a point, at the altitude that corresponds to a scale.
  static func above(_ point: Point, scale: Double, rotation: Double, on screen: Screen) -> SceneCamera {
    SceneCamera(
      longitude: point.x, latitude: point.y, altitude: scale * screen.widthInMeters / (2 * halfView),
      heading: -rotation, pitch: 0, roll: 0)
  }

  /// Interpolates between two cameras, with `t` in 0...1. Angles take the short way; altitudes above the ground change
  /// by equal ratios.
  static func between(_ start: SceneCamera, _ end: SceneCamera, at t: Double) -> SceneCamera {
    func even(_ from: Double, _ to: Double) -> Double { from + (to - from) * t }
    var longitude = Camera.turned(start.longitude, end.longitude, at: t)
    if longitude > 180 { longitude -= 360 }
    if longitude < -180 { longitude += 360 }
    let isAbove = start.altitude > 0 && end.altitude > 0
    return SceneCamera(
      longitude: longitude, latitude: even(start.latitude, end.latitude),
      altitude: isAbove
        ? start.altitude * pow(end.altitude / start.altitude, t) : even(start.altitude, end.altitude),
      heading: Camera.turned(start.heading, end.heading, at: t), pitch: even(start.pitch, end.pitch),
      roll: even(start.roll, end.roll))
  }
}

extension Screen {
  fileprivate var widthInMeters: Double { width * Camera.metersPerInch / dpi }
}

extension World {
  /// The flat camera at the point looked at, with the corresponding scale.
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

  /// Moves the camera along its line of sight so that the scale denominator at the point looked at is multiplied by
  /// `factor`, as far as the altitudes that there are allow.
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
