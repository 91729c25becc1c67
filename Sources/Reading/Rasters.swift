// Raster files: descriptions, and the heights that server and reader exchange in shared memory.

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
