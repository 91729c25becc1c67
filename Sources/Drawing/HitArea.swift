// The area around a screen circle in which a drawn feature can be hit, in the layer's reference and in each copy of the world.

import GeoModel
import Geometry

/// The area around a circle on the screen in which features are searched.
struct HitArea {
  let frame: ScreenFrame
  /// The greatest distance, in pixels, from the circle's center to a position whose symbol may be within the circle.
  let reach: Double
  /// The map box that holds all positions within reach.
  let box: Envelope
  /// Nil if the layer is in the map's reference.
  let transform: MapTransform?
  /// As of `CoordinateTransformer.bend(from:to:)`: edges are straight on the map.
  let bend: Double?
  private let layer: SpatialReference
  private let view: View

  /// Tolerance in pixels for the rounding of coordinates.
  static let rounding = 1e-6
  /// Maximum number of copies of the world, to either side, in which a feature is searched.
  private static let maxCopies = 64.0

  /// - Parameter symbols: how far the largest symbol extends from its position, in pixels.
  init(
    _ circle: ScreenCircle, _ symbols: Double, _ layer: DrawnLayer, _ view: View,
    _ transformer: any CoordinateTransformer
  ) throws(TransformError) {
    frame = view.frame(x: circle.x, y: circle.y)
    reach = circle.radius + Self.rounding + symbols
    box = frame.box(radius: reach)
    let map = view.reference.reference
    transform = layer.reference == map ? nil : try MapTransform(from: layer.reference, to: map, transformer)
    bend = layer.reference == map ? nil : try transformer.bend(from: layer.reference, to: map)
    (self.layer, self.view) = (layer.reference, view)
  }

  /// The area in which features are drawn on a whole screen.
  init(
    screenOf view: View, _ symbols: Double, _ layer: DrawnLayer, _ transformer: any CoordinateTransformer
  ) throws(TransformError) {
    frame = view.frame(x: 0, y: 0)
    reach = .infinity
    let corners = Geometry.multiPoint(view.visibleArea).envelope ?? .none
    box = corners.widened(by: symbols * frame.resolution)
    let map = view.reference.reference
    transform = layer.reference == map ? nil : try MapTransform(from: layer.reference, to: map, transformer)
    bend = layer.reference == map ? nil : try transformer.bend(from: layer.reference, to: map)
    (self.layer, self.view) = (layer.reference, view)
  }

  /// Boxes in the layer's reference that contain all positions within reach; nil if they cannot be determined.
  ///
  /// - Parameter extent: the box of all positions.
  func boxes(within extent: Envelope, _ transformer: any CoordinateTransformer) -> [Envelope]? {
    guard transform != nil else { return view.wrap?.turns(of: box, over: extent) ?? [box] }
    let map = view.reference
    let clamped = PolarLimit(map, transformer)?.clamped(box) ?? box
    var result: [Envelope] = []
    for turn in view.wrap?.turns(of: clamped, over: nil) ?? [clamped] {
      guard let found = transformer.boxes(holding: turn, of: map.reference, in: layer, within: extent) else {
        return nil
      }
      result += found
    }
    return result
  }

  /// Screen frames for the copies of the world in which a box is within reach.
  func frames(of box: Envelope) -> [ScreenFrame] {
    guard let wrap = view.wrap else { return [frame] }
    let near = self.box
    guard box.yMin <= near.yMax, box.yMax >= near.yMin else { return [] }
    let middle = wrap.shift(box.center.x, nearest: near.center.x) / wrap.width
    let low = max(((near.xMin - box.xMax) / wrap.width).rounded(.up), middle.rounded() - Self.maxCopies)
    let high = min(((near.xMax - box.xMin) / wrap.width).rounded(.down), middle.rounded() + Self.maxCopies)
    guard low <= high else { return [] }
    return stride(from: low, through: high, by: 1).map { frame.moved(east: $0 * wrap.width) }
  }

  /// Whether a map position is within reach in any copy of the world.
  func isNear(_ place: SIMD2<Double>) -> Bool { frames(at: place).contains { isNear(place, $0) } }

  /// The distance in pixels from the circle's center to a symbol at a map position; infinite out of reach.
  ///
  /// - Parameters:
  ///   - meter: has measured the symbol's texts; nil to estimate their sizes.
  ///   - symbol: called within reach; nil if nothing is drawn.
  func distance(at place: SIMD2<Double>, _ meter: TextMeter?, to symbol: () -> Symbol?) -> Double {
    let frames = frames(at: place)
    guard frames.contains(where: { isNear(place, $0) }), let symbol = symbol() else { return .infinity }
    return frames.reduce(.infinity) { min($0, symbol.distance(from: -$1.offset(x: place.x, y: place.y), meter)) }
  }

  private func isNear(_ place: SIMD2<Double>, _ frame: ScreenFrame) -> Bool {
    frame.offset(x: place.x, y: place.y).length <= reach
  }

  private func frames(at place: SIMD2<Double>) -> [ScreenFrame] {
    frames(of: Envelope(xMin: place.x, yMin: place.y, xMax: place.x, yMax: place.y))
  }

  /// The map position at which a position of the layer is drawn; nil if it cannot be transformed.
  func place(of position: Point) throws(TransformError) -> SIMD2<Double>? {
    guard let transform else { return SIMD2(position.x, position.y) }
    var values = [position.x, position.y]
    do throws(TransformError) { try transform.transform(&values) } catch {
      guard case .outsideDomain = error else { throw error }
      return nil
    }
    return SIMD2(values[0], values[1])
  }
}
