// Opens a vector file: choice of driver, messages, release of everything in order.

import CGDAL
import CReader
import Geometry
import Platform
import Reading

/// An open source, valid only inside ``with(_:_:for:body:)``.
struct FeatureDataset: ~Copyable {
  /// Purpose of opening: to describe the source, or to read its features.
  enum Purpose { case description, features }

  let gdal: GDAL
  let handle: GDALDatasetH
  let driver: FeatureDriver
  let files: ReaderFiles
  let options: OpenOptions
  /// Decodes texts that GDAL returns in the file's encoding; nil if GDAL returns UTF-8.
  let decoder: TextDecoder?
  let call: GDALCall

  var layerCount: Int { Int(gdal.pointee.GDALDatasetGetLayerCount(handle)) }

  /// Opens the main file of the job, calls `body` and releases everything.
  static func with<T>(
    _ job: ReadJob, _ files: ReaderFiles, for purpose: Purpose, opened: (String) -> Void,
    body: (borrowing FeatureDataset) throws(ReadError) -> T
  ) throws(ReadError) -> T {
    let gdal = try GDALLibrary.shared.get().functions
    let call = GDALCall()
    defer { call.end() }
    let name = files.gdalName
    let driver = if let given = job.options.driver { given } else { try driver(of: name, gdal) }
    opened(driver.rawValue)
    var options = job.options
    if driver == .shapefile { options.encoding = options.encoding ?? files.tableEncoding }
    let decoder = try options.encoding.map { (name) throws(ReadError) in try Self.decoder(name, of: driver) }
    // Drops messages of drivers that do not recognize the file.
    call.forget()
    files.readShare = purpose == .features ? driver.record.openingShare : driver.record.parsesToOpen ? 1 : 0
    guard let handle = open(name, driver, options, gdal) else {
      guard let reason = call.complaint else { throw ReadError.unrecognized(path: "") }
      throw ReadError.openFailed(driver: driver.rawValue, path: "", reason: reason)
    }
    defer { _ = gdal.pointee.GDALClose(handle) }
    let dataset = FeatureDataset(
      gdal: gdal, handle: handle, driver: driver, files: files, options: options, decoder: decoder,
      call: call)
    // After a premature end of the file, drivers may return a dataset with the part that they have read.
    if let reason = call.complaint ?? (driver == .kml ? files.archiveFault : nil) {
      throw ReadError.openFailed(driver: driver.rawValue, path: "", reason: reason)
    }
    let result = try body(dataset)
    files.reached(1)
    return result
  }

  private static func driver(of name: String, _ gdal: GDAL) throws(ReadError) -> FeatureDriver {
    // All drivers at once: asked alone, GDAL 3.10's CSV driver takes any file.
    let names = FeatureDriver.allCases.flatMap { $0.gdalNames(gdal) }
    let found = withStrings(names) { gdal.pointee.GDALIdentifyDriverEx(name, UInt32(GDAL_OF_VECTOR), $0, nil) }
    if let name = found.flatMap({ gdal.pointee.GDALGetDriverShortName($0) }).map({ String(cString: $0) }),
      let driver = FeatureDriver.allCases.first(where: { $0.gdalNames(gdal).contains(name) })
    {
      return driver
    }
    throw .unrecognized(path: "")
  }

  private static func decoder(_ encoding: String, of driver: FeatureDriver) throws(ReadError) -> TextDecoder {
    func failure(_ reason: String) -> ReadError { .openFailed(driver: driver.rawValue, path: "", reason: reason) }
    guard driver.record.rawTexts != nil else { throw failure("its texts have the encoding of the format") }
    guard let decoder = TextDecoder(encoding) else { throw failure("there is no text encoding \"\(encoding)\"") }
    return decoder
  }

  private static func open(
    _ name: String, _ driver: FeatureDriver, _ given: OpenOptions, _ gdal: GDAL
  ) -> GDALDatasetH? {
    // Texts stay as they stand in the file.
    let encoding = given.encoding == nil ? [] : driver.record.rawTexts ?? []
    return withStrings(driver.gdalNames(gdal)) { drivers in
      withStrings(driver.record.openOptions + encoding) { options in
        gdal.pointee.GDALOpenEx(name, UInt32(GDAL_OF_VECTOR | GDAL_OF_READONLY), drivers, options, nil)
      }
    }
  }
}

extension FeatureDataset {
  /// A name, decoded from the file's encoding.
  func text(_ bytes: UnsafePointer<CChar>?) -> String {
    guard let bytes else { return "" }
    guard let decoder else { return decoded(bytes) }
    return decoder.decode(UnsafeBufferPointer(start: bytes, count: strlen(bytes))) {
      String(decoding: $0, as: UTF8.self)
    }
  }
}

/// GDAL's messages of this thread, until ``end()``.
struct GDALCall {
  private let messages = UnsafeMutablePointer<cgdal_call>.allocate(capacity: 1)

  init() { cgdal_enter(messages) }

  /// GDAL's first error message, without the point at its end; nil without one.
  var complaint: String? {
    guard messages.pointee.failures > 0 else { return nil }
    let text = withUnsafeBytes(of: &messages.pointee.text) { raw in
      ReaderFiles.cleaned(String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self))
    }
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  func forget() { messages.pointee.failures = 0 }

  func end() {
    cgdal_leave()
    messages.deallocate()
  }
}

/// A text of a file: UTF-8, or else Windows-1252.
func decoded(_ text: UnsafePointer<CChar>) -> String {
  let bytes = UnsafeRawBufferPointer(start: text, count: strlen(text))
  return String(validating: bytes, as: UTF8.self) ?? String(windows1252: bytes)
}

/// Passes a NULL-terminated C list of strings to `body`.
func withStrings<T>(
  _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> T
) -> T {
  let texts = strings.map { string in
    let bytes = Array(string.utf8CString)
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    copy.initialize(from: bytes, count: bytes.count)
    return copy
  }
  defer { for text in texts { text.deallocate() } }
  return (texts.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { body($0.baseAddress) }
}

extension FeatureDataset {
  /// The spatial reference of the first layer of a GeoJSON document; nil if GDAL reports an error.
  static func reference(ofText text: String) throws(ReadError) -> SpatialReference? {
    let gdal = try GDALLibrary.shared.get().functions
    let call = GDALCall()
    defer { call.end() }
    guard let handle = open(text, .geoJSON, OpenOptions(), gdal) else { return nil }
    defer { _ = gdal.pointee.GDALClose(handle) }
    guard call.complaint == nil, let layer = gdal.pointee.GDALDatasetGetLayer(handle, 0) else { return nil }
    return spatialReference(layer, gdal)
  }
}
