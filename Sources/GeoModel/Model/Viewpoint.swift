// Viewpoints, and the arithmetic between scale, extent and screen.

import Geometry
import Platform

/// The visible location of a view, in the form in which it was set. Immutable.
///
/// ```swift
/// let bern = Viewpoint.centerAndScale(
///   center: Point(x: 7.45, y: 46.95), scale: 50_000, rotation: 0, reference: .wgs84)
/// ```
public enum Viewpoint: Hashable, Sendable {
  /// `scale` is the denominator; `rotation` turns north clockwise, in degrees.
  case centerAndScale(center: Point, scale: Double, rotation: Double, reference: SpatialReference)
  case boundingGeometry(Geometry, rotation: Double, reference: SpatialReference)
  /// A bounding geometry that was given as a box; across the antimeridian `xMin > xMax`.
  case boundingBox(Envelope, rotation: Double, reference: SpatialReference)
  /// In scenes only.
  case camera(SceneCamera)

  public enum Kind: Hashable, Sendable { case centerAndScale, boundingGeometry, camera }

  public var kind: Kind {
    switch self {
    case .centerAndScale: .centerAndScale
    case .boundingGeometry, .boundingBox: .boundingGeometry
    case .camera: .camera
    }
  }

  public var reference: SpatialReference {
    switch self {
    case .centerAndScale(_, _, _, let reference), .boundingGeometry(_, _, let reference),
      .boundingBox(_, _, let reference):
      reference
    case .camera: .wgs84
    }
  }

  /// The target that sets this viewpoint.
  public var target: ViewpointTarget {
    switch self {
    case .centerAndScale(let center, let scale, let rotation, let reference):
      .centerAndScale(center: center, scale: scale, rotation: rotation, reference: reference)
    case .boundingGeometry(let geometry, let rotation, let reference):
      .boundingGeometry(geometry, padding: Insets(), rotation: rotation, reference: reference)
    case .boundingBox(let box, let rotation, let reference):
      .boundingBox(box, padding: Insets(), rotation: rotation, reference: reference)
    case .camera(let camera): .camera(camera)
    }
  }
}

/// A request to change a viewpoint: a complete one, or one of its components.
public enum ViewpointTarget: Hashable, Sendable {
  case centerAndScale(center: Point, scale: Double, rotation: Double?, reference: SpatialReference)
  case boundingGeometry(Geometry, padding: Insets, rotation: Double?, reference: SpatialReference)
  case boundingBox(Envelope, padding: Insets, rotation: Double?, reference: SpatialReference)
  case center(Point, reference: SpatialReference)
  case scale(Double)
  case rotation(Double)
  case camera(SceneCamera)
  /// The id of a bookmark of the map or scene.
  case bookmark(String)
}

/// A viewpoint in map units, from which screen coordinates are computed.
public struct Camera: Hashable, Sendable {
  public var x: Double
  public var y: Double
  /// The denominator of the scale.
  public var scale: Double
  /// Clockwise rotation of north, in degrees in [0, 360).
  public var rotation: Double

  public init(x: Double, y: Double, scale: Double, rotation: Double) {
    self.x = x
    self.y = y
    self.scale = scale
    self.rotation = rotation
  }
}

/// The size of a screen in device-independent pixels, and their number per inch.
public struct Screen: Hashable, Sendable {
  public var width: Double
  public var height: Double
  public var dpi: Double

  public init(width: Double = 800, height: Double = 600, dpi: Double = 96) {
    self.width = width
    self.height = height
    self.dpi = dpi
  }

  /// Throws if the padding leaves no room.
  func check(_ padding: Insets) throws(ModelError) {
    if padding.isEven {
      guard 2 * padding.left >= min(width, height) else { return }
      throw .outOfRange(
        padding.left, expected: "less than half of the width and height of the screen", path: "/viewpoint/padding")
    }
    for (sum, side, name) in [
      (padding.left + padding.right, width, "width"), (padding.top + padding.bottom, height, "height"),
    ] where sum >= side {
      throw .outOfRange(sum, expected: "insets that leave room in the \(name) of the screen", path: "/viewpoint/insets")
    }
  }
}

/// Space on the sides of a screen that a viewpoint leaves free, in device-independent pixels.
public struct Insets: Hashable, Sendable {
  public var left = 0.0
  public var top = 0.0
  public var right = 0.0
  public var bottom = 0.0

  public init() {}
  public init(_ padding: Double) { (left, top, right, bottom) = (padding, padding, padding, padding) }

  var isEven: Bool { left == right && top == bottom && left == top }
}

/// Metres per degree, for scales only: 1/360 of the equator of WGS 84.
public let metersPerDegree = 111_319.490793

extension Camera {
  static let metersPerInch = 0.0254

  var center: Point { Point(x: x, y: y) }

  /// The viewpoint with the camera's scale and rotation.
  func viewpoint(_ center: Point, _ reference: SpatialReference) -> Viewpoint {
    .centerAndScale(center: center, scale: scale, rotation: rotation, reference: reference)
  }

  /// Map units per device-independent pixel.
  func resolution(on screen: Screen, metersPerUnit: Double) -> Double {
    scale * Self.metersPerInch / screen.dpi / metersPerUnit
  }

  /// The scale denominator at which a pixel has the given size in map units.
  static func scale(ofResolution resolution: Double, on screen: Screen, metersPerUnit: Double) -> Double {
    resolution * metersPerUnit * screen.dpi / metersPerInch
  }

  /// Unit vectors in the map of the screen's x (right) and y (up).
  ///
  /// If north is rotated clockwise by r, up on the screen has azimuth -r.
  var axes: (right: (Double, Double), up: (Double, Double)) {
    guard rotation != 0 else { return ((1, 0), (0, 1)) }
    let angle = rotation * .pi / 180
    let (s, c) = (sin(angle), cos(angle))
    return ((c, s), (-s, c))
  }

  /// The map position of a screen point.
  func location(x screenX: Double, y screenY: Double, on screen: Screen, metersPerUnit: Double) -> Point {
    let resolution = resolution(on: screen, metersPerUnit: metersPerUnit)
    let dx = (screenX - screen.width / 2) * resolution
    let dy = (screen.height / 2 - screenY) * resolution
    let (right, up) = axes
    return Point(x: x + dx * right.0 + dy * up.0, y: y + dx * right.1 + dy * up.1)
  }

  /// The screen point of a map position.
  func screenPoint(of point: Point, on screen: Screen, metersPerUnit: Double) -> (x: Double, y: Double) {
    let resolution = resolution(on: screen, metersPerUnit: metersPerUnit)
    let dx = point.x - x
    let dy = point.y - y
    let (right, up) = axes
    return (
      screen.width / 2 + (dx * right.0 + dy * right.1) / resolution,
      screen.height / 2 - (dx * up.0 + dy * up.1) / resolution
    )
  }

  /// The corners of the screen in the map, as a closed ring from the lower left counterclockwise.
  func corners(on screen: Screen, metersPerUnit: Double) -> Positions {
    let corners = [(0, screen.height), (screen.width, screen.height), (screen.width, 0), (0, 0), (0, screen.height)]
    return Positions(corners.map { location(x: $0.0, y: $0.1, on: screen, metersPerUnit: metersPerUnit) })
  }

  /// The camera that shows all of a geometry within the padding.
  ///
  /// The larger of the ratios of width and height determines the scale. A single position has no extent, so `scale` stays. The
  /// padding has to leave room on the screen, which ``Screen/check(_:)`` checks.
  static func fitting(
    _ geometry: Geometry, rotation: Double, padding: Insets, on screen: Screen, metersPerUnit: Double, scale: Double
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
    let free = (width: screen.width - padding.left - padding.right, height: screen.height - padding.top - padding.bottom)
    let needed = max(box.width / free.width, box.height / free.height)
    var camera = Camera(x: 0, y: 0, scale: scale, rotation: rotation)
    if needed > 0 { camera.scale = Self.scale(ofResolution: needed, on: screen, metersPerUnit: metersPerUnit) }
    // Uneven padding moves the middle of the room off the center of the screen.
    let resolution = camera.resolution(on: screen, metersPerUnit: metersPerUnit)
    let middle = (
      x: box.center.x - (padding.left - padding.right) / 2 * resolution,
      y: box.center.y - (padding.bottom - padding.top) / 2 * resolution
    )
    (camera.x, camera.y) = (middle.x * right.0 + middle.y * up.0, middle.x * right.1 + middle.y * up.1)
    return camera
  }

  /// Interpolates between two cameras. Positions change evenly, scales by equal ratios or as on a flight, rotation along the
  /// short way.
  static func between(
    _ start: Camera, _ end: Camera, at position: (way: Double, zoom: Double?, turn: Double)
  ) -> Camera {
    Camera(
      x: start.x + (end.x - start.x) * position.way, y: start.y + (end.y - start.y) * position.way,
      scale: start.scale * (position.zoom ?? pow(end.scale / start.scale, position.turn)),
      rotation: normalized(degrees: turned(start.rotation, end.rotation, at: position.turn)))
  }

  /// Interpolates between two angles in degrees along the short way.
  static func turned(_ start: Double, _ end: Double, at t: Double) -> Double {
    var turn = (end - start).truncatingRemainder(dividingBy: 360)
    if turn > 180 { turn -= 360 }
    if turn < -180 { turn += 360 }
    return start + turn * t
  }

  /// Whether all numbers are finite and the scale is in ``scales``.
  var isValid: Bool { x.isFinite && y.isFinite && Self.scales.contains(scale) }

  /// The range of scale denominators of views.
  public static let scales = 1e-6...1e15

  /// The equivalent angle in [0, 360) degrees.
  static func normalized(degrees: Double) -> Double {
    let rest = degrees.truncatingRemainder(dividingBy: 360)
    // A turn just below 0 is rounded to 360.
    let turned = rest < 0 ? rest + 360 : rest + 0
    return turned == 360 ? 0 : turned
  }
}
