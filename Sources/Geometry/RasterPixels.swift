// Numbers of pixels as they come from files, and what is known of all numbers of a band.

/// The pixels of a window: the numbers of some bands, and which pixels have data.
public struct RasterPixels: Sendable {
  public enum Numbers: Sendable {
    case bytes([UInt8])
    case floats([Float])
  }

  public let width: Int
  public let height: Int
  /// Band after band, each row by row.
  public let numbers: Numbers
  /// By pixel: 0 without data, 255 with data; between these where only a part of a reduced pixel has data.
  public let mask: [UInt8]

  public init(width: Int, height: Int, numbers: Numbers, mask: [UInt8]) {
    (self.width, self.height, self.numbers, self.mask) = (width, height, numbers, mask)
  }

  public var byteCount: Int {
    switch numbers {
    case .bytes(let bytes): bytes.count + mask.count
    case .floats(let floats): 4 * floats.count + mask.count
    }
  }

  /// The numbers of a band, by its index among those that were read.
  public func floats(ofBand band: Int) -> [Float] {
    let range = band * width * height..<(band + 1) * width * height
    switch numbers {
    case .bytes(let bytes): return bytes[range].map { Float($0) }
    case .floats(let floats): return Array(floats[range])
    }
  }
}

/// What the numbers of a band are like.
public struct RasterStatistics: Hashable, Sendable {
  public let least: Double
  public let greatest: Double
  public let mean: Double
  public let standardDeviation: Double
  /// The numbers below which 0, 0.1 and so on to 100 percent lie.
  private let quantiles: [Float]

  /// Nil if no pixel has data.
  public init?(_ pixels: RasterPixels) {
    var numbers = zip(pixels.floats(ofBand: 0), pixels.mask).compactMap { $1 != 0 && $0.isFinite ? $0 : nil }
    guard !numbers.isEmpty else { return nil }
    numbers.sort()
    let count = Double(numbers.count)
    let mean = numbers.reduce(0) { $0 + Double($1) } / count
    let squares = numbers.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) }
    (least, greatest, self.mean) = (Double(numbers[0]), Double(numbers[numbers.count - 1]), mean)
    standardDeviation = (squares / count).squareRoot()
    quantiles = (0...1000).map { numbers[Int((Double($0) / 1000 * (count - 1)).rounded())] }
  }

  /// The number below which a share of the pixels lies, in percent.
  public func quantile(_ percent: Double) -> Double {
    Double(quantiles[Int((min(max(percent, 0), 100) * 10).rounded())])
  }
}
