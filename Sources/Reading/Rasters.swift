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
  /// Empty for a raster of heights.
  public let bands: [RasterBand]
  /// The unit of heights, if it is none that is known.
  public let unknownUnit: String?
  /// The box of the pixels' outer edges, in the units of the reference.
  public let extent: Envelope

  public init(
    path: String, driver: String, width: Int, height: Int, spatialReference: SpatialReference?,
    transform: RasterTransform, noData: Double?, bands: [RasterBand] = [], unknownUnit: String? = nil
  ) {
    self.path = path
    self.driver = driver
    self.width = width
    self.height = height
    self.spatialReference = spatialReference
    self.transform = transform
    self.noData = noData
    self.bands = bands
    self.unknownUnit = unknownUnit
    extent = transform.extent(width: width, height: height)
  }

  /// A file that names no reference is in degrees if its pixels lie within them.
  public var info: RasterInfo {
    let isInDegrees = extent.xMin >= -360 && extent.xMax <= 360 && extent.yMin >= -90.5 && extent.yMax <= 90.5
    return RasterInfo(
      width: width, height: height, transform: transform, reference: spatialReference ?? (isInDegrees ? .wgs84 : .unknown), bands: bands)
  }
}

/// What a raster is opened for.
public enum RasterUse: Hashable, Sendable {
  case heights
  /// - table: of tiles in a GeoPackage; nil for its only one.
  case pixels(table: String?)
}

extension RasterPixels {
  /// The pixels of windows, as they come from a reader: the numbers of all windows, then their masks. Nil if there are not as many.
  public static func mapping(_ file: CInt, _ windows: [RasterWindow], bands: Int, isBytes: Bool) -> [RasterPixels]? {
    guard let bytes = SharedMemory.map(file) else { return nil }
    defer { SharedMemory.unmap(bytes) }
    let count = windows.reduce(0) { $0 + $1.count }
    let size = isBytes ? 1 : MemoryLayout<Float>.size
    guard bytes.count == count * (bands * size + 1) else { return nil }
    var (next, mask) = (0, count * bands * size)
    return windows.map { window in
      let numbers = UnsafeRawBufferPointer(rebasing: bytes[next..<next + window.count * bands * size])
      var seen = Array(bytes[mask..<mask + window.count])
      (next, mask) = (next + numbers.count, mask + window.count)
      guard !isBytes else {
        return RasterPixels(width: Int(window.width), height: Int(window.height), numbers: .bytes(Array(numbers)), mask: seen)
      }
      var floats = Array(numbers.bindMemory(to: Float.self))
      // What is not a number has no colour, whatever the file says.
      for index in floats.indices where !floats[index].isFinite {
        floats[index] = 0
        seen[index % window.count] = 0
      }
      return RasterPixels(width: Int(window.width), height: Int(window.height), numbers: .floats(floats), mask: seen)
    }
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
