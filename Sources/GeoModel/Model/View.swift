// A view: the screen, the viewpoint, what moves it, and which overlays lie on it.

import Geometry

/// What a view shows.
public enum ViewContent: Hashable, Sendable {
  case map(MapID)
  case scene(SceneID)
}

/// How a view follows the location.
public enum AutoPanMode: Hashable, Sendable { case off, recenter }

/// How a view follows a location source.
public struct LocationDisplay: Hashable, Sendable {
  public internal(set) var source: LocationSourceID?
  public internal(set) var autoPanMode = AutoPanMode.off
  /// The part of the screen in which the location may wander: 0 pans always, 1 at the edge.
  public internal(set) var wanderExtentFactor = 0.5
  /// The scale at the first location after leaving off.
  public internal(set) var initialZoomScale = 10_000.0
  /// Whether the initial zoom is still to come.
  var awaitsZoom = false
}

/// Changes to a location display; nil leaves alone.
public struct LocationDisplayUpdate: Sendable {
  public var source: LocationSourceID?
  public var autoPanMode: AutoPanMode?
  public var wanderExtentFactor: Double?
  public var initialZoomScale: Double?
  public var clear: [String]
  public init(
    source: LocationSourceID? = nil, autoPanMode: AutoPanMode? = nil, wanderExtentFactor: Double? = nil,
    initialZoomScale: Double? = nil, clear: [String] = []
  ) {
    self.source = source
    self.autoPanMode = autoPanMode
    self.wanderExtentFactor = wanderExtentFactor
    self.initialZoomScale = initialZoomScale
    self.clear = clear
  }
}

/// How an animation spends its time.
public enum Easing: Hashable, Sendable {
  case linear
  case easeInOut

  /// The part of the way at a part of the time, both in 0...1. Ease in and out is the cubic 3t² - 2t³.
  func progress(at time: Double) -> Double {
    switch self {
    case .linear: time
    case .easeInOut: time * time * (3 - 2 * time)
    }
  }
}

/// A viewpoint on its way.
struct Animation: Sendable {
  let process: ProcessID
  var start: Instant
  let duration: Double
  let easing: Easing
  let from: Camera
  let to: Camera
  /// The same in a scene, where one end is a camera of the scene.
  let sceneCameras: (from: SceneCamera, to: SceneCamera)?
  /// What the view is set to at the end, exactly.
  let destination: Viewpoint
}

/// A map or a scene on a screen.
public struct View: Sendable {
  public let id: ViewID
  public var revision = 0
  public let content: ViewContent
  /// That of the map; WGS 84 for a scene.
  public let reference: SpatialReferenceInfo
  /// Where x begins again; nil where it does not.
  public let wrap: WorldWrap?
  /// Where it ends in the north and south, if its poles lie at infinity.
  let polarLimit: PolarLimit?
  public internal(set) var screen: Screen
  /// As last set, by whomever.
  public internal(set) var viewpoint: Viewpoint
  /// The same in map units.
  public internal(set) var camera: Camera
  /// First drawn first.
  public internal(set) var overlays: [OverlayID] = []
  public internal(set) var locationDisplay = LocationDisplay()
  var animation: Animation?

  public var isNavigating: Bool { animation != nil }

  /// Metres in a map unit, for scale alone.
  var metersPerUnit: Double { reference.metersPerUnit ?? metersPerDegree }

  /// The map position at a place of the screen, in the map's reference.
  public func location(x: Double, y: Double) -> Point {
    camera.location(x: x, y: y, on: screen, metersPerUnit: metersPerUnit)
  }

  /// The place on the screen of a position in the map's reference.
  public func screenPoint(of point: Point) -> (x: Double, y: Double) {
    camera.screenPoint(of: point, on: screen, metersPerUnit: metersPerUnit)
  }

  /// The same of the nearest of a position's places, where the map goes around the world.
  public func screenPoint(nearest point: Point) -> (x: Double, y: Double) {
    var point = point
    if let wrap { point.x += wrap.shift(point.x, nearest: camera.x) }
    return screenPoint(of: point)
  }

  /// The screen's corners, closed, in the map's reference.
  public var visibleArea: Positions { camera.corners(on: screen, metersPerUnit: metersPerUnit) }

  /// The viewpoint in a kind and reference: as last set where that is asked for, else computed from the screen.
  public func viewpoint(
    as kind: Viewpoint.Kind, in target: SpatialReference?, _ transformer: any CoordinateTransformer
  ) throws(ModelError) -> Viewpoint {
    if viewpoint.kind == kind, target == nil || target == viewpoint.reference || kind == .camera { return viewpoint }
    let reference = target ?? viewpoint.reference
    do {
      switch kind {
      case .centerAndScale:
        // What lies beyond the edge has no place elsewhere that would be in sight.
        let isHeld = polarLimit.map { camera.y == $0.y.lowerBound || camera.y == $0.y.upperBound } ?? false
        if !isHeld, case .centerAndScale(let center, let scale, let rotation, let own) = viewpoint {
          let moved = try transformer.transform(center, from: own, to: reference)
          return .centerAndScale(center: moved, scale: scale, rotation: rotation, reference: reference)
        }
        let center = try transformer.transform(
          Point(x: camera.x, y: camera.y), from: self.reference.reference, to: reference)
        return .centerAndScale(center: center, scale: camera.scale, rotation: camera.rotation, reference: reference)
      case .boundingGeometry:
        let area = Geometry.polygon([visibleArea])
        var moved = try transformer.transform(area, from: self.reference.reference, to: reference)
        if let wrap, try transformer.describe(reference).kind == .geographic {
          moved = wrap.unrolled(moved, from: visibleArea)
        }
        return .boundingGeometry(moved, rotation: camera.rotation, reference: reference)
      case .camera: break
      }
    } catch { throw .transform(error) }
    return .camera(try sceneCamera())
  }

  /// The camera of a scene's view: as last set, or straight above the center.
  func sceneCamera() throws(ModelError) -> SceneCamera {
    if case .camera(let camera) = viewpoint { return camera }
    guard case .scene = content else { throw .cameraNeedsScene }
    return .above(Point(x: camera.x, y: camera.y), scale: camera.scale, rotation: camera.rotation, on: screen)
  }
}
