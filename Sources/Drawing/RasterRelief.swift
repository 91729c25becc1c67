// Slopes and shading of the pixels of a raster, as GDAL computes them.

import GeoModel
import Geometry
import Platform
import Terrain

/// Computes slopes or shading of heights at a level.
struct RasterRelief {
  enum Quantity {
    /// From 1, in shadow, to 255.
    case hillshade(azimuth: Double, altitude: Double)
    /// Degrees.
    case slope
  }

  let quantity: Quantity
  let zFactor: Double
  let info: RasterInfo
  let level: Int
  /// Metres per unit; nil in degrees.
  let metersPerUnit: Double?

  /// - Parameters:
  ///   - heights: of a window, row by row.
  ///   - mask: 0 without a height.
  ///   - window: within the level.
  /// - Returns: the values of the cells; those at the edge of the window are right only where that is the edge of the raster.
  func values(_ heights: [Float], _ mask: [UInt8], _ window: RasterWindow) -> [Float] {
    let (width, height) = (Int(window.width), Int(window.height))
    let (columns, rows) = (0..<width, 0..<height)
    var values = [Float](repeating: 0, count: heights.count)
    heights.withUnsafeBufferPointer { heights in
      mask.withUnsafeBufferPointer { mask in
        for row in 0..<height {
          let metric = metric(row: Double(Int(window.row) + row) + 0.5)
          for column in 0..<width where mask[row * width + column] != 0 {
            let middle = Double(heights[row * width + column])
            /// As with the edges of gdaldem: a neighbour without a height is as high as the pixel.
            func near(_ x: Int, _ y: Int) -> Double {
              let index = (row + y) * width + column + x
              return mask[index] == 0 ? middle : Double(heights[index])
            }
            let isAtEnd = row == 0 || row == height - 1
            /// Beyond the raster heights go on as they rise towards its edge; at a corner up and down alone.
            func cell(_ x: Int, _ y: Int) -> Double {
              let (isBeside, isOver) = (!columns.contains(column + x), !rows.contains(row + y))
              if isOver {
                let beside = isBeside ? 0 : x
                return rows.contains(row - y) ? 2 * near(beside, 0) - near(beside, -y) : near(beside, 0)
              }
              if isBeside { return columns.contains(column - x) && !isAtEnd ? 2 * near(0, y) - near(-x, y) : near(0, y) }
              return near(x, y)
            }
            let gradient = Gradient(
              (
                cell(-1, -1), cell(0, -1), cell(1, -1), cell(-1, 0), middle, cell(1, 0), cell(-1, 1), cell(0, 1), cell(1, 1)
              ), metric, .horn)
            values[row * width + column] = value(Gradient(east: gradient.east * zFactor, north: gradient.north * zFactor))
          }
        }
      }
    }
    return values
  }

  private func value(_ gradient: Gradient) -> Float {
    switch quantity {
    case .hillshade(let azimuth, let altitude): Float(1 + 254 * max(gradient.light(azimuth: azimuth, altitude: altitude), 0))
    case .slope: Float(gradient.slope)
    }
  }

  /// The steps of the cells of a row at the level, in metres.
  private func metric(row: Double) -> CellMetric {
    let (across, down) = (Double(info.width) / Double(info.width(at: level)), Double(info.height) / Double(info.height(at: level)))
    let transform = info.transform
    var east = metersPerUnit ?? 1, north = metersPerUnit ?? 1
    if metersPerUnit == nil {
      // The radii of curvature of WGS 84 at the latitude of the row's middle.
      let latitude = transform.position(column: Double(info.width) / 2, row: row * down).y
      let (axis, squared) = (6_378_137.0, 0.006_694_379_990_141_3)
      let sine = sin(latitude * .pi / 180)
      let part = 1 - squared * sine * sine
      east = max(axis * cos(latitude * .pi / 180), 1) / part.squareRoot() * .pi / 180
      north = axis * (1 - squared) / (part * part.squareRoot()) * .pi / 180
    }
    return CellMetric(
      column: SIMD2(transform.xPerColumn * across * east, transform.yPerColumn * across * north),
      row: SIMD2(transform.xPerRow * down * east, transform.yPerRow * down * north))
  }
}
