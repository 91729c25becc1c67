// Where that lies which may be drawn within a circle: in a layer's reference, and in the copies of the map's world.

import GeoModel
import Geometry

/// The surroundings of a circle on the screen.
struct HitArea {
  let frame: ScreenFrame
  /// The greatest distance of a position from the circle's center whose symbol may be within it, in pixels.
  let reach: Double
  /// Nil where the layer has the map's reference.
  let transform: MapTransform?
  private let layer: SpatialReference
  private let view: View

  /// Coordinates are rounded; what is this near is hit. In pixels.
  static let rounding = 1e-6
  /// Worlds drawn side by side in which one feature is looked for.
  private static let maxCopies = 64.0

  /// - Parameter symbols: by how much the largest symbol reaches beyond its position, in pixels.
  init(
    _ circle: ScreenCircle, _ symbols: Double, _ layer: DrawnLayer, _ view: View,
    _ transformer: any CoordinateTransformer
  ) throws(TransformError) {
    frame = view.frame(x: circle.x, y: circle.y)
    reach = circle.radius + Self.rounding + symbols
    let map = view.reference.reference
    transform = layer.reference == map ? nil : try MapTransform(from: layer.reference, to: map, transformer)
    (self.layer, self.view) = (layer.reference, view)
  }

  /// Boxes in the layer's reference that hold all positions within reach; nil if none are known.
  ///
  /// - Parameter extent: of all positions.
  func boxes(within extent: Envelope, _ transformer: any CoordinateTransformer) -> [Envelope]? {
    let box = frame.box(radius: reach)
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

  /// The frames of the worlds in which a box is within reach.
  func frames(of box: Envelope) -> [ScreenFrame] {
    guard let wrap = view.wrap else { return [frame] }
    let near = frame.box(radius: reach)
    guard box.yMin <= near.yMax, box.yMax >= near.yMin else { return [] }
    let middle = wrap.shift(box.center.x, nearest: frame.location.x) / wrap.width
    let low = max(((near.xMin - box.xMax) / wrap.width).rounded(.up), middle.rounded() - Self.maxCopies)
    let high = min(((near.xMax - box.xMin) / wrap.width).rounded(.down), middle.rounded() + Self.maxCopies)
    guard low <= high else { return [] }
    return stride(from: low, through: high, by: 1).map { frame.moved(east: $0 * wrap.width) }
  }

  /// Whether a place of the map is within reach in some world.
  func isNear(_ place: SIMD2<Double>) -> Bool { frames(at: place).contains { isNear(place, $0) } }

  /// The distance from the circle's center to a symbol at a place of the map, in pixels; infinite out of reach.
  ///
  /// - Parameter symbol: called within reach; nil if nothing is drawn.
  func distance(at place: SIMD2<Double>, to symbol: () -> Symbol?) -> Double {
    let frames = frames(at: place)
    guard frames.contains(where: { isNear(place, $0) }), let symbol = symbol() else { return .infinity }
    return frames.reduce(.infinity) { min($0, symbol.distance(from: -$1.offset(x: place.x, y: place.y))) }
  }

  private func isNear(_ place: SIMD2<Double>, _ frame: ScreenFrame) -> Bool {
    frame.offset(x: place.x, y: place.y).length <= reach
  }

  private func frames(at place: SIMD2<Double>) -> [ScreenFrame] {
    frames(of: Envelope(xMin: place.x, yMin: place.y, xMax: place.x, yMax: place.y))
  }

  /// Where the map draws a position of the layer; nil where it cannot.
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
