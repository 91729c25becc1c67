// A raster opened with GDAL; reads windows of elevation in metres.

import CGDAL
import Geometry
import Reading

/// An open raster file.
///
final class RasterFile {
  /// Formats of one grid in one file. Formats that refer to other files, such as VRT, are excluded.
  private static let drivers = ["GTiff", "AAIGrid", "SRTMHGT", "DTED", "HFA"]

  let description: RasterDescription
  private let gdal: GDAL
  private let dataset: GDALDatasetH
  private let band: GDALRasterBandH
  /// Factor from stored numbers to metres.
  private let scale: Double
  private let offset: Double
  private let storedAsFloat: Bool
  private let storedAsSignedBytes: Bool
  private let mask: GDALRasterBandH?

  init(_ files: ReaderFiles) throws(ReadError) {
    let gdal = try GDALLibrary.shared.get().functions
    let call = GDALCall()
    defer { call.end() }
    let opened = withStrings(Self.drivers) { drivers in
      gdal.pointee.GDALOpenEx(files.gdalName, UInt32(GDAL_OF_RASTER | GDAL_OF_READONLY), drivers, nil, nil)
    }
    guard let opened else {
      guard let complaint = call.complaint else { throw .unrecognized(path: "") }
      throw .openFailed(driver: nil, path: "", reason: complaint)
    }
    var keep = false
    defer { if !keep { _ = gdal.pointee.GDALClose(opened) } }
    guard let band = gdal.pointee.GDALGetRasterBand(opened, 1) else {
      throw .openFailed(driver: nil, path: "", reason: "no band")
    }
    let unitName = gdal.pointee.GDALGetRasterUnitType(band).map { String(cString: $0) } ?? ""
    let unit = metres(per: unitName)
    let description = try Self.describe(opened, gdal, unknownUnit: unit == nil ? String(unitName.prefix(100)) : nil)
    let type = gdal.pointee.GDALGetRasterDataType(band)
    guard type.rawValue < GDT_CInt16.rawValue || type.rawValue > GDT_CFloat64.rawValue else {
      throw .openFailed(driver: nil, path: "", reason: "complex numbers are no heights")
    }
    scale = gdal.pointee.GDALGetRasterScale(band, nil) * (unit ?? 1)
    offset = gdal.pointee.GDALGetRasterOffset(band, nil) * (unit ?? 1)
    storedAsFloat = type == GDT_Float32
    storedAsSignedBytes = hasSignedBytes(band, gdal)
    // A mask stored in addition to the nodata value.
    mask = gdal.pointee.GDALGetMaskFlags(band) & GMF_PER_DATASET != 0 ? gdal.pointee.GDALGetMaskBand(band) : nil
    self.description = description
    self.gdal = gdal
    dataset = opened
    self.band = band
    keep = true
  }

  deinit {
    let call = GDALCall()
    _ = gdal.pointee.GDALClose(dataset)
    call.end()
  }

  static func describe(
    _ dataset: GDALDatasetH, _ gdal: GDAL, bands: [RasterBand] = [], unknownUnit: String? = nil
  ) throws(ReadError) -> RasterDescription {
    let width = Int(gdal.pointee.GDALGetRasterXSize(dataset))
    let height = Int(gdal.pointee.GDALGetRasterYSize(dataset))
    var numbers = [Double](repeating: 0, count: 6)
    guard gdal.pointee.GDALGetGeoTransform(dataset, &numbers) == CE_None, let transform = RasterTransform(numbers)
    else { throw .openFailed(driver: nil, path: "", reason: "the file does not say where its pixels lie") }
    let reference = cgdal_reference_text(gdal.pointee.GDALGetSpatialRef(dataset))
    defer { gdal.pointee.VSIFree(reference) }
    var hasNoData: Int32 = 0
    let noData = gdal.pointee.GDALGetRasterNoDataValue(gdal.pointee.GDALGetRasterBand(dataset, 1), &hasNoData)
    let driver = gdal.pointee.GDALGetDriverShortName(gdal.pointee.GDALGetDatasetDriver(dataset))
    let description = RasterDescription(
      path: "", driver: driver.map { String(cString: $0) } ?? "", width: width, height: height,
      spatialReference: reference.map { SpatialReference(String(cString: $0)) }, transform: transform,
      noData: hasNoData != 0 ? noData : nil, bands: bands, unknownUnit: unknownUnit)
    guard description.extent.isFinite else {
      throw .openFailed(driver: nil, path: "", reason: "its pixels lie beyond all numbers")
    }
    return description
  }

  /// The heights of windows in metres, each row by row; NaN for pixels without a value or with one that is not finite.
  func heights(_ windows: UnsafeBufferPointer<RasterWindow>) throws(ReadError) -> [Double] {
    let call = GDALCall()
    defer { call.end() }
    let count = windows.reduce(0) { $0 + $1.count }
    var visible = [UInt8](repeating: 255, count: mask == nil ? 0 : count)
    var isRead = true
    var heights = [Double](unsafeUninitializedCapacity: count) { heights, initialized in
      heights.initialize(repeating: 0)
      initialized = count
      isRead = read(band, windows, into: heights, GDT_Float64)
    }
    if let mask, isRead { isRead = visible.withUnsafeMutableBufferPointer { read(mask, windows, into: $0, GDT_Byte) } }
    guard isRead else {
      throw .readFailed(driver: nil, path: "", layer: nil, reason: call.complaint ?? "no reason given")
    }
    // The value's text may have more digits than the band's numbers.
    let (noData, narrowNoData) = (description.noData ?? .nan, storedAsFloat ? Float(description.noData ?? .nan) : .nan)
    heights.withUnsafeMutableBufferPointer { heights in
      for index in heights.indices {
        let stored = storedAsSignedBytes && heights[index] > 127 ? heights[index] - 256 : heights[index]
        let isKnown = stored != noData && Float(stored) != narrowNoData
        let height = stored * scale + offset
        heights[index] = isKnown && stored.isFinite && height.isFinite ? height : .nan
      }
      for index in visible.indices where visible[index] == 0 { heights[index] = .nan }
    }
    return heights
  }

  /// - Returns: whether all windows could be read.
  private func read<Number>(
    _ band: GDALRasterBandH, _ windows: UnsafeBufferPointer<RasterWindow>, into numbers: UnsafeMutableBufferPointer<Number>,
    _ type: GDALDataType
  ) -> Bool {
    guard var next = numbers.baseAddress else { return windows.isEmpty }
    for window in windows {
      guard
        gdal.pointee.GDALRasterIO(
          band, GF_Read, window.column, window.row, window.width, window.height, next, window.width, window.height, type, 0,
          0) == CE_None
      else { return false }
      next += window.count
    }
    return true
  }
}

/// Whether a band's bytes have a sign: before GDAL 3.7 only a text beside the band says so.
func hasSignedBytes(_ band: GDALRasterBandH, _ gdal: GDAL) -> Bool {
  var next = gdal.pointee.GDALGetMetadata(band, "IMAGE_STRUCTURE")
  while let items = next, let item = items.pointee {
    if String(cString: item) == "PIXELTYPE=SIGNEDBYTE" { return true }
    next = items + 1
  }
  return false
}

/// Metres per unit of a band, also of one without a name; nil if the unit is not known.
private func metres(per unit: String) -> Double? {
  // Writers differ in spaces, dots, the order of words and plurals: "US survey foot", "foot_us", "ft (international)", "Meters", "metre(s)".
  let name = unit.lowercased().filter { !" \t_-.,'()[]".contains($0) }
  // Seconds are no plural, nor is what is of the US.
  return switch name.count > 2 && name.hasSuffix("s") && !name.hasSuffix("us") ? String(name.dropLast()) : name {
  case "", "m", "metre", "meter": 1
  case "ft", "foot", "feet", "internationalfoot", "internationalfeet", "footinternational", "ftinternational", "footintl": 0.3048
  case "usft", "ftus", "ussurveyfoot", "ussurveyfeet", "footus", "feetus", "usfoot", "usfeet", "ussurveyft", "surveyfoot", "surveyfeet",
    "surveyft", "footussurvey", "feetussurvey", "ftussurvey":
    1200.0 / 3937.0
  case "mm", "millimetre", "millimeter": 0.001
  case "cm", "centimetre", "centimeter": 0.01
  case "dm", "decimetre", "decimeter": 0.1
  case "km", "kilometre", "kilometer": 1000
  case "yd", "yard": 0.9144
  case "in", "inch", "inche": 0.0254
  case "fathom": 1.8288
  default: nil
  }
}
