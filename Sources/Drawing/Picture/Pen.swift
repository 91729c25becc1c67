// Where a feature is on the screen of a picture, in all copies of the world.

import FeatureStore
import GeoModel
import Geometry

/// Brings features of one layer to the screen.
struct Pen {
  private let shapes: ScreenShapes
  private let area: HitArea
  /// The period of x; nil if the world is not drawn side by side.
  private let wrap: WorldWrap?
  /// What a scene's camera sees; nil if the picture is flat.
  private let ground: SceneGround?
  private let ratio: Double
  /// How far the largest symbol reaches into the picture from outside, in pixels.
  private let margin: Double

  init(_ area: HitArea, _ view: View, ratio: Double, on ground: SceneGround? = nil) {
    (self.area, self.ratio, self.ground) = (area, ratio, ground)
    wrap = view.wrap
    let corners = Geometry.multiPoint(view.visibleArea).envelope ?? .none
    let margin = (area.box.width - corners.width) / 2 / area.frame.resolution
    self.margin = margin.isFinite ? max(4, min(margin, 4096)) : 4
    shapes = ScreenShapes(width: view.screen.width, height: view.screen.height, margin: self.margin, ratio: ratio)
  }

  /// The points at which a position of the map is drawn; in scenes, one on the ground.
  func points(at place: SIMD2<Double>) throws -> [SIMD2<Float>] {
    if let ground { return try ground.point(at: place, margin: margin).map { [$0] } ?? [] }
    return frames(of: Envelope(xMin: place.x, yMin: place.y, xMax: place.x, yMax: place.y)).compactMap { point(at: place, $0) }
  }

  /// The points of many features, of those that are points, in a scene: one question for all heights. Nil on a flat map.
  ///
  /// - Parameter places: where they are on the map; nil if their own positions are.
  func points(of rows: [UInt32], in store: FeatureStore, at places: [SIMD2<Double>]?) throws -> [SIMD2<Float>?]? {
    try ground?.points(
      at: rows.enumerated().map { index, row in
        guard let point = store[row]?.point else { return SIMD3(.nan, .nan, .nan) }
        return places.map { SIMD3($0[index], point.z) } ?? SIMD3(point.x, point.y, point.z)
      }, margin: margin)
  }

  /// Whether a position is drawn once at most.
  var isSingle: Bool { ground != nil || wrap.map { area.box.width < $0.width } ?? true }

  /// As ``points(at:)`` on a flat map, if ``isSingle``.
  @inline(__always)
  func point(at place: SIMD2<Double>) -> SIMD2<Float>? {
    var place = place
    // The first copy that may be seen from the left.
    if let wrap { place.x += ((area.box.xMin - place.x) / wrap.width).rounded(.up) * wrap.width }
    return point(at: place, area.frame)
  }

  @inline(__always)
  private func point(at place: SIMD2<Double>, _ frame: ScreenFrame) -> SIMD2<Float>? {
    let point = frame.offset(x: place.x, y: place.y)
    return shapes.contains(point) ? SIMD2(Float(point.x), Float(point.y)) : nil
  }

  private func frames(of box: Envelope) -> [ScreenFrame] { wrap == nil ? [area.frame] : area.frames(of: box) }

  /// A feature that is no point; one shape for each copy of the world in which it is seen.
  ///
  /// - Parameter check: called every few thousand positions; throws to cancel.
  func shapes(of feature: FeatureRow, checking check: () throws -> Void) throws -> [ScreenShape] {
    guard let original = feature.geometry else { return [] }
    var geometry = original
    do {
      if let transform = area.transform { geometry = try transform.drawnParts(of: geometry, checking: check) }
    } catch let error as TransformError {
      guard case .outsideDomain = error else { throw error }
      return []
    }
    guard let box = geometry.envelope else { return [] }
    if let ground {
      let shape = try ground.shape(of: geometry, heightsOf: original, ratio: ratio, margin: margin, checking: check)
      return shape.isEmpty ? [] : [shape]
    }
    return frames(of: box).compactMap { frame in
      var shape = ScreenShape()
      collect(geometry, frame, into: &shape)
      return shape.isEmpty ? nil : shape
    }
  }

  private func collect(_ geometry: Geometry, _ frame: ScreenFrame, into shape: inout ScreenShape) {
    switch geometry {
    case .point(let point): if let point { collect([point], frame, into: &shape) }
    case .multiPoint(let points): collect(points.points, frame, into: &shape)
    case .lineString(let line): shape.lines += shapes.lines([line], frame)
    case .multiLineString(let lines): shape.lines += shapes.lines(lines, frame)
    case .polygon(let rings): collect(rings, frame, into: &shape)
    case .multiPolygon(let polygons): for rings in polygons { collect(rings, frame, into: &shape) }
    case .collection(let parts): for part in parts { collect(part, frame, into: &shape) }
    }
  }

  private func collect(_ points: [Point], _ frame: ScreenFrame, into shape: inout ScreenShape) {
    shape.points += points.compactMap { point(at: SIMD2($0.x, $0.y), frame) }
  }

  private func collect(_ rings: [Positions], _ frame: ScreenFrame, into shape: inout ScreenShape) {
    let rings = shapes.rings(rings, frame)
    if !rings.isEmpty { shape.areas.append(rings) }
  }
}
