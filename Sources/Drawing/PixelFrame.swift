// The pixels of a picture: where each of them lies in a map.

import GeoModel
import Geometry

/// The pixels of a picture in a map, rotation included: device pixels from the top left.
package struct PixelFrame: Sendable {
  package let width: Int
  package let height: Int
  /// The reference of the map.
  package let reference: SpatialReference
  /// The period of x; nil if the map does not wrap.
  package let wrap: WorldWrap?
  /// The map position of the outer corner of the first pixel.
  private let origin: SIMD2<Double>
  /// The steps to the next column and to the next row, in map units.
  private let column: SIMD2<Double>
  private let row: SIMD2<Double>

  package init(
    width: Int, height: Int, reference: SpatialReference, wrap: WorldWrap?, origin: SIMD2<Double>, column: SIMD2<Double>,
    row: SIMD2<Double>
  ) {
    (self.width, self.height, self.reference, self.wrap) = (width, height, reference, wrap)
    (self.origin, self.column, self.row) = (origin, column, row)
  }

  /// The screen of a view.
  ///
  /// - Parameter ratio: device pixels per device-independent pixel.
  package init(of view: View, pixelRatio ratio: Double = 1) {
    let screen = view.screen
    func corner(_ x: Double, _ y: Double) -> SIMD2<Double> {
      let point = view.location(x: x, y: y)
      return SIMD2(point.x, point.y)
    }
    let origin = corner(0, 0)
    self.init(
      width: Int((screen.width * ratio).rounded(.up)), height: Int((screen.height * ratio).rounded(.up)),
      reference: view.reference.reference, wrap: view.wrap, origin: origin,
      column: (corner(screen.width, 0) - origin) / (screen.width * ratio), row: (corner(0, screen.height) - origin) / (screen.height * ratio))
  }

  /// The steps to the next column and to the next row.
  var steps: (column: SIMD2<Double>, row: SIMD2<Double>) { (column, row) }

  /// The map position of a place in pixels, within one turn of the world.
  func position(x: Double, y: Double) -> SIMD2<Double> {
    var place = origin + x * column + y * row
    if let wrap { place.x -= ((place.x - wrap.xMin) / wrap.width).rounded(.down) * wrap.width }
    return place
  }
}
