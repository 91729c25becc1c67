// Pixels of a raster at any reduction, by tiles that are kept.

import Files
import Geometry
import Platform
import Reading
import Synchronization

/// An open raster whose pixels are drawn.
///
/// Thread-safe; one call at a time reads. The file stays open until the last reference is released.
public final class RasterPyramid: Sendable {
  private static let tileSize = 256
  /// Number of tiles that are read at once.
  private static let tilesAtOnce = 16
  /// Pixels of which statistics are made.
  private static let statisticsLimit = 1 << 20

  public let info: RasterInfo
  private let file: RasterReader
  private let tiles: RasterTiles<RasterPixels>
  /// The numbers of the tiles by bands and way of reduction.
  private let numbers = Mutex<[String: Int]>([:])
  private let statistics = Mutex<[Int: RasterStatistics?]>([:])
  private let turn = ReadingTurn()

  /// Opens a raster: GeoTIFF, PNG and JPEG with a place, Esri ASCII grid, SRTM HGT, DTED, ERDAS Imagine, MBTiles, GeoPackage.
  ///
  /// - Parameters:
  ///   - path: absolute.
  ///   - table: of tiles in a GeoPackage; nil for its only one.
  /// - Complexity: reads the headers only.
  public init(
    _ readers: Readers, path: String, table: String?, policy: FilePolicy = FilePolicy(), isCancelled: () -> Bool = { false }
  ) throws(ReadError) {
    file = try RasterReader(readers, path: path, .pixels(table: table), policy: policy, isCancelled: isCancelled)
    info = file.description.info
    tiles = readers.pixels
  }

  deinit { for number in numbers.withLock({ Array($0.values) }) { tiles.forget(raster: number) } }

  /// The pixels of a window within a level.
  ///
  /// - Parameters:
  ///   - bands: at least one.
  ///   - isNearest: whether reduced pixels are one of those that they stand for, in place of their mean.
  ///   - isCancelled: called before each reading.
  /// - Complexity: O(n) in pixels, plus the reading of tiles that are not kept.
  public func pixels(
    _ window: RasterWindow, level: Int, bands: [Int], isNearest: Bool, isCancelled: () -> Bool = { false }
  ) throws(ReadError) -> RasterPixels {
    let size = Self.tileSize
    let (width, height) = (info.width(at: level), info.height(at: level))
    let key = "\(isNearest) \(bands)"
    let number = numbers.withLock { numbers in
      if let number = numbers[key] { return number }
      numbers[key] = tiles.makeRaster()
      return numbers[key] ?? 0
    }
    let (columns, rows) = (Int(window.column)..<Int(window.column + window.width), Int(window.row)..<Int(window.row + window.height))
    var target = PixelTarget(window, bands.count, isBytes: bands.allSatisfy { info.bands[$0].isBytes })
    var missing: [RasterWindow] = []
    func tile(_ window: RasterWindow) -> Int { level << 56 | (Int(window.row) / size) << 28 | Int(window.column) / size }
    for top in stride(from: rows.lowerBound / size * size, to: rows.upperBound, by: size) {
      for left in stride(from: columns.lowerBound / size * size, to: columns.upperBound, by: size) {
        let place = RasterWindow(column: left, row: top, width: min(size, width - left), height: min(size, height - top))
        if let kept = tiles[number, tile(place)] { target.copy(kept, at: place) } else { missing.append(place) }
      }
    }
    for start in stride(from: 0, to: missing.count, by: Self.tilesAtOnce) {
      let some = Array(missing[start..<min(start + Self.tilesAtOnce, missing.count)])
      let read = try turn.taken(isCancelled) { () throws(ReadError) in
        try file.pixels(some, level: level, bands: bands, isNearest: isNearest, isBytes: target.isBytes, isCancelled: isCancelled)
      }
      for (place, pixels) in zip(some, read) {
        tiles.keep(pixels, raster: number, tile: tile(place))
        target.copy(pixels, at: place)
      }
    }
    return target.pixels
  }

  /// What the numbers of a band are like: all, or those of the first level with at most a million; nil if no pixel has data.
  public func statistics(ofBand band: Int, isCancelled: () -> Bool = { false }) throws(ReadError) -> RasterStatistics? {
    if let known = statistics.withLock({ $0[band] }) { return known }
    var level = 0
    while info.width(at: level) * info.height(at: level) > Self.statisticsLimit { level += 1 }
    let window = RasterWindow(column: 0, row: 0, width: info.width(at: level), height: info.height(at: level))
    let found = RasterStatistics(try pixels(window, level: level, bands: [band], isNearest: true, isCancelled: isCancelled))
    statistics.withLock { $0[band] = found }
    return found
  }
}

extension RasterPixels: KeptTile {}

/// The pixels of a window while tiles are copied into it.
private struct PixelTarget {
  let window: RasterWindow
  let bands: Int
  let isBytes: Bool
  private var bytes: [UInt8] = []
  private var floats: [Float] = []
  private var mask: [UInt8]

  init(_ window: RasterWindow, _ bands: Int, isBytes: Bool) {
    (self.window, self.bands, self.isBytes) = (window, bands, isBytes)
    if isBytes { bytes = Array(repeating: 0, count: bands * window.count) } else { floats = Array(repeating: 0, count: bands * window.count) }
    mask = Array(repeating: 0, count: window.count)
  }

  mutating func copy(_ tile: RasterPixels, at place: RasterWindow) {
    let (left, right) = (max(window.column, place.column), min(window.column + window.width, place.column + place.width))
    let (top, bottom) = (max(window.row, place.row), min(window.row + window.height, place.row + place.height))
    guard left < right, top < bottom else { return }
    for row in top..<bottom {
      let from = Int(row - place.row) * tile.width + Int(left - place.column)
      let to = Int(row - window.row) * Int(window.width) + Int(left - window.column)
      let count = Int(right - left)
      for band in 0..<bands {
        let (source, target) = (band * tile.width * tile.height + from, band * window.count + to)
        switch tile.numbers {
        case .bytes(let numbers): bytes.replaceSubrange(target..<target + count, with: numbers[source..<source + count])
        case .floats(let numbers): floats.replaceSubrange(target..<target + count, with: numbers[source..<source + count])
        }
      }
      mask.replaceSubrange(to..<to + count, with: tile.mask[from..<from + count])
    }
  }

  var pixels: RasterPixels {
    RasterPixels(
      width: Int(window.width), height: Int(window.height), numbers: isBytes ? .bytes(bytes) : .floats(floats), mask: mask)
  }
}
