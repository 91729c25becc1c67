// What a view looks at, and the arithmetic between scale, extent and screen.

import Geometry
import Platform

/// What a view looks at. Immutable; of one of two kinds, and in scenes of a third.
public enum Viewpoint: Hashable, Sendable {
  /// `scale` is the denominator; rotation turns north clockwise, in degrees.
  case centerAndScale(center: Point, scale: Double, rotation: Double, reference: SpatialReference)
  case boundingGeometry(Geometry, rotation: Double, reference: SpatialReference)
  /// In scenes alone.
  case camera(SceneCamera)

  public enum Kind: Hashable, Sendable { case centerAndScale, boundingGeometry, camera }

  public var kind: Kind {
    switch self {
    case .centerAndScale: .centerAndScale
    case .boundingGeometry: .boundingGeometry
    case .camera: .camera
    }
  }

  public var reference: SpatialReference {
    switch self {
    case .centerAndScale(_, _, _, let reference), .boundingGeometry(_, _, let reference): reference
    case .camera: .wgs84
    }
  }

  public var rotation: Double {
    switch self {
    case .centerAndScale(_, _, let rotation, _), .boundingGeometry(_, let rotation, _): rotation
    case .camera(let camera): Camera.normalized(degrees: -camera.heading)
    }
  }

  /// The way to itself.
  public var target: ViewpointTarget {
    switch self {
    case .centerAndScale(let center, let scale, let rotation, let reference):
      .centerAndScale(center: center, scale: scale, rotation: rotation, reference: reference)
    case .boundingGeometry(let geometry, let rotation, let reference):
      .boundingGeometry(geometry, padding: 0, rotation: rotation, reference: reference)
    case .camera(let camera): .camera(camera)
    }
  }
}

/// Where a viewpoint is to go: a whole one, or a part of one.
public enum ViewpointTarget: Hashable, Sendable {
  case centerAndScale(center: Point, scale: Double, rotation: Double?, reference: SpatialReference)
  case boundingGeometry(Geometry, padding: Double, rotation: Double?, reference: SpatialReference)
  case center(Point, reference: SpatialReference)
  case scale(Double)
  case rotation(Double)
  case camera(SceneCamera)
  /// A bookmark of the map or scene shown, by its id.
  case bookmark(String)
}

/// A viewpoint in the units of the map: what the screen is computed with.
public struct Camera: Hashable, Sendable {
  public var x: Double
  public var y: Double
  /// The scale's denominator.
  public var scale: Double
  /// Degrees in [0, 360) by which north is turned, clockwise.
  public var rotation: Double

  public init(x: Double, y: Double, scale: Double, rotation: Double) {
    self.x = x
    self.y = y
    self.scale = scale
    self.rotation = rotation
  }
}

/// A screen: its size in device-independent pixels, and their number on an inch.
public struct Screen: Hashable, Sendable {
  public var width: Double
  public var height: Double
  public var dpi: Double

  public init(width: Double = 800, height: Double = 600, dpi: Double = 96) {
    self.width = width
    self.height = height
    self.dpi = dpi
  }
}

/// Metres on a degree, for scale alone: a 360th of the equator of WGS 84.
public let metersPerDegree = 111_319.490793

extension Camera {
  static let metersPerInch = 0.0254

  /// Map units in one device-independent pixel: the scale's denominator times a pixel's size, in map units.
  func resolution(on screen: Screen, metersPerUnit: Double) -> Double {
    scale * Self.metersPerInch / screen.dpi / metersPerUnit
  }

  /// The scale at which one pixel is so many map units.
  static func scale(ofResolution resolution: Double, on screen: Screen, metersPerUnit: Double) -> Double {
    resolution * metersPerUnit * screen.dpi / metersPerInch
  }

  /// The unit vectors of the screen's x (to the right) and y (up) in the map, turned against the map's turning.
  ///
  /// When north is turned clockwise by r, the screen's up points to azimuth -r.
  private var axes: (right: (Double, Double), up: (Double, Double)) {
    guard rotation != 0 else { return ((1, 0), (0, 1)) }
    let angle = rotation * .pi / 180
    let (s, c) = (sin(angle), cos(angle))
    return ((c, s), (-s, c))
  }

  /// The map position at a place of the screen.
  func location(x screenX: Double, y screenY: Double, on screen: Screen, metersPerUnit: Double) -> Point {
    let resolution = resolution(on: screen, metersPerUnit: metersPerUnit)
    let dx = (screenX - screen.width / 2) * resolution
    let dy = (screen.height / 2 - screenY) * resolution
    let (right, up) = axes
    return Point(x: x + dx * right.0 + dy * up.0, y: y + dx * right.1 + dy * up.1)
  }

  /// The place on the screen of a map position.
  func place(of point: Point, on screen: Screen, metersPerUnit: Double) -> (x: Double, y: Double) {
    let resolution = resolution(on: screen, metersPerUnit: metersPerUnit)
    let dx = point.x - x
    let dy = point.y - y
    let (right, up) = axes
    return (
      screen.width / 2 + (dx * right.0 + dy * right.1) / resolution,
      screen.height / 2 - (dx * up.0 + dy * up.1) / resolution
    )
  }

  /// The screen's corners in the map, closed, from the lower left counterclockwise.
  func corners(on screen: Screen, metersPerUnit: Double) -> Positions {
    let corners = [(0, screen.height), (screen.width, screen.height), (screen.width, 0), (0, 0), (0, screen.height)]
    return Positions(corners.map { location(x: $0.0, y: $0.1, on: screen, metersPerUnit: metersPerUnit) })
  }

  /// The camera that has all of `positions` in sight, with room of `padding` pixels on each side.
  ///
  /// The larger of the two ratios decides. A single position has no extent: it keeps `scale`.
  static func fitting(
    _ geometry: Geometry, rotation: Double, padding: Double, on screen: Screen, metersPerUnit: Double, scale: Double
  ) -> Camera? {
    var box = Envelope.none
    let (right, up) = Camera(x: 0, y: 0, scale: 1, rotation: rotation).axes
    geometry.forEachPositions { positions in
      for index in 0..<positions.count {
        let point = positions[index]
        box.include(x: point.x * right.0 + point.y * right.1, y: point.x * up.0 + point.y * up.1)
      }
    }
    guard !box.isNone else { return nil }
    let middle = box.center
    var camera = Camera(
      x: middle.x * right.0 + middle.y * up.0, y: middle.x * right.1 + middle.y * up.1, scale: scale, rotation: rotation
    )
    let width = max(screen.width - 2 * padding, 1)
    let height = max(screen.height - 2 * padding, 1)
    let resolution = max(box.width / width, box.height / height)
    if resolution > 0 {
      camera.scale = Self.scale(ofResolution: resolution, on: screen, metersPerUnit: metersPerUnit)
    }
    return camera
  }

  /// Between two cameras, `t` in 0...1: positions evenly and the short way round, scales in equal ratios, rotation the short way.
  static func between(_ start: Camera, _ end: Camera, at t: Double, wrap: WorldWrap? = nil) -> Camera {
    let endX = end.x + (wrap?.shift(end.x, nearest: start.x) ?? 0)
    let x = start.x + (endX - start.x) * t
    var turn = (end.rotation - start.rotation).truncatingRemainder(dividingBy: 360)
    if turn > 180 { turn -= 360 }
    if turn < -180 { turn += 360 }
    return Camera(
      x: wrap?.normalized(x) ?? x, y: start.y + (end.y - start.y) * t,
      scale: start.scale * pow(end.scale / start.scale, t), rotation: normalized(degrees: start.rotation + turn * t))
  }

  /// Whether every number of it can stand on the wire and on a screen.
  var isSound: Bool { x.isFinite && y.isFinite && Self.scales.contains(scale) }

  /// The scales that a view can have: from an atom to a galaxy.
  public static let scales = 1e-6...1e15

  /// Degrees in [0, 360).
  static func normalized(degrees: Double) -> Double {
    let rest = degrees.truncatingRemainder(dividingBy: 360)
    return rest < 0 ? rest + 360 : rest + 0
  }
}
