// A raster opened with GDAL, within the policy; reads windows of elevation in metres.

import CGDAL
import Files
import Geometry
import Platform

/// An open raster file.
///
/// `@unchecked`: GDAL allows one thread at a time to use a dataset; ``ElevationRaster`` guards it with a lock.
final class RasterFile: @unchecked Sendable {
  /// Formats of one grid in one file. Formats that refer to other files, such as VRT, are excluded.
  private static let drivers = ["GTiff", "AAIGrid", "SRTMHGT", "DTED", "HFA"]

  let description: ElevationDescription
  private let gdal: UnsafePointer<cgdal_functions>
  private let dataset: GDALDatasetH
  private let band: GDALRasterBandH
  /// Factor from stored numbers to metres.
  private let scale: Double
  private let offset: Double
  private let storedAsFloat: Bool
  private let mask: GDALRasterBandH?

  init(path: String, policy: FilePolicy) throws(ElevationError) {
    var reason: UnsafePointer<CChar>?
    guard let gdal = cgdal_load(&reason) else {
      throw .unavailable(reason: reason.map { String(cString: $0) } ?? "GDAL did not load")
    }
    let isVirtual = policy.isAllowedVirtual(path)
    let name = isVirtual ? path : try Self.resolve(path, policy)
    let call = GDALCall(allowNetwork: isVirtual)
    defer { call.end() }
    let opened = withList(Self.drivers) { drivers in
      gdal.pointee.GDALOpenEx(name, UInt32(GDAL_OF_RASTER | GDAL_OF_READONLY), drivers, nil, nil)
    }
    guard let opened else {
      guard let complaint = call.complaint else { throw .unrecognized(path: path) }
      throw .openFailed(path: path, reason: complaint)
    }
    var keep = false
    defer { if !keep { _ = gdal.pointee.GDALClose(opened) } }
    if !isVirtual { try Self.checkFiles(of: opened, gdal, path, policy) }
    let description = try Self.describe(opened, gdal, path)
    guard let band = gdal.pointee.GDALGetRasterBand(opened, 1) else {
      throw .openFailed(path: path, reason: "no band")
    }
    let type = gdal.pointee.GDALGetRasterDataType(band)
    guard type.rawValue < GDT_CInt16.rawValue || type.rawValue > GDT_CFloat64.rawValue else {
      throw .openFailed(path: path, reason: "complex numbers are no heights")
    }
    let unit = metres(per: gdal.pointee.GDALGetRasterUnitType(band).map { String(cString: $0) } ?? "")
    scale = gdal.pointee.GDALGetRasterScale(band, nil) * unit
    offset = gdal.pointee.GDALGetRasterOffset(band, nil) * unit
    storedAsFloat = type == GDT_Float32
    // A mask besides the nodata value.
    mask = gdal.pointee.GDALGetMaskFlags(band) & GMF_PER_DATASET != 0 ? gdal.pointee.GDALGetMaskBand(band) : nil
    self.description = description
    self.gdal = gdal
    dataset = opened
    self.band = band
    keep = true
  }

  deinit {
    let call = GDALCall(allowNetwork: false)
    _ = gdal.pointee.GDALClose(dataset)
    call.end()
  }

  private static func resolve(_ path: String, _ policy: FilePolicy) throws(ElevationError) -> String {
    do throws(FileRefusal) { return try policy.resolve(path) } catch { throw .file(error) }
  }

  /// GDAL opens sidecar files by itself; a link among them may lead outside the policy.
  private static func checkFiles(
    of dataset: GDALDatasetH, _ gdal: UnsafePointer<cgdal_functions>, _ path: String, _ policy: FilePolicy
  ) throws(ElevationError) {
    let files = gdal.pointee.GDALGetFileList(dataset)
    defer { gdal.pointee.CSLDestroy(files) }
    var next = files
    while let file = next?.pointee {
      if let real = realPath(String(cString: file)), !policy.allows(realPath: real) {
        throw .file(.refused(path: path, reason: "\(String(cString: file)) leads outside the allowed directories"))
      }
      next = next?.successor()
    }
  }

  private static func describe(
    _ dataset: GDALDatasetH, _ gdal: UnsafePointer<cgdal_functions>, _ path: String
  ) throws(ElevationError) -> ElevationDescription {
    let width = Int(gdal.pointee.GDALGetRasterXSize(dataset))
    let height = Int(gdal.pointee.GDALGetRasterYSize(dataset))
    var numbers = [Double](repeating: 0, count: 6)
    guard gdal.pointee.GDALGetGeoTransform(dataset, &numbers) == CE_None, let transform = RasterTransform(numbers)
    else { throw .openFailed(path: path, reason: "the file does not say where its pixels lie") }
    let reference = cgdal_reference_text(gdal.pointee.GDALGetSpatialRef(dataset))
    defer { gdal.pointee.VSIFree(reference) }
    var hasNoData: Int32 = 0
    let noData = gdal.pointee.GDALGetRasterNoDataValue(gdal.pointee.GDALGetRasterBand(dataset, 1), &hasNoData)
    let driver = gdal.pointee.GDALGetDriverShortName(gdal.pointee.GDALGetDatasetDriver(dataset))
    return ElevationDescription(
      path: path, driver: driver.map { String(cString: $0) } ?? "", width: width, height: height,
      spatialReference: reference.map { SpatialReference(String(cString: $0)) }, transform: transform,
      noData: hasNoData != 0 ? noData : nil, extent: transform.extent(width: width, height: height))
  }

  /// The elevation of a window in metres, row by row; NaN without a value.
  func heights(column: Int, row: Int, width: Int, height: Int) throws(ElevationError) -> [Double] {
    let call = GDALCall(allowNetwork: false)
    defer { call.end() }
    var heights = [Double](repeating: 0, count: width * height)
    var visible = [UInt8](repeating: 255, count: mask == nil ? 0 : width * height)
    let result = gdal.pointee.GDALRasterIO(
      band, GF_Read, Int32(column), Int32(row), Int32(width), Int32(height), &heights, Int32(width), Int32(height),
      GDT_Float64, 0, 0)
    var masked = CE_None
    if let mask {
      masked = gdal.pointee.GDALRasterIO(
        mask, GF_Read, Int32(column), Int32(row), Int32(width), Int32(height), &visible, Int32(width), Int32(height),
        GDT_Byte, 0, 0)
    }
    guard result == CE_None, masked == CE_None else {
      throw .readFailed(path: description.path, reason: call.complaint ?? "no reason given")
    }
    for index in heights.indices {
      let stored = heights[index]
      let known = stored.isFinite && !isNoData(stored) && (mask == nil || visible[index] != 0)
      heights[index] = known ? stored * scale + offset : .nan
    }
    return heights
  }

  private func isNoData(_ stored: Double) -> Bool {
    guard let noData = description.noData else { return false }
    // The value's text may have more digits than the band's numbers.
    return stored == noData || (storedAsFloat && Float(stored) == Float(noData))
  }
}

/// Metres in one unit of a band; 1 where it names none.
private func metres(per unit: String) -> Double {
  switch unit.lowercased() {
  case "ft", "foot", "feet", "international foot", "international feet": 0.3048
  case "us-ft", "ftus", "us survey foot", "us survey feet", "foot_us", "us foot": 1200.0 / 3937.0
  case "cm", "centimetre", "centimeter": 0.01
  case "dm", "decimetre", "decimeter": 0.1
  case "km", "kilometre", "kilometer": 1000
  default: 1
  }
}

/// Collects GDAL's messages of this thread until ``end()``.
private struct GDALCall {
  private let messages = UnsafeMutablePointer<cgdal_call>.allocate(capacity: 1)
  private let allowNetwork: Int32

  init(allowNetwork: Bool) {
    self.allowNetwork = allowNetwork ? 1 : 0
    cgdal_enter(messages, self.allowNetwork)
  }

  var complaint: String? {
    guard messages.pointee.failures > 0 else { return nil }
    return withUnsafeBytes(of: &messages.pointee.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  func end() {
    cgdal_leave(allowNetwork)
    messages.deallocate()
  }
}

/// Passes a NULL-terminated C list of strings to `body`.
private func withList<T>(_ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> T) -> T {
  var texts: [UInt8] = []
  var starts: [Int] = []
  for string in strings {
    starts.append(texts.count)
    texts += Array(string.utf8) + [0]
  }
  return texts.withUnsafeBytes { raw in
    let base = raw.bindMemory(to: CChar.self).baseAddress
    return (starts.map { base?.advanced(by: $0) } + [nil]).withUnsafeBufferPointer { body($0.baseAddress) }
  }
}
