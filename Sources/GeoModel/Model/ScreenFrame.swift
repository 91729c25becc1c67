// The screen seen from one of its points: where positions of the map are, in pixels from it.

import Geometry

/// Maps positions of a view's map to device-independent pixels from a screen point: x to the right, y down.
public struct ScreenFrame: Sendable {
  /// The camera's center.
  private var origin: SIMD2<Double>
  private let right: SIMD2<Double>
  private let down: SIMD2<Double>
  /// The middle of the screen, from the screen point.
  private let middle: SIMD2<Double>
  /// Map units per pixel.
  public let resolution: Double
  /// The screen point in the map.
  public let location: Point

  fileprivate init(x: Double, y: Double, of view: View) {
    let camera = view.camera
    let (right, up) = camera.axes
    resolution = camera.resolution(on: view.screen, metersPerUnit: view.metersPerUnit)
    origin = SIMD2(camera.x, camera.y)
    self.right = SIMD2(right.0, right.1) / resolution
    down = SIMD2(-up.0, -up.1) / resolution
    middle = SIMD2(view.screen.width / 2 - x, view.screen.height / 2 - y)
    location = view.location(x: x, y: y)
  }

  /// Pixels from the screen point to a position.
  @inline(__always)
  public func offset(x: Double, y: Double) -> SIMD2<Double> {
    let position = SIMD2(x, y) - origin
    return middle + SIMD2((position * right).sum(), (position * down).sum())
  }

  /// The frame in which positions are drawn that far to the east: the copies of a world that wraps.
  public func moved(east x: Double) -> ScreenFrame {
    var result = self
    result.origin.x -= x
    return result
  }

  /// The box around the circle of so many pixels around the screen point, in the map.
  public func box(radius: Double) -> Envelope {
    let reach = radius * resolution
    return Envelope(
      xMin: location.x - reach, yMin: location.y - reach, xMax: location.x + reach, yMax: location.y + reach)
  }
}

extension View {
  /// The frame of a screen point.
  public func frame(x: Double, y: Double) -> ScreenFrame { ScreenFrame(x: x, y: y, of: self) }
}
