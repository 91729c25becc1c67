// How far apart the cells of a grid are on the ground, and how the ground between them curves.

/// The steps of a grid near one place, in metres to the east and to the north.
public struct CellMetric: Hashable, Sendable {
  /// From a cell to the one in the next column.
  public let column: SIMD2<Double>
  /// From a cell to the one in the next row.
  public let row: SIMD2<Double>

  public init(column: SIMD2<Double>, row: SIMD2<Double>) { (self.column, self.row) = (column, row) }

  /// Square metres.
  public var cellArea: Double { abs(column.x * row.y - column.y * row.x) }

  /// The coefficients of `c²`, `c * r` and `r²` in the sum of the squares of east and north, each times its weight, `c` columns
  /// and `r` rows away.
  func form(east: Double = 1, north: Double = 1) -> (Double, Double, Double) {
    (
      east * column.x * column.x + north * column.y * column.y, 2 * (east * column.x * row.x + north * column.y * row.y),
      east * row.x * row.x + north * row.y * row.y
    )
  }

  /// The columns and rows that lead so many metres to the east and to the north.
  public func cells(east: Double, north: Double) -> (columns: Double, rows: Double) {
    let determinant = column.x * row.y - column.y * row.x
    return ((east * row.y - north * row.x) / determinant, (north * column.x - east * column.y) / determinant)
  }
}
