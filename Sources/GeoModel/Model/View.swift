// A view: its screen, viewpoint, location display and overlays.

import Geometry

/// The map or scene that a view shows.
public enum ViewContent: Hashable, Sendable {
  case map(MapID)
  case scene(SceneID)

  var map: MapID? { if case .map(let id) = self { id } else { nil } }
  var scene: SceneID? { if case .scene(let id) = self { id } else { nil } }
}

/// A camera controller, and when it was last turned.
struct Steering: Hashable, Sendable {
  var controller: CameraController
  var turnedAt: Instant

  var isTurning: Bool { controller.orbit.map { $0.turnRate != 0 } ?? false }
}

/// A view of a map or a scene on a screen.
public struct View: Sendable {
  public let id: ViewID
  public var revision = 0
  public private(set) var content: ViewContent
  /// The reference of the map; WGS 84 for a scene.
  public private(set) var reference: SpatialReferenceInfo
  /// The period of x; nil if the map does not wrap.
  public private(set) var wrap: WorldWrap?
  /// The range of y if the poles are at infinity.
  private(set) var polarLimit: PolarLimit?
  public internal(set) var screen: Screen
  /// In the form in which it was last set.
  public internal(set) var viewpoint: Viewpoint
  /// The viewpoint in map units.
  public internal(set) var camera: Camera
  /// In drawing order.
  public internal(set) var overlays: IDList<Overlay> = []
  /// The view's own; where it shows one that views share, that one counts: see ``World/locationDisplay(of:)``.
  public internal(set) var locationDisplay = LocationDisplay()
  var animation: Animation?
  /// Ended by every change of the viewpoint that is not its own.
  var steering: Steering?

  public var cameraController: CameraController? { steering?.controller }
  public var isNavigating: Bool { animation != nil }

  /// The view on a screen of another size, with the same center, scale and rotation.
  public func resized(width: Double, height: Double) -> View {
    changed(self) { ($0.screen.width, $0.screen.height) = (width, height) }
  }

  /// Takes over the content and viewpoint of another view.
  mutating func show(_ other: View) {
    (content, reference, wrap, polarLimit) = (other.content, other.reference, other.wrap, other.polarLimit)
    (camera, viewpoint) = (other.camera, other.viewpoint)
    steering = nil
  }

  /// Metres per map unit, for scales only.
  var metersPerUnit: Double { reference.metersPerUnit ?? metersPerDegree }

  /// The map position of a screen point, in the map's reference.
  public func location(x: Double, y: Double) -> Point {
    camera.location(x: x, y: y, on: screen, metersPerUnit: metersPerUnit)
  }

  /// The screen point of a position in the map's reference.
  public func screenPoint(of point: Point) -> (x: Double, y: Double) {
    camera.screenPoint(of: point, on: screen, metersPerUnit: metersPerUnit)
  }

  /// The screen point of the copy of a position that is nearest to the center, if the map wraps.
  public func screenPoint(nearest point: Point) -> (x: Double, y: Double) {
    var point = point
    if let wrap { point.x += wrap.shift(point.x, nearest: camera.x) }
    return screenPoint(of: point)
  }

  /// What a movement to a camera is to auto-pan.
  func movement(to other: Camera) -> ViewMovement {
    (other.x, other.y, other.rotation) == (camera.x, camera.y, camera.rotation) ? .zoom : .other
  }

  /// The corners of the screen as a closed ring, in the map's reference.
  public var visibleArea: Positions { camera.corners(on: screen, metersPerUnit: metersPerUnit) }

  /// Whether the center is at a latitude to which it was clamped because the poles of the map are at infinity.
  private var isClamped: Bool { polarLimit.map { camera.y == $0.y.lowerBound || camera.y == $0.y.upperBound } ?? false }

  /// The center in WGS 84: as set if it was set in WGS 84, else computed. Nil if it has no longitude and latitude.
  func center(by transformer: any CoordinateTransformer) -> Point? {
    centerAsSet ?? (try? transformer.transform(camera.center, from: reference.reference, to: .wgs84))
  }

  private var centerAsSet: Point? {
    guard case .centerAndScale(let center, _, _, .wgs84) = viewpoint, !isClamped else { return nil }
    return center
  }

  /// Whether ``center(by:)`` differs from that of an earlier state of the view.
  func hasCenter(differentFrom other: View) -> Bool {
    camera.center != other.camera.center || centerAsSet != other.centerAsSet
  }

  /// The viewpoint in a kind and reference: as set if it has these itself, else computed.
  public func viewpoint(
    as kind: Viewpoint.Kind, in target: SpatialReference?, _ transformer: any CoordinateTransformer
  ) throws(ModelError) -> Viewpoint {
    if viewpoint.kind == kind, target == nil || target == viewpoint.reference || kind == .camera { return viewpoint }
    let reference = target ?? viewpoint.reference
    do {
      switch kind {
      case .centerAndScale:
        // A clamped center is computed from the camera, since the center as set is not the one shown.
        if !isClamped, case .centerAndScale(let center, let scale, let rotation, let own) = viewpoint {
          let moved = try transformer.transform(center, from: own, to: reference)
          return .centerAndScale(center: moved, scale: scale, rotation: rotation, reference: reference)
        }
        let center = try transformer.transform(camera.center, from: self.reference.reference, to: reference)
        return camera.viewpoint(center, reference)
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

  /// The camera of a scene's view: as set, else straight above the center.
  func sceneCamera() throws(ModelError) -> SceneCamera {
    if case .camera(let camera) = viewpoint { return camera }
    guard case .scene = content else { throw .cameraNeedsScene }
    return .above(camera.center, scale: camera.scale, rotation: camera.rotation, on: screen)
  }
}
