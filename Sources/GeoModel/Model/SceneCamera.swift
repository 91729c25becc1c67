// Where one stands in a scene, and what scale that comes to.

import Geometry
import Platform

/// A place above the ground and a direction to look in.
public struct SceneCamera: Hashable, Sendable {
  /// Degrees, WGS 84.
  public let longitude: Double
  public let latitude: Double
  /// Metres above the ellipsoid.
  public let altitude: Double
  /// Degrees clockwise from north, in [0, 360).
  public let heading: Double
  /// Degrees: 0 straight down, 90 to the horizon, 180 straight up.
  public let pitch: Double
  /// Degrees by which the horizon is turned, clockwise.
  public let roll: Double

  public init(longitude: Double, latitude: Double, altitude: Double, heading: Double, pitch: Double, roll: Double) {
    self.longitude = longitude
    self.latitude = latitude
    self.altitude = altitude
    self.heading = Camera.normalized(degrees: heading)
    self.pitch = pitch
    self.roll = roll
  }
}

extension SceneCamera {
  /// Half of the angle across the screen's width, 55 degrees in all, as its tangent.
  private static let halfView = tan(27.5 * .pi / 180)
  /// Who looks farther up is taken to look at the ground at this pitch, in degrees.
  private static let steepest = 85.0

  /// Radians from straight down to the point looked at.
  private var slant: Double { min(pitch, Self.steepest) * .pi / 180 }
  /// Metres over the ground, which is that of the ellipsoid; at least one.
  private var height: Double { max(altitude, 1) }

  /// Metres along the ground to the point looked at.
  var reach: Double { height * tan(slant) }

  /// The denominator at which a flat map shows the ground as large as the camera does at the point looked at.
  ///
  /// With s metres between the two, the screen's width shows 2 s tan(55°/2) metres.
  func scale(on screen: Screen) -> Double {
    2 * (height / cos(slant)) * Self.halfView / screen.widthInMeters
  }

  /// The camera straight above a point, at the altitude where the scale is so large.
  static func above(_ point: Point, scale: Double, rotation: Double, on screen: Screen) -> SceneCamera {
    SceneCamera(
      longitude: point.x, latitude: point.y, altitude: scale * screen.widthInMeters / (2 * halfView),
      heading: -rotation, pitch: 0, roll: 0)
  }

  /// Between two cameras, `t` in 0...1: angles the short way round, altitudes in equal ratios where both are above the ground.
  static func between(_ start: SceneCamera, _ end: SceneCamera, at t: Double) -> SceneCamera {
    func turned(_ from: Double, _ to: Double) -> Double {
      var turn = (to - from).truncatingRemainder(dividingBy: 360)
      if turn > 180 { turn -= 360 }
      if turn < -180 { turn += 360 }
      return from + turn * t
    }
    func even(_ from: Double, _ to: Double) -> Double { from + (to - from) * t }
    var longitude = turned(start.longitude, end.longitude)
    if longitude > 180 { longitude -= 360 }
    if longitude < -180 { longitude += 360 }
    let isAbove = start.altitude > 0 && end.altitude > 0
    return SceneCamera(
      longitude: longitude, latitude: even(start.latitude, end.latitude),
      altitude: isAbove
        ? start.altitude * pow(end.altitude / start.altitude, t) : even(start.altitude, end.altitude),
      heading: turned(start.heading, end.heading), pitch: even(start.pitch, end.pitch),
      roll: even(start.roll, end.roll))
  }
}

extension Screen {
  fileprivate var widthInMeters: Double { width * Camera.metersPerInch / dpi }
}

extension World {
  /// The point that a camera looks at and the scale there, as a flat map shows it.
  func flattened(_ camera: SceneCamera, on screen: Screen) throws(ModelError) -> Camera {
    let feet = Point(x: camera.longitude, y: camera.latitude)
    do {
      let target =
        camera.reach > 0 ? try geodesy.direct(from: feet, azimuth: camera.heading, distance: camera.reach).0 : feet
      return Camera(
        x: target.x, y: target.y, scale: camera.scale(on: screen), rotation: Camera.normalized(degrees: -camera.heading)
      )
    } catch { throw .transform(error) }
  }

  /// The camera moved along its line of sight, until the scale at the point looked at is `part` of what it was.
  func dollied(_ camera: SceneCamera, to part: Double) throws(ModelError) -> SceneCamera {
    let feet = Point(x: camera.longitude, y: camera.latitude)
    do {
      let way = camera.reach * (1 - part)
      let place = way == 0 ? feet : try geodesy.direct(from: feet, azimuth: camera.heading, distance: way).0
      return SceneCamera(
        longitude: place.x, latitude: place.y, altitude: max(camera.altitude, 1) * part, heading: camera.heading,
        pitch: camera.pitch, roll: camera.roll)
    } catch { throw .transform(error) }
  }
}
