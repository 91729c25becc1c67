// What a scene's camera sees: the points of the ground under screen points, and back.

import Geometry
import Platform

/// A camera's central projection. Its field of view is 55 degrees wide.
public struct Perspective: Sendable {
  /// Where it is, in geocentric coordinates.
  public let eye: SIMD3<Double>
  private let right: SIMD3<Double>
  private let up: SIMD3<Double>
  private let forward: SIMD3<Double>
  public let screen: Screen
  /// Distance of the screen from the eye, in pixels.
  public let focus: Double

  public init(_ camera: SceneCamera, on screen: Screen) {
    eye = Geocentric.position(of: Point(x: camera.longitude, y: camera.latitude, z: camera.altitude))
    let (east, north, zenith) = Geocentric.axes(longitude: camera.longitude, latitude: camera.latitude)
    func turn(_ degrees: Double) -> (sine: Double, cosine: Double) { (sin(degrees * .pi / 180), cos(degrees * .pi / 180)) }
    let (heading, pitch, roll) = (turn(camera.heading), turn(camera.pitch), turn(camera.roll))
    let ahead = north * heading.cosine + east * heading.sine
    let level = east * heading.cosine - north * heading.sine
    let above = ahead * pitch.cosine + zenith * pitch.sine
    forward = ahead * pitch.sine - zenith * pitch.cosine
    // The horizon turns clockwise, so the camera turns the other way.
    right = level * roll.cosine + above * roll.sine
    up = above * roll.cosine - level * roll.sine
    self.screen = screen
    focus = screen.width / 2 / SceneCamera.halfView
  }

  /// The screen point of a position in WGS 84; nil behind the camera. What is in front of the position is not considered.
  public func screenPoint(of point: Point) -> Point? {
    let place = place(of: Geocentric.position(of: point))
    guard place.z > 0 else { return nil }
    return Point(x: screen.width / 2 + place.x / place.z, y: screen.height / 2 + place.y / place.z)
  }

  /// A geocentric position as the camera has it: its depth, and to the right and down what divided by the depth are pixels from the
  /// middle of the screen.
  @inline(__always)
  public func place(of position: SIMD3<Double>) -> SIMD3<Double> {
    let way = position - eye
    return SIMD3((way * right).sum() * focus, -(way * up).sum() * focus, (way * forward).sum())
  }

  /// The way from the eye to what is seen at a screen point at a depth of one metre.
  @inline(__always)
  public func way(x: Double, y: Double) -> SIMD3<Double> {
    forward + right * ((x - screen.width / 2) / focus) + up * ((screen.height / 2 - y) / focus)
  }

  private func direction(at point: ScreenPosition) -> SIMD3<Double> {
    let way = way(x: point.x, y: point.y)
    return way / (way * way).sum().squareRoot()
  }

  /// Heights between which ground is sought, in metres.
  private static let heights = -500.0...9000.0
  /// Number of steps along a ray, and of halvings of the one in which it meets the ground.
  private static let steps = 512
  private static let halvings = 40

  /// The positions at which the rays through screen points meet the ground, with its height; nil for those above the horizon.
  ///
  /// Ground is where the exaggerated surface is; where it has no height, the ellipsoid. A ray is followed in steps, so it may pass
  /// over a summit narrower than a step.
  ///
  /// - Returns: nil if sources may read nothing, and one would have to.
  /// - Complexity: 550 elevations for each point; without sources O(1).
  public func locations(
    of points: [ScreenPosition], on surface: BaseSurface, _ transformer: any CoordinateTransformer, onlyKept: Bool,
    isCancelled: @escaping @Sendable () -> Bool
  ) throws -> [Point?]? {
    var result: [Point?] = []
    result.reserveCapacity(points.count)
    for point in points {
      let direction = direction(at: point)
      guard surface.hasHeights else {
        result.append(
          Geocentric.crossing(from: eye, along: direction, raisedBy: 0).flatMap { $0.near > 0 ? $0.near : nil }.map {
            let location = Geocentric.point(at: eye + direction * $0)
            return Point(x: location.x, y: location.y, z: 0)
          })
        continue
      }
      if isCancelled() { return result }
      let found = try meeting(along: direction) { places in
        try surface.heights(at: places, transformer, onlyKept: onlyKept, isCancelled: isCancelled)
      }
      guard let found else { return nil }
      result.append(found)
    }
    return result
  }

  /// - Parameter sample: the ground's heights, and how much they are exaggerated.
  /// - Returns: nil if the heights are not known yet; `.some(nil)` if the ray meets no ground.
  private func meeting(
    along direction: SIMD3<Double>, _ sample: ([Point]) throws -> (heights: [Double], factor: Double)?
  ) throws -> Point?? {
    guard let factor = try sample([])?.factor else { return nil }
    let exaggeration = max(factor, 1)
    guard
      let outer = Geocentric.crossing(from: eye, along: direction, raisedBy: Self.heights.upperBound * exaggeration),
      outer.far > 0
    else { return .some(nil) }
    let start = max(outer.near, 0)
    let inner = Geocentric.crossing(from: eye, along: direction, raisedBy: Self.heights.lowerBound * exaggeration)
    let end = inner.flatMap { $0.near > start ? $0.near : nil } ?? outer.far
    func place(_ distance: Double) -> Point { Geocentric.point(at: eye + direction * distance) }
    let step = (end - start) / Double(Self.steps)
    let places = (0...Self.steps).map { place(start + step * Double($0)) }
    guard let heights = try sample(places)?.heights else { return nil }
    guard let first = places.indices.first(where: { places[$0].z ?? 0 <= heights[$0] * factor }) else {
      return .some(nil)
    }
    var (low, high) = (start + step * Double(max(first - 1, 0)), start + step * Double(first))
    var met = Point(x: places[first].x, y: places[first].y, z: heights[first])
    for _ in 0..<Self.halvings where high - low > 1e-4 {
      let middle = (low + high) / 2
      let here = place(middle)
      guard let height = try sample([here])?.heights.first else { return nil }
      if here.z ?? 0 <= height * factor {
        (high, met) = (middle, Point(x: here.x, y: here.y, z: height))
      } else {
        low = middle
      }
    }
    return met
  }
}

extension BaseSurface {
  /// Whether the ground may be elsewhere than on the ellipsoid.
  public var hasHeights: Bool { isEnabled && elevationSources.contains { $0.failure == nil } }

  /// The ground's heights at positions in WGS 84, 0 where it has none, and the factor by which they are drawn.
  ///
  /// - Returns: nil if sources may read nothing, and one would have to.
  public func heights(
    at points: [Point], _ transformer: any CoordinateTransformer, onlyKept: Bool,
    isCancelled: @escaping @Sendable () -> Bool
  ) throws -> (heights: [Double], factor: Double)? {
    guard !points.isEmpty else { return ([], elevationExaggeration) }
    let found = try samples(
      at: points, reference: .wgs84, interpolation: .bilinear, stopsAtNoData: false, transformer: transformer,
      onlyKept: onlyKept, isCancelled: isCancelled)
    return found.map { samples in (samples.heights.map { $0.isNaN ? 0 : $0 }, elevationExaggeration) }
  }
}

extension View {
  /// The perspective of a scene's view, and the ground that it sees; nil for a map.
  public func perspective(in world: World) -> (perspective: Perspective, surface: BaseSurface)? {
    guard case .scene(let id) = content, let scene = world.scenes[id], let camera = try? sceneCamera() else { return nil }
    return (Perspective(camera, on: screen), scene.surface)
  }
  /// The flat view from above that holds a box of longitudes and latitudes.
  public func covering(_ box: Envelope) -> View {
    let side = max(box.width / screen.width, box.height / screen.height, 1e-9)
    return changed(self) {
      $0.camera = Camera(
        x: box.center.x, y: box.center.y, scale: Camera.scale(ofResolution: side, on: screen, metersPerUnit: metersPerUnit), rotation: 0)
    }
  }
}
