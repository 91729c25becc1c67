// Samples a raster at many positions, grouped by tile, so that each tile is read once.

import Files
import Geometry
import Platform
import Readers
import Reading
import Synchronization

/// An open raster: its first band as elevation in metres.
///
/// Thread-safe; one call at a time reads. The file stays open until the last reference is released.
///
/// ```swift
/// let raster = try ElevationRaster(readers, path: "/data/alps.tif")
/// let sample = try raster.sample(Point(x: 10.5, y: 46.8))  // .value(1890.4)
/// ```
public final class ElevationRaster: Sendable {
  /// Where more tiles than this are missing, the cells of those with fewer positions than ``denseCount`` are read alone.
  private static let sparseLimit = 16
  private static let denseCount = 256
  /// Number of tiles, and of cells, that are read at once.
  private static let tilesAtOnce = 16
  private static let cellsAtOnce = 1 << 16

  public let description: RasterDescription
  private let file: RasterReader
  private let tiles: RasterTiles<RasterHeights>
  private let number: Int
  private let turn = ReadingTurn()

  /// Opens a raster: GeoTIFF, Esri ASCII grid, SRTM HGT, DTED, ERDAS Imagine.
  /// - Parameter path: absolute.
  /// - Complexity: reads the headers only.
  public init(
    _ readers: Readers, path: String, policy: FilePolicy = FilePolicy(), isCancelled: () -> Bool = { false }
  ) throws(ReadError) {
    file = try RasterReader(readers, path: path, policy: policy, isCancelled: isCancelled)
    description = file.description
    tiles = readers.tiles
    number = tiles.makeRaster()
  }

  deinit { tiles.forget(raster: number) }

  /// The elevation at each position, given in the raster's reference.
  ///
  /// - Parameters:
  ///   - onlyKept: whether to read nothing.
  ///   - isCancelled: called before each reading and every few thousand positions.
  /// - Returns: nil if only kept tiles may be used, and one is missing.
  /// - Complexity: O(n log n) in positions, plus the reading of missing tiles of 256 x 256 pixels, each once. Tiles are kept for later
  ///   calls, but not those of which only a few cells are read because many tiles are missing.
  public func sample(
    _ positions: Positions, interpolation: Interpolation = .bilinear, onlyKept: Bool = false,
    isCancelled: () -> Bool = { false }
  ) throws(ReadError) -> [HeightSample]? {
    let grid = SampleGrid(description, interpolation)
    let (stride, count) = (positions.stride, positions.count)
    var result = [HeightSample](repeating: .outside, count: count)
    var cells: [SampleGrid.Cell] = []
    cells.reserveCapacity(count)
    positions.values.withUnsafeBufferPointer { values in
      for index in 0..<count {
        if let cell = grid.cell(x: values[index * stride], y: values[index * stride + 1], index) { cells.append(cell) }
      }
    }
    cells.sort { ($0.tile, $0.row) < ($1.tile, $1.row) }
    var missing: [Range<Int>] = []
    var start = 0
    while start < cells.count {
      var end = start
      while end < cells.count, cells[end].tile == cells[start].tile { end += 1 }
      if let heights = tiles[number, cells[start].tile] {
        try sample(cells[start..<end], of: grid.window(ofTile: cells[start].tile), heights, 0, &result, isCancelled)
      } else {
        guard !onlyKept else { return nil }
        missing.append(start..<end)
      }
      start = end
    }
    guard !missing.isEmpty else { return result }
    try turn.taken(isCancelled) { () throws(ReadError) in try read(missing, of: cells, grid, &result, isCancelled) }
    return result
  }

  /// The heights of a window within the raster, row by row; NaN without a value.
  ///
  /// - Parameter isCancelled: called before each reading.
  /// - Complexity: O(n) in cells, plus the reading of tiles that are not kept, each once; they are kept for later calls.
  public func cells(_ window: RasterWindow, isCancelled: () -> Bool = { false }) throws(ReadError) -> [Float] {
    let grid = SampleGrid(description, .nearest)
    let (size, width) = (SampleGrid.tileSize, Int(window.width))
    let columns = Int(window.column)..<Int(window.column + window.width)
    let rows = Int(window.row)..<Int(window.row + window.height)
    var cells = [Float](repeating: .nan, count: window.count)
    guard window.count > 0 else { return cells }
    func copy(_ heights: RasterHeights, from first: Int, _ tile: RasterWindow) {
      let (left, right) = (max(columns.lowerBound, Int(tile.column)), min(columns.upperBound, Int(tile.column) + size, grid.width))
      for row in max(rows.lowerBound, Int(tile.row))..<min(rows.upperBound, Int(tile.row) + size, grid.height) {
        let source = first + (row - Int(tile.row)) * Int(tile.width) + left - Int(tile.column)
        let target = (row - rows.lowerBound) * width + left - columns.lowerBound
        switch heights {
        case .narrow(let numbers): cells.replaceSubrange(target..<target + right - left, with: numbers[source..<source + right - left])
        case .wide(let numbers): for index in 0..<right - left { cells[target + index] = Float(numbers[source + index]) }
        }
      }
    }
    var missing: [Int] = []
    for tileRow in rows.lowerBound / size...(rows.upperBound - 1) / size {
      guard !isCancelled() else { throw .cancelled }
      for tileColumn in columns.lowerBound / size...(columns.upperBound - 1) / size {
        let tile = tileRow * grid.tilesAcross + tileColumn
        if let heights = tiles[number, tile] { copy(heights, from: 0, grid.window(ofTile: tile)) } else { missing.append(tile) }
      }
    }
    for start in stride(from: 0, to: missing.count, by: Self.tilesAtOnce) {
      let some = missing[start..<min(start + Self.tilesAtOnce, missing.count)]
      let windows = some.map(grid.window(ofTile:))
      let heights = try turn.taken(isCancelled) { () throws(ReadError) in try file.heights(windows, isCancelled: isCancelled) }
      var first = 0
      for (tile, window) in zip(some, windows) {
        tiles.keep(heights[first..<first + window.count], raster: number, tile: tile)
        copy(heights, from: first, window)
        first += window.count
      }
    }
    return cells
  }

  private func read(
    _ missing: [Range<Int>], of cells: [SampleGrid.Cell], _ grid: SampleGrid, _ result: inout [HeightSample],
    _ isCancelled: () -> Bool
  ) throws(ReadError) {
    let isSparse = missing.count { $0.count < Self.denseCount } > Self.sparseLimit
    var (whole, alone): ([Range<Int>], [SampleGrid.Cell]) = ([], [])
    for range in missing {
      if isSparse, range.count < Self.denseCount { alone += cells[range] } else { whole.append(range) }
    }
    var start = 0
    while start < whole.count {
      guard !isCancelled() else { throw .cancelled }
      let ranges = whole[start..<min(start + Self.tilesAtOnce, whole.count)]
      let windows = ranges.map { grid.window(ofTile: cells[$0.lowerBound].tile) }
      let heights = try file.heights(windows, isCancelled: isCancelled)
      var first = 0
      for (range, window) in zip(ranges, windows) {
        tiles.keep(heights[first..<first + window.count], raster: number, tile: cells[range.lowerBound].tile)
        try sample(cells[range], of: window, heights, first, &result, isCancelled)
        first += window.count
      }
      start += Self.tilesAtOnce
    }
    start = 0
    while start < alone.count {
      guard !isCancelled() else { throw .cancelled }
      let some = alone[start..<min(start + Self.cellsAtOnce, alone.count)]
      let heights = try file.heights(some.map(\.window), isCancelled: isCancelled)
      var first = 0
      for cell in some {
        result[cell.index] = heights.sample(cell, of: cell.window, first)
        first += cell.window.count
      }
      start += Self.cellsAtOnce
    }
  }

  private func sample(
    _ cells: ArraySlice<SampleGrid.Cell>, of window: RasterWindow, _ heights: RasterHeights, _ first: Int,
    _ result: inout [HeightSample], _ isCancelled: () -> Bool
  ) throws(ReadError) {
    for (count, cell) in cells.enumerated() {
      if count & 4095 == 4095 && isCancelled() { throw .cancelled }
      result[cell.index] = heights.sample(cell, of: window, first)
    }
  }
}

extension RasterHeights {
  /// - Parameter first: index of the window's first height.
  fileprivate func sample(_ cell: SampleGrid.Cell, of window: RasterWindow, _ first: Int) -> HeightSample {
    let width = Int(window.width)
    let start = first + (cell.row - Int(window.row)) * width + cell.column - Int(window.column)
    let (right, below) = (cell.columnWeight, cell.rowWeight)
    var sum = self[start] * (1 - right) * (1 - below)
    // A neighbour that does not exist has the weight 0.
    if right != 0 { sum += self[start + 1] * right * (1 - below) }
    if below != 0 { sum += self[start + width] * (1 - right) * below }
    if right != 0 && below != 0 { sum += self[start + width + 1] * right * below }
    // A NaN pixel with a weight makes the sum NaN; the file's scale may make it infinite.
    return sum.isFinite ? .value(sum) : .noData
  }
}

/// Maps positions to the pixels of a sample.
struct SampleGrid {
  /// Width and height of a tile in pixels; each tile is read with one more column and row, to interpolate at its last pixels.
  static let tileSize = 256
  /// What rounding moves a position, in pixels.
  private static let slack = 1e-6

  /// The first pixel of a sample, and the weights of the next column and row, in 0..<1.
  struct Cell {
    /// Index of the position.
    let index: Int
    let tile: Int
    let column: Int
    let row: Int
    let columnWeight: Double
    let rowWeight: Double

    /// The pixels that have a weight.
    var window: RasterWindow {
      RasterWindow(column: column, row: row, width: columnWeight == 0 ? 1 : 2, height: rowWeight == 0 ? 1 : 2)
    }
  }

  let transform: RasterTransform
  let width: Int
  let height: Int
  let interpolation: Interpolation
  var tilesAcross: Int { (width + Self.tileSize - 1) / Self.tileSize }

  init(_ description: RasterDescription, _ interpolation: Interpolation) {
    transform = description.transform
    width = description.width
    height = description.height
    self.interpolation = interpolation
  }

  /// A position at the centre of a pixel, but for rounding, needs no neighbour: that may have no value.
  private static func snapped(_ position: Double) -> Double {
    let whole = position.rounded()
    return abs(position - whole) <= slack ? whole : position
  }

  /// Nil outside of the raster. The outer edges are inside, with a tolerance of a millionth of a pixel for rounding.
  func cell(x: Double, y: Double, _ index: Int) -> Cell? {
    let (column, row) = transform.pixel(x: x, y: y)
    let slack = Self.slack
    guard column >= -slack, row >= -slack, column <= Double(width) + slack, row <= Double(height) + slack else {
      return nil
    }
    switch interpolation {
    case .nearest:
      return cell(index, Int(min(max(column, 0), Double(width - 1))), 0, Int(min(max(row, 0), Double(height - 1))), 0)
    case .bilinear:
      // Values apply to pixel centres; beyond the outermost centres only one is available.
      let column = Self.snapped(min(max(column - 0.5, 0), Double(width - 1)))
      let row = Self.snapped(min(max(row - 0.5, 0), Double(height - 1)))
      let c = Int(column)
      let r = Int(row)
      return cell(index, c, column - Double(c), r, row - Double(r))
    }
  }

  private func cell(_ index: Int, _ column: Int, _ columnWeight: Double, _ row: Int, _ rowWeight: Double) -> Cell {
    Cell(
      index: index, tile: row / Self.tileSize * tilesAcross + column / Self.tileSize, column: column, row: row,
      columnWeight: columnWeight, rowWeight: rowWeight)
  }

  func window(ofTile tile: Int) -> RasterWindow {
    let (column, row) = (tile % tilesAcross * Self.tileSize, tile / tilesAcross * Self.tileSize)
    return RasterWindow(
      column: column, row: row, width: min(Self.tileSize + 1, width - column), height: min(Self.tileSize + 1, height - row))
  }
}
