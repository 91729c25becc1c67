// Where the cells of a raster lie, and rectangles of them.

/// A rectangle of pixels, as it lies in shared memory.
public struct RasterWindow: Hashable, Sendable {
  public let column: Int32
  public let row: Int32
  public let width: Int32
  public let height: Int32

  public init(column: Int, row: Int, width: Int, height: Int) {
    (self.column, self.row) = (Int32(clamping: column), Int32(clamping: row))
    (self.width, self.height) = (Int32(clamping: width), Int32(clamping: height))
  }

  /// Number of pixels.
  public var count: Int { Int(width) * Int(height) }
}

/// The position of pixels: GDAL's six numbers, rotation included.
public struct RasterTransform: Hashable, Sendable {
  public let xOrigin: Double
  public let xPerColumn: Double
  public let xPerRow: Double
  public let yOrigin: Double
  public let yPerColumn: Double
  public let yPerRow: Double

  /// Nil if pixels have no area, or one beyond all numbers.
  public init?(_ numbers: [Double]) {
    guard numbers.count == 6, numbers.allSatisfy(\.isFinite) else { return nil }
    (xOrigin, xPerColumn, xPerRow) = (numbers[0], numbers[1], numbers[2])
    (yOrigin, yPerColumn, yPerRow) = (numbers[3], numbers[4], numbers[5])
    guard determinant != 0, determinant.isFinite, resolution.x.isFinite, resolution.y.isFinite else { return nil }
  }

  /// GDAL's six numbers.
  public var numbers: [Double] { [xOrigin, xPerColumn, xPerRow, yOrigin, yPerColumn, yPerRow] }

  private var determinant: Double { xPerColumn * yPerRow - xPerRow * yPerColumn }

  /// The width and height of a pixel in the units of the reference.
  public var resolution: (x: Double, y: Double) {
    (
      (xPerColumn * xPerColumn + yPerColumn * yPerColumn).squareRoot(),
      (xPerRow * xPerRow + yPerRow * yPerRow).squareRoot()
    )
  }

  /// Columns and rows from the outer corner of the first pixel, whose centre is at 0.5, 0.5.
  public func pixel(x: Double, y: Double) -> (column: Double, row: Double) {
    let dx = x - xOrigin
    let dy = y - yOrigin
    return ((dx * yPerRow - dy * xPerRow) / determinant, (dy * xPerColumn - dx * yPerColumn) / determinant)
  }

  public func position(column: Double, row: Double) -> (x: Double, y: Double) {
    (xOrigin + column * xPerColumn + row * xPerRow, yOrigin + column * yPerColumn + row * yPerRow)
  }

  public func extent(width: Int, height: Int) -> Envelope {
    var box = Envelope.none
    for (column, row) in [(0, 0), (width, 0), (0, height), (width, height)] {
      let corner = position(column: Double(column), row: Double(row))
      box.include(x: corner.x, y: corner.y)
    }
    return box
  }
}
