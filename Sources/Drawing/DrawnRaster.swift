// A raster layer of a view snapshot, and its pixels in a picture.

import GeoModel
import Geometry
import Platform
import Sorting

/// A raster layer that a view draws.
package struct DrawnRaster: Sendable {
  package let object: ObjectReference
  package let name: String
  package let stratum: DrawnLayer.Stratum
  /// Opacity from 0 to 1, multiplied by the opacities of the groups that contain the layer.
  package let opacity: Double
  /// How many of the snapshot's layers are drawn below it.
  package let index: Int
  package let renderer: RasterRenderer
  package let source: any RasterSource
  let transformer: any CoordinateTransformer

  package init(
    _ layer: ObjectReference, name: String = "", _ stratum: DrawnLayer.Stratum, opacity: Double = 1, index: Int = 0,
    _ renderer: RasterRenderer, _ source: any RasterSource, _ transformer: any CoordinateTransformer
  ) {
    (object, self.name, self.stratum, self.opacity, self.index) = (layer, name, stratum, opacity, index)
    (self.renderer, self.source, self.transformer) = (renderer, source, transformer)
  }
}

/// Pixels of a picture that a raster covers.
package struct DrawnPixels: Sendable {
  /// The box within the picture.
  package let x: Int
  package let y: Int
  package let width: Int
  package let height: Int
  /// Row by row: `0xAARRGGBB`, premultiplied. The layer's opacity is not in it.
  package var colors: [UInt32]
}

extension DrawnRaster {
  /// Pixels along the side of a block that is drawn at once.
  private static let block = 16 * RasterGrid.cell
  /// Pixels of a raster that are read for one block; a block that needs more is divided.
  private static let windowLimit = 1 << 22

  /// The pixels of a picture that the raster covers; nil if it covers none.
  ///
  /// - Parameter check: called every few milliseconds; throws to cancel.
  /// - Throws: also if the file cannot be read, or a reference is not known to PROJ.
  /// - Complexity: O(pixels), plus the reading of what is not kept.
  package func pixels(in frame: PixelFrame, checking check: CancellationCheck = { _ in }) throws -> DrawnPixels? {
    var stopped: (any Error)?
    func isCancelled() -> Bool {
      guard stopped == nil else { return true }
      do { try check(0.1) } catch { stopped = error }
      return stopped != nil
    }
    do {
      let grid = try RasterGrid(frame, source.info, transformer) { try check(0.1 * $0) }
      guard let covered = grid.covered, let colors = try RasterColors(renderer, source, isCancelled: isCancelled) else { return nil }
      let size = RasterGrid.cell
      let (x, y) = (covered.columns.lowerBound * size, covered.rows.lowerBound * size)
      var result = DrawnPixels(
        x: x, y: y, width: min(covered.columns.upperBound * size, frame.width) - x,
        height: min(covered.rows.upperBound * size, frame.height) - y, colors: [])
      result.colors = Array(repeating: 0, count: result.width * result.height)
      let painter = try RasterPainter(self, grid, colors)
      let step = Self.block / size
      for row in stride(from: covered.rows.lowerBound, to: covered.rows.upperBound, by: step) {
        for column in stride(from: covered.columns.lowerBound, to: covered.columns.upperBound, by: step) {
          try check(0.1 + 0.9 * Double(row - covered.rows.lowerBound) / Double(covered.rows.count))
          let columns = column..<min(column + step, covered.columns.upperBound)
          try painter.paint(columns, row..<min(row + step, covered.rows.upperBound), limit: Self.windowLimit, into: &result, isCancelled: isCancelled)
        }
      }
      return result
    } catch {
      throw stopped ?? error
    }
  }
}

/// Draws blocks of cells.
private struct RasterPainter {
  let grid: RasterGrid
  let colors: RasterColors
  let renderer: RasterRenderer
  let source: any RasterSource
  let level: Int
  let relief: RasterRelief?

  init(_ raster: DrawnRaster, _ grid: RasterGrid, _ colors: RasterColors) throws {
    (self.grid, self.colors) = (grid, colors)
    (renderer, source) = (raster.renderer, raster.source)
    let info = source.info
    // Twice as many pixels as are drawn are still enough for interpolation.
    let wanted = Int((log2(max(grid.ratio, 1)) + 0.2).rounded(.down))
    let limit = Int(log2(Double(max(info.width, info.height))).rounded(.up))
    let ownLevel = min(max(wanted, 0), limit)
    level = ownLevel
    let reference = try raster.transformer.describe(info.reference)
    let unit = reference.kind == .geographic ? nil : reference.metersPerUnit ?? 1
    func relief(_ quantity: RasterRelief.Quantity, _ zFactor: Double) -> RasterRelief {
      RasterRelief(quantity: quantity, zFactor: zFactor, info: info, level: ownLevel, metersPerUnit: unit)
    }
    self.relief =
      switch renderer {
      case .hillshade(_, let azimuth, let altitude, let zFactor):
        relief(.hillshade(azimuth: azimuth, altitude: altitude), zFactor)
      case .slope(_, let zFactor, _, _): relief(.slope, zFactor)
      case .rgb, .stretch, .classified, .colormap: nil
      }
  }

  /// Draws the cells of some columns and rows.
  func paint(_ columns: Range<Int>, _ rows: Range<Int>, limit: Int, into result: inout DrawnPixels, isCancelled: () -> Bool) throws {
    let size = RasterGrid.cell
    let (width, height) = (
      min(columns.upperBound * size, result.x + result.width) - columns.lowerBound * size,
      min(rows.upperBound * size, result.y + result.height) - rows.lowerBound * size
    )
    let info = source.info
    let levelSize = SIMD2(info.width(at: level), info.height(at: level))
    let scale = SIMD2(Double(levelSize.x) / Double(info.width), Double(levelSize.y) / Double(info.height))
    var places = [SIMD2<Double>](repeating: SIMD2(.nan, .nan), count: width * height)
    try places.withUnsafeMutableBufferPointer { places in
      guard let base = places.baseAddress else { return }
      for row in rows {
        for column in columns {
          let first = (row - rows.lowerBound) * size * width + (column - columns.lowerBound) * size
          try grid.places(column: column, row: row, into: base + first, stride: width, scale: scale)
        }
      }
    }
    let end = SIMD2<Double>(Double(levelSize.x), Double(levelSize.y))
    var (low, high) = (end, SIMD2<Double>(0, 0))
    for index in places.indices {
      let place = places[index]
      guard place.x >= 0, place.y >= 0, place.x <= end.x, place.y <= end.y else {
        places[index] = SIMD2(.nan, .nan)
        continue
      }
      low = pointwiseMin(low, place)
      high = pointwiseMax(high, place)
    }
    guard low.x <= high.x, low.y <= high.y else { return }
    // One more pixel on each side for interpolation, and another for slopes.
    let margin = relief == nil ? 1 : 2
    let (left, top) = (max(Int(low.x - 0.5) - margin, 0), max(Int(low.y - 0.5) - margin, 0))
    let (right, bottom) = (min(Int(high.x + 0.5) + margin + 1, levelSize.x), min(Int(high.y + 0.5) + margin + 1, levelSize.y))
    let window = RasterWindow(column: left, row: top, width: right - left, height: bottom - top)
    guard window.count <= limit || columns.count * rows.count == 1 else {
      let (middle, half) = ((columns.lowerBound + columns.upperBound) / 2, (rows.lowerBound + rows.upperBound) / 2)
      for part in [columns.lowerBound..<middle, middle..<columns.upperBound] where !part.isEmpty {
        for other in [rows.lowerBound..<half, half..<rows.upperBound] where !other.isEmpty {
          try paint(part, other, limit: limit, into: &result, isCancelled: isCancelled)
        }
      }
      return
    }
    let pixels = try source.pixels(window, level: level, bands: renderer.bands, isNearest: renderer.isDiscrete, isCancelled: isCancelled)
    let sampler = RasterSampler(pixels, window, relief)
    let origin = (rows.lowerBound * size - result.y) * result.width + columns.lowerBound * size - result.x
    let (isDiscrete, rowWidth) = (renderer.isDiscrete, result.width)
    result.colors.withUnsafeMutableBufferPointer { target in
      for y in 0..<height {
        for x in 0..<width {
          let place = places[y * width + x]
          guard place.x == place.x, let found = isDiscrete ? sampler.nearest(place) : sampler.between(place) else { continue }
          target[origin + y * rowWidth + x] = colors.color(found.numbers, found.alpha)
        }
      }
    }
  }
}

/// Finds the numbers at places among the pixels of a window.
private struct RasterSampler {
  private let width: Int
  private let height: Int
  private let origin: SIMD2<Double>
  private let bands: [[Float]]
  private let mask: [UInt8]

  init(_ pixels: RasterPixels, _ window: RasterWindow, _ relief: RasterRelief?) {
    (width, height, mask) = (pixels.width, pixels.height, pixels.mask)
    origin = SIMD2(Double(window.column), Double(window.row))
    let count: Int
    switch pixels.numbers {
    case .bytes(let bytes): count = bytes.count / max(pixels.mask.count, 1)
    case .floats(let floats): count = floats.count / max(pixels.mask.count, 1)
    }
    let numbers = (0..<min(count, 4)).map { pixels.floats(ofBand: $0) }
    bands = relief.map { [$0.values(numbers[0], pixels.mask, window)] } ?? numbers
  }

  /// Nil without data.
  func nearest(_ place: SIMD2<Double>) -> (numbers: SIMD4<Float>, alpha: Float)? {
    let place = place - origin
    let index = min(max(Int(place.y), 0), height - 1) * width + min(max(Int(place.x), 0), width - 1)
    guard mask[index] != 0 else { return nil }
    var numbers = SIMD4<Float>()
    for band in bands.indices { numbers[band] = bands[band][index] }
    return (numbers, Float(mask[index]) / 255)
  }

  /// Interpolates between the centres of the four pixels around a place; those without data have no part in it.
  func between(_ place: SIMD2<Double>) -> (numbers: SIMD4<Float>, alpha: Float)? {
    let place = pointwiseMax(place - origin - 0.5, SIMD2<Double>(0, 0))
    let (column, row) = (min(Int(place.x), width - 1), min(Int(place.y), height - 1))
    let (u, v) = (Float(min(place.x - Double(column), 1)), Float(min(place.y - Double(row), 1)))
    let (right, below) = (column + 1 < width ? 1 : 0, row + 1 < height ? width : 0)
    let first = row * width + column
    let indexes = (first, first + right, first + below, first + below + right)
    let weights = SIMD4<Float>((1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v)
    let seen = SIMD4<Float>(Float(mask[indexes.0]), Float(mask[indexes.1]), Float(mask[indexes.2]), Float(mask[indexes.3])) / 255
    let parts = weights * seen
    let alpha = parts.sum()
    guard alpha > 0 else { return nil }
    var numbers = SIMD4<Float>()
    for (index, band) in bands.enumerated() {
      numbers[index] = (parts * SIMD4<Float>(band[indexes.0], band[indexes.1], band[indexes.2], band[indexes.3])).sum() / alpha
    }
    return (numbers, min(alpha, 1))
  }
}
