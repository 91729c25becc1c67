// Slope, aspect and shading of cells, from the eight cells around each.

import Geometry
import Platform

/// The gradient of the ground in metres a metre, to the east and to the north.
public struct Gradient: Hashable, Sendable {
  public let east: Double
  public let north: Double

  public init(east: Double, north: Double) { (self.east, self.north) = (east, north) }

  /// Degrees.
  public var slope: Double { atan((east * east + north * north).squareRoot()) * 180 / .pi }

  /// The direction in which the ground falls, in degrees clockwise from north, in [0, 360); NaN where it is flat.
  public var aspect: Double {
    guard east != 0 || north != 0 else { return .nan }
    let angle = atan2(-east, -north) * 180 / .pi
    return angle < 0 ? angle + 360 : angle
  }

  /// Light from an azimuth and an altitude in degrees, in -1...1: the cosine of its angle with the normal of the ground.
  public func light(azimuth: Double, altitude: Double) -> Double {
    let (azimuth, altitude) = (azimuth * .pi / 180, altitude * .pi / 180)
    let steep = (1 + east * east + north * north).squareRoot()
    return (sin(altitude) - cos(altitude) * (sin(azimuth) * east + cos(azimuth) * north)) / steep
  }

  /// - Parameters:
  ///   - cells: the nine heights, row by row; NaN if one that is needed is.
  ///   - metric: the steps of the cells.
  public init(_ cells: (Double, Double, Double, Double, Double, Double, Double, Double, Double), _ metric: CellMetric, _ method: SlopeMethod) {
    let (a, b, c, d, _, f, g, h, i) = cells
    let column: Double
    let row: Double
    switch method {
    case .horn:
      column = ((c + 2 * f + i) - (a + 2 * d + g)) / 8
      row = ((g + 2 * h + i) - (a + 2 * b + c)) / 8
    case .zevenbergenThorne:
      column = (f - d) / 2
      row = (h - b) / 2
    }
    // The gradient whose products with the steps to the next column and row are the differences.
    let determinant = metric.column.x * metric.row.y - metric.column.y * metric.row.x
    east = (column * metric.row.y - row * metric.column.y) / determinant
    north = (row * metric.column.x - column * metric.row.x) / determinant
  }
}
