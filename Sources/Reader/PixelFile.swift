// A raster opened with GDAL to be drawn; reads the numbers of its bands, from overviews where they are enough.

import CGDAL
import Geometry
import Reading

/// An open raster file whose pixels are drawn.
final class PixelFile {
  /// Formats of one picture in one file, and tiles in a database.
  private static let drivers = ["GTiff", "PNG", "JPEG", "AAIGrid", "SRTMHGT", "DTED", "HFA", "MBTiles", "GPKG"]
  /// Pixels of the file or of an overview that are averaged for one window; of more, some are picked.
  private static let averageLimit = 1 << 24
  private static let colorLimit: Int32 = 1 << 16

  let description: RasterDescription
  private let gdal: GDAL
  private let dataset: GDALDatasetH
  private let files: ReaderFiles
  /// Why a tile in a database cannot be read: GDAL goes on without it, keeps the hole, and complains of it once.
  private var hole: String?

  /// - Parameter table: of tiles in a GeoPackage; nil for its only one.
  init(_ files: ReaderFiles, table: String?) throws(ReadError) {
    let gdal = try GDALLibrary.shared.get().functions
    let call = GDALCall()
    defer { call.end() }
    func open(_ options: [String]) -> GDALDatasetH? {
      withStrings(Self.drivers) { drivers in
        withStrings(options) { options in
          gdal.pointee.GDALOpenEx(files.gdalName, UInt32(GDAL_OF_RASTER | GDAL_OF_READONLY), drivers, options, nil)
        }
      }
    }
    let opened = open(table.map { ["TABLE=\($0)"] } ?? [])
    guard let opened else {
      if let table, let other = open([]) {
        let names = Self.tables(of: other, gdal)
        _ = gdal.pointee.GDALClose(other)
        throw .noSuchLayer(table, available: names)
      }
      guard let complaint = call.complaint else { throw .unrecognized(path: "") }
      throw .openFailed(driver: nil, path: "", reason: complaint)
    }
    var keep = false
    defer { if !keep { _ = gdal.pointee.GDALClose(opened) } }
    guard gdal.pointee.GDALGetRasterCount(opened) > 0 else {
      let tables = Self.tables(of: opened, gdal)
      guard tables.isEmpty else { throw .noSuchLayer(table ?? "", available: tables) }
      throw .openFailed(driver: nil, path: "", reason: "no band")
    }
    description = try RasterFile.describe(opened, gdal, bands: try Self.bands(of: opened, gdal))
    (self.gdal, dataset, self.files) = (gdal, opened, files)
    keep = true
  }

  deinit {
    let call = GDALCall()
    _ = gdal.pointee.GDALClose(dataset)
    call.end()
  }

  /// The tables of tiles of a database that has several.
  private static func tables(of dataset: GDALDatasetH, _ gdal: GDAL) -> [String] {
    guard let list = gdal.pointee.GDALGetMetadata(dataset, "SUBDATASETS") else { return [] }
    var names: [String] = []
    var next = list
    while let item = next.pointee {
      let (name, value) = String(cString: item).splitOnce("=")
      if name.hasSuffix("_NAME") { names.append(value.split(separator: ":").last.map(String.init) ?? value) }
      next += 1
    }
    return names
  }

  private static func bands(of dataset: GDALDatasetH, _ gdal: GDAL) throws(ReadError) -> [RasterBand] {
    var bands: [RasterBand] = []
    for index in 1...gdal.pointee.GDALGetRasterCount(dataset) {
      guard let band = gdal.pointee.GDALGetRasterBand(dataset, index) else { break }
      let type = gdal.pointee.GDALGetRasterDataType(band)
      guard type.rawValue < GDT_CInt16.rawValue || type.rawValue > GDT_CFloat64.rawValue else {
        throw .openFailed(driver: nil, path: "", reason: "complex numbers have no colours")
      }
      var hasNoData: Int32 = 0
      let noData = gdal.pointee.GDALGetRasterNoDataValue(band, &hasNoData)
      let isScaled = gdal.pointee.GDALGetRasterScale(band, nil) != 1 || gdal.pointee.GDALGetRasterOffset(band, nil) != 0
      var colors: [UInt32]?
      if let table = gdal.pointee.GDALGetRasterColorTable(band) {
        colors = (0..<min(gdal.pointee.GDALGetColorEntryCount(table), colorLimit)).map { index in
          var entry = GDALColorEntry()
          _ = gdal.pointee.GDALGetColorEntryAsRGB(table, index, &entry)
          func part(_ number: Int16) -> UInt32 { UInt32(min(max(number, 0), 255)) }
          return part(entry.c1) << 24 | part(entry.c2) << 16 | part(entry.c3) << 8 | part(entry.c4)
        }
      }
      bands.append(
        RasterBand(
          type: gdal.pointee.GDALGetDataTypeName(type).map { String(cString: $0) } ?? "", noData: hasNoData != 0 ? noData : nil,
          isBytes: type == GDT_Byte && !isScaled && !hasSignedBytes(band, gdal), colors: colors))
    }
    return bands
  }

  /// The pixels of windows within a level: one after the other, their numbers in a first list, their masks in a second.
  func pixels(
    _ windows: UnsafeBufferPointer<RasterWindow>, _ level: Int, _ wanted: [Int], isNearest: Bool
  ) throws(ReadError) -> [UInt8] {
    let call = GDALCall()
    defer { call.end() }
    let own = wanted.filter(description.bands.indices.contains)
    let bands = own.compactMap { gdal.pointee.GDALGetRasterBand(dataset, Int32($0 + 1)) }
    guard bands.count == wanted.count, (0...30).contains(level) else { throw .unrecognized(path: "") }
    let isBytes = own.allSatisfy { description.bands[$0].isBytes }
    let count = windows.reduce(0) { $0 + $1.count }
    let size = isBytes ? 1 : MemoryLayout<Float>.size
    var bytes = [UInt8](repeating: 0, count: count * (bands.count * size + 1))
    let isRead = bytes.withUnsafeMutableBytes { bytes in
      var (next, mask) = (0, count * bands.count * size)
      for window in windows {
        for band in bands {
          let numbers = UnsafeMutableRawBufferPointer(rebasing: bytes[next..<next + window.count * size])
          guard read(band, window, level, isNearest, isBytes ? GDT_Byte : GDT_Float32, numbers) else { return false }
          if !isBytes { finish(band, numbers.bindMemory(to: Float.self)) }
          next += numbers.count
        }
        let seen = UnsafeMutableRawBufferPointer(rebasing: bytes[mask..<mask + window.count])
        guard readMask(bands, window, level, isNearest, seen) else { return false }
        mask += window.count
      }
      return true
    }
    if ["MBTiles", "GPKG"].contains(description.driver) { hole = hole ?? call.complaint }
    guard isRead, hole == nil else {
      throw .readFailed(driver: nil, path: "", layer: nil, reason: hole ?? call.complaint ?? "no reason given")
    }
    return bytes
  }

  /// Applies sign, scale and offset.
  private func finish(_ band: GDALRasterBandH, _ numbers: UnsafeMutableBufferPointer<Float>) {
    let (scale, offset) = (gdal.pointee.GDALGetRasterScale(band, nil), gdal.pointee.GDALGetRasterOffset(band, nil))
    if hasSignedBytes(band, gdal) { for index in numbers.indices where numbers[index] > 127 { numbers[index] -= 256 } }
    guard scale != 1 || offset != 0 else { return }
    for index in numbers.indices { numbers[index] = Float(Double(numbers[index]) * scale + offset) }
  }

  /// A pixel has data where one of the bands has.
  private func readMask(
    _ bands: [GDALRasterBandH], _ window: RasterWindow, _ level: Int, _ isNearest: Bool, _ mask: UnsafeMutableRawBufferPointer
  ) -> Bool {
    let flags = bands.map { gdal.pointee.GDALGetMaskFlags($0) }
    guard !flags.contains(where: { $0 & GMF_ALL_VALID != 0 }) else {
      for index in mask.indices { mask[index] = 255 }
      return true
    }
    var one = [UInt8](repeating: 0, count: mask.count)
    for (band, flag) in zip(bands, flags) {
      guard let own = gdal.pointee.GDALGetMaskBand(band),
        one.withUnsafeMutableBytes({ read(own, window, level, isNearest, GDT_Byte, $0) })
      else { return false }
      for index in mask.indices { mask[index] = max(mask[index], one[index]) }
      // One mask for all bands.
      if flag & GMF_PER_DATASET != 0 { break }
    }
    return true
  }

  private func read(
    _ band: GDALRasterBandH, _ window: RasterWindow, _ level: Int, _ isNearest: Bool, _ type: GDALDataType,
    _ numbers: UnsafeMutableRawBufferPointer
  ) -> Bool {
    let info = description.info
    let (columns, rows) = (Double(info.width) / Double(info.width(at: level)), Double(info.height) / Double(info.height(at: level)))
    var extra = GDALRasterIOExtraArg()
    extra.nVersion = 1
    extra.bFloatingPointWindowValidity = 1
    extra.dfXOff = Double(window.column) * columns
    extra.dfYOff = Double(window.row) * rows
    extra.dfXSize = min(Double(window.width) * columns, Double(info.width) - extra.dfXOff)
    extra.dfYSize = min(Double(window.height) * rows, Double(info.height) - extra.dfYOff)
    let hasOverviews = gdal.pointee.GDALGetOverviewCount(band) > 0
    let isAveraged = !isNearest && level > 0 && (hasOverviews || extra.dfXSize * extra.dfYSize <= Double(Self.averageLimit))
    extra.eResampleAlg = isAveraged ? GRIORA_Average : GRIORA_NearestNeighbour
    let (left, top) = (Int32(extra.dfXOff.rounded(.down)), Int32(extra.dfYOff.rounded(.down)))
    let right = min(Int32((extra.dfXOff + extra.dfXSize).rounded(.up)), Int32(info.width))
    let bottom = min(Int32((extra.dfYOff + extra.dfYSize).rounded(.up)), Int32(info.height))
    guard right > left, bottom > top else { return false }
    return gdal.pointee.GDALRasterIOEx(
      band, GF_Read, left, top, right - left, bottom - top, numbers.baseAddress, window.width, window.height, type, 0, 0, &extra) == CE_None
  }
}

extension String {
  /// The text before the first mark and after it.
  fileprivate func splitOnce(_ mark: Character) -> (String, String) {
    firstIndex(of: mark).map { (String(self[..<$0]), String(self[index(after: $0)...])) } ?? (self, "")
  }
}
