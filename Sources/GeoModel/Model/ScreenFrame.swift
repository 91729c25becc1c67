// Screen coordinates relative to a screen point: where map positions are, in pixels from it.

import Geometry

/// Maps positions of a view's map to device-independent pixels from a screen point: x to the right, y down.
public struct ScreenFrame: Sendable {
  /// The camera's center.
  private var origin: SIMD2<Double>
  private let right: SIMD2<Double>
  private let down: SIMD2<Double>
  /// The middle of the screen, relative to the screen point.
  private let middle: SIMD2<Double>
  /// Map units per pixel.
  public let resolution: Double
  /// The map position of the screen point.
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

  /// The frame in which positions are drawn shifted east by `x`, as the copies of a world that wraps are.
  public func moved(east x: Double) -> ScreenFrame {
    changed(self) { $0.origin.x -= x }
  }

  /// The map box around the circle with a radius in pixels around the screen point.
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
