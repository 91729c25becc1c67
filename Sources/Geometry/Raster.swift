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

/// A band of a raster: one number for each pixel.
public struct RasterBand: Hashable, Sendable {
  /// GDAL's name of the type of its numbers: "Byte".
  public let type: String
  /// The number that means no value; nil if every pixel has one.
  public let noData: Double?
  /// Whether its numbers are bytes that need no scale.
  public let isBytes: Bool
  /// The colours of the numbers 0, 1 and so on, as `0xRRGGBBAA`; nil if the file has none.
  public let colors: [UInt32]?

  public init(type: String, noData: Double? = nil, isBytes: Bool, colors: [UInt32]? = nil) {
    (self.type, self.noData, self.isBytes, self.colors) = (type, noData, isBytes, colors)
  }
}

/// What the file of a raster has.
public struct RasterInfo: Hashable, Sendable {
  /// Pixels.
  public let width: Int
  public let height: Int
  public let transform: RasterTransform
  public let reference: SpatialReference
  public let bands: [RasterBand]
  /// The box of the pixels' outer edges, in the units of the reference.
  public let extent: Envelope

  public init(width: Int, height: Int, transform: RasterTransform, reference: SpatialReference, bands: [RasterBand]) {
    (self.width, self.height, self.transform, self.reference, self.bands) = (width, height, transform, reference, bands)
    extent = transform.extent(width: width, height: height)
  }

  /// The number of columns at a level, of which each halves the one before it; as overviews have.
  public func width(at level: Int) -> Int { max((width + (1 << level) - 1) >> level, 1) }
  public func height(at level: Int) -> Int { max((height + (1 << level) - 1) >> level, 1) }
}
