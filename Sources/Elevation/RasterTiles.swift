// Tiles of elevation, read on demand. The last ones are cached, since neighbouring positions are requested together.

import Geometry
import Readers
import Reading

/// A rectangle of elevation in metres; NaN for pixels without a value.
struct RasterTile {
  let firstColumn: Int
  let firstRow: Int
  let width: Int
  let heights: [Double]

  func sample(_ cell: SampleGrid.Cell) -> HeightSample {
    let start = (cell.row - firstRow) * width + cell.column - firstColumn
    let right = cell.columnWeight
    let below = cell.rowWeight
    var sum = heights[start] * (1 - right) * (1 - below)
    // A neighbour that does not exist has the weight 0.
    if right != 0 { sum += heights[start + 1] * right * (1 - below) }
    if below != 0 { sum += heights[start + width] * (1 - right) * below }
    if right != 0 && below != 0 { sum += heights[start + width + 1] * right * below }
    // A NaN pixel with a weight makes the sum NaN; the file's scale may make it infinite.
    return sum.isFinite ? .value(sum) : .noData
  }
}

/// A raster file and its cached tiles.
struct RasterTiles {
  /// Half a megabyte each.
  private static let maximumKept = 32

  let file: RasterReader
  private var kept: [Int: RasterTile] = [:]
  private var order: [Int] = []

  init(file: RasterReader) { self.file = file }

  mutating func tile(
    _ number: Int, _ grid: SampleGrid, _ isCancelled: () -> Bool
  ) throws(ReadError) -> RasterTile {
    if let tile = kept[number] { return tile }
    let size = SampleGrid.tileSize
    let column = number % grid.tilesAcross * size
    let row = number / grid.tilesAcross * size
    let width = min(size + 1, grid.width - column)
    let height = min(size + 1, grid.height - row)
    let window = RasterWindow(column: column, row: row, width: width, height: height)
    let heights = try file.heights(window, isCancelled: isCancelled)
    let tile = RasterTile(firstColumn: column, firstRow: row, width: width, heights: heights)
    if order.count >= Self.maximumKept { kept[order.removeFirst()] = nil }
    kept[number] = tile
    order.append(number)
    return tile
  }
}
