// What of a scene is drawn pixel by pixel: the light on its ground, the sky, and rasters on the ground.

import GeoModel
import Geometry
import Pictures
import Platform
import Sorting
import Terrain

extension SceneGround {
  /// Pixels along a side of what is read of a raster for grounds that are about as far away.
  private static let rasterSide = 2048.0
  private static let sky: UInt32 = 0xFFC9_DFF2

  /// The sky, and the shaded ground where it has heights; elsewhere nothing.
  func backdrop(hasSky: Bool) -> [UInt32] {
    (0..<width * height).map { index in
      guard depths[index] < .infinity else { return hasSky ? Self.sky : 0 }
      return light[index] == 0 ? 0 : surface.shade(light[index])
    }
  }

  /// The colours of a raster on the ground; nil if it is nowhere.
  ///
  /// Grounds that are up to four times as far away as others share pixels, which are as small as those that are seen of the nearest.
  func image(of raster: DrawnRaster, _ view: View, checking check: CancellationCheck) throws -> [UInt32]? {
    var bands: [Int: (box: Envelope, nearest: Float)] = [:]
    func band(_ depth: Float) -> Int { Int(log2(Double(max(depth, 1))) / 2) }
    for index in depths.indices where depths[index] < .infinity {
      let (depth, place) = (depths[index], places[index])
      var found = bands[band(depth)] ?? (.none, depth)
      found.box.include(Envelope(xMin: place.x, yMin: place.y, xMax: place.x, yMax: place.y))
      found.nearest = min(found.nearest, depth)
      bands[band(depth)] = found
    }
    var result: [UInt32]?
    for (done, (number, part)) in bands.enumerated() {
      let size = Double(part.nearest) / perspective.focus / scale / metersPerDegree
      let box = part.box.widened(by: 2 * size)
      func count(_ length: Double) -> Double { max(1, min((length / size).rounded(.up), Self.rasterSide)) }
      let (across, down) = (count(box.width), count(box.height))
      let step = SIMD2(box.width / across, -box.height / down)
      let frame = PixelFrame(
        width: Int(across), height: Int(down), reference: .wgs84, wrap: view.wrap, origin: SIMD2(box.xMin, box.yMax),
        column: SIMD2(step.x, 0), row: SIMD2(0, step.y))
      guard let pixels = try raster.pixels(in: frame, checking: { try check((Double(done) + $0) / Double(bands.count)) }) else { continue }
      var image = result ?? Array(repeating: 0, count: depths.count)
      for index in depths.indices where depths[index] < .infinity && band(depths[index]) == number {
        let place = (places[index] - SIMD2(box.xMin, box.yMax)) / step
        let (x, y) = (Int(place.x) - pixels.x, Int(place.y) - pixels.y)
        guard x >= 0, y >= 0, x < pixels.width, y < pixels.height else { continue }
        image[index] = pixels.colors[y * pixels.width + x]
      }
      result = image
    }
    return result
  }
}

extension BaseSurface {
  /// The colour of ground with some light, as pictures have it.
  fileprivate func shade(_ light: UInt8) -> UInt32 {
    let (grey, alpha) = (UInt32(Double(light) * opacity), UInt32(255 * opacity))
    return alpha << 24 | grey << 16 | grey << 8 | grey
  }

  /// The shaded ground of a view from above; nil where there is none.
  ///
  /// - Parameter ratio: pixels to a device-independent pixel; light is computed of at most 4,194,304.
  /// - Throws: also if heights cannot be read.
  package func hillshade(
    of view: View, ratio: Double, _ transformer: any CoordinateTransformer, isCancelled: @escaping @Sendable () -> Bool,
    checking check: CancellationCheck
  ) throws -> DrawnPixels? {
    guard hasHeights, opacity > 0 else { return nil }
    let ratio = min(ratio, (SceneGround.sampleLimit / (view.screen.width * view.screen.height)).squareRoot())
    let frame = PixelFrame(of: view, pixelRatio: ratio)
    // With one more on each side.
    let width = frame.width + 2
    let points = (0..<width * (frame.height + 2)).map { index in
      let place = frame.position(x: Double(index % width) - 0.5, y: Double(index / width) - 0.5)
      return Point(x: place.x, y: place.y)
    }
    let heights = try drawnHeights(at: points, transformer, isCancelled: isCancelled) { try check(0.8 * $0) }
    let steps = frame.steps
    var colors = [UInt32](repeating: 0, count: frame.width * frame.height)
    for row in 0..<frame.height {
      try check(0.8 + 0.2 * Double(row) / Double(frame.height))
      for column in 0..<frame.width {
        let index = (row + 1) * width + column + 1
        let middle = heights[index]
        guard !middle.isNaN else { continue }
        func near(_ x: Int, _ y: Int) -> Double {
          let near = heights[index + y * width + x]
          return near.isNaN ? middle : near
        }
        let east = metersPerDegree * max(cos(points[index].y * .pi / 180), 1e-3)
        let metric = CellMetric(
          column: SIMD2(steps.column.x * east, steps.column.y * metersPerDegree), row: SIMD2(steps.row.x * east, steps.row.y * metersPerDegree))
        let gradient = Gradient(
          (near(-1, -1), near(0, -1), near(1, -1), near(-1, 0), middle, near(1, 0), near(-1, 1), near(0, 1), near(1, 1)), metric, .horn)
        colors[row * frame.width + column] = shade(gradient.shade)
      }
    }
    return DrawnPixels(x: 0, y: 0, width: frame.width, height: frame.height, colors: colors)
  }
}
