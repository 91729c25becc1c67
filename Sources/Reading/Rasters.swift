// Raster files: descriptions, and the windows and heights that server and reader exchange in shared memory.

import Geometry

/// Properties of a raster.
public struct RasterDescription: Hashable, Sendable {
  public let path: String
  /// GDAL's name of the format: "GTiff".
  public let driver: String
  /// Pixels.
  public let width: Int
  public let height: Int
  /// Nil if the file names none.
  public let spatialReference: SpatialReference?
  public let transform: RasterTransform
  /// As stored, before scale and unit; nil if every pixel has a value.
  public let noData: Double?
  /// The box of the pixels' outer edges, in the units of the reference.
  public let extent: Envelope

  public init(
    path: String, driver: String, width: Int, height: Int, spatialReference: SpatialReference?,
    transform: RasterTransform, noData: Double?
  ) {
    self.path = path
    self.driver = driver
    self.width = width
    self.height = height
    self.spatialReference = spatialReference
    self.transform = transform
    self.noData = noData
    extent = transform.extent(width: width, height: height)
  }
}

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

/// Heights in metres, row by row; NaN without a value. Narrow where that loses nothing, as whole metres do not.
public enum RasterHeights: Hashable, Sendable {
  case narrow([Float])
  case wide([Double])

  public init(_ heights: [Double]) {
    let isExact = heights.withUnsafeBufferPointer { heights in
      heights.allSatisfy { Double(Float($0)) == $0 || $0.isNaN }
    }
    self = isExact ? .narrow(heights.map { Float($0) }) : .wide(heights)
  }

  /// Nil unless the file is sealed and has `count` heights.
  public init?(mapping file: CInt, count: Int) {
    guard let bytes = SharedMemory.map(file) else { return nil }
    defer { SharedMemory.unmap(bytes) }
    switch bytes.count {
    case count * MemoryLayout<Float>.size: self = .narrow(Array(bytes.bindMemory(to: Float.self)))
    case count * MemoryLayout<Double>.size: self = .wide(Array(bytes.bindMemory(to: Double.self)))
    default: return nil
    }
  }

  /// A sealed file; nil with `errno` set on failure. The caller closes it.
  public func file() -> CInt? {
    switch self {
    case .narrow(let heights): heights.withUnsafeBytes { SharedMemory.file(holding: $0) }
    case .wide(let heights): heights.withUnsafeBytes { SharedMemory.file(holding: $0) }
    }
  }

  public subscript(index: Int) -> Double {
    switch self {
    case .narrow(let heights): Double(heights[index])
    case .wide(let heights): heights[index]
    }
  }

  public subscript(range: Range<Int>) -> RasterHeights {
    switch self {
    case .narrow(let heights): .narrow(Array(heights[range]))
    case .wide(let heights): .wide(Array(heights[range]))
    }
  }

  public var byteCount: Int {
    switch self {
    case .narrow(let heights): heights.count * MemoryLayout<Float>.size
    case .wide(let heights): heights.count * MemoryLayout<Double>.size
    }
  }
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

  func position(column: Double, row: Double) -> (x: Double, y: Double) {
    (xOrigin + column * xPerColumn + row * xPerRow, yOrigin + column * yPerColumn + row * yPerRow)
  }

  func extent(width: Int, height: Int) -> Envelope {
    var box = Envelope.none
    for (column, row) in [(0, 0), (width, 0), (0, height), (width, height)] {
      let corner = position(column: Double(column), row: Double(row))
      box.include(x: corner.x, y: corner.y)
    }
    return box
  }
}
