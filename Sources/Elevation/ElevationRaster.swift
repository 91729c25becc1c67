// Samples a raster at many positions, grouped by tile, so that each tile is read once.

import Files
import Geometry
import Readers
import Reading
import Synchronization

/// An open raster: its first band as elevation in metres.
///
/// Thread-safe; calls are serialized. The file stays open until the last reference is released.
///
/// ```swift
/// let raster = try ElevationRaster(readers, path: "/data/alps.tif")
/// let sample = try raster.sample(Point(x: 10.5, y: 46.8))  // .value(1890.4)
/// ```
public final class ElevationRaster: Sendable {
  public let description: RasterDescription
  private let tiles: Mutex<RasterTiles>

  /// Opens a raster: GeoTIFF, Esri ASCII grid, SRTM HGT, DTED, ERDAS Imagine.
  /// - Parameter path: absolute.
  /// - Complexity: reads the headers only.
  public init(
    _ readers: Readers, path: String, policy: FilePolicy = FilePolicy(), isCancelled: () -> Bool = { false }
  ) throws(ReadError) {
    let file = try RasterReader(readers, path: path, policy: policy, isCancelled: isCancelled)
    description = file.description
    tiles = Mutex(RasterTiles(file: file))
  }

  /// The elevation at each position, given in the raster's reference.
  ///
  /// - Parameter isCancelled: called before each tile is read and every few thousand positions.
  /// - Complexity: O(n log n) in positions, plus one read for each tile of 256 x 256 pixels that they touch. The last
  ///   tiles are cached for later calls.
  public func sample(
    _ positions: Positions, interpolation: Interpolation = .bilinear,
    isCancelled: () -> Bool = { false }
  ) throws(ReadError) -> [HeightSample] {
    let grid = SampleGrid(description, interpolation)
    let stride = positions.stride
    let count = positions.count
    var result = [HeightSample](repeating: .outside, count: count)
    var wanted: [(tile: Int, index: Int)] = []
    wanted.reserveCapacity(count)
    let cells: [SampleGrid.Cell?] = positions.values.withUnsafeBufferPointer { values in
      (0..<count).map { grid.cell(x: values[$0 * stride], y: values[$0 * stride + 1]) }
    }
    for (index, cell) in cells.enumerated() {
      if let cell { wanted.append((cell.tile, index)) }
    }
    wanted.sort { $0.tile < $1.tile }
    let failure: ReadError? = tiles.withLock { tiles in
      do throws(ReadError) {
        var next = 0
        while next < wanted.count {
          guard !isCancelled() else { return .cancelled }
          let number = wanted[next].tile
          let tile = try tiles.tile(number, grid, isCancelled)
          var visited = 0
          while next < wanted.count, wanted[next].tile == number {
            visited += 1
            if visited & 4095 == 0 && isCancelled() { return .cancelled }
            let index = wanted[next].index
            if let cell = cells[index] { result[index] = tile.sample(cell) }
            next += 1
          }
        }
        return nil
      } catch { return error }
    }
    if let failure { throw failure }
    return result
  }
}

/// Maps positions to the pixels of a sample.
struct SampleGrid {
  /// Width and height of a tile in pixels; each tile is read with one more column and row, to interpolate at its last pixels.
  static let tileSize = 256

  /// The first pixel of a sample, and the weights of the next column and row, in 0..<1.
  struct Cell {
    let tile: Int
    let column: Int
    let row: Int
    let columnWeight: Double
    let rowWeight: Double
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

  /// Nil outside of the raster. The outer edges are inside, with a tolerance of a millionth of a pixel for rounding.
  func cell(x: Double, y: Double) -> Cell? {
    let (column, row) = transform.pixel(x: x, y: y)
    let slack = 1e-6
    guard column >= -slack, row >= -slack, column <= Double(width) + slack, row <= Double(height) + slack else {
      return nil
    }
    switch interpolation {
    case .nearest:
      return cell(Int(min(max(column, 0), Double(width - 1))), 0, Int(min(max(row, 0), Double(height - 1))), 0)
    case .bilinear:
      // Values apply to pixel centres; beyond the outermost centres only one is available.
      let column = min(max(column - 0.5, 0), Double(width - 1))
      let row = min(max(row - 0.5, 0), Double(height - 1))
      let c = Int(column)
      let r = Int(row)
      return cell(c, column - Double(c), r, row - Double(r))
    }
  }

  private func cell(_ column: Int, _ columnWeight: Double, _ row: Int, _ rowWeight: Double) -> Cell {
    Cell(
      tile: row / Self.tileSize * tilesAcross + column / Self.tileSize, column: column, row: row,
      columnWeight: columnWeight, rowWeight: rowWeight)
  }
}
