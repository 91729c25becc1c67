// Opens a source: refusals, choice of driver, and release of everything in order.

import CGDAL
import Files
import Geometry
import Platform

/// An open source, valid only inside ``with(_:_:_:_:progress:body:)``.
struct FeatureDataset: ~Copyable {
  /// Why it is opened: to describe it, or to read its features.
  enum Purpose { case description, features }

  let gdal: GDAL
  let handle: GDALDatasetH
  let driver: FeatureDriver
  let session: ReadSession
  let source: FeatureSource
  let options: OpenOptions
  let messages: UnsafeMutablePointer<cgdal_call>

  var layerCount: Int { Int(gdal.pointee.GDALDatasetGetLayerCount(handle)) }

  /// GDAL's first error message; nil without one.
  var complaint: String? { Self.complaint(messages, session) }

  private static func complaint(_ messages: UnsafeMutablePointer<cgdal_call>, _ session: ReadSession) -> String? {
    guard messages.pointee.failures > 0 else { return nil }
    return withUnsafeBytes(of: &messages.pointee.text) { raw in
      session.cleaned(String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self))
    }
  }

  /// Opens the source, calls `body`, releases everything, then checks that the files have not changed.
  static func with<T>(
    _ source: FeatureSource, _ options: OpenOptions, _ policy: FilePolicy,
    _ isCancelled: @escaping @Sendable () -> Bool, for purpose: Purpose, progress: @escaping (Double) -> Void,
    body: (borrowing FeatureDataset) throws(FormatError) -> T
  ) throws(FormatError) -> T {
    let gdal: GDAL
    switch GDALLibrary.shared {
    case .success(let library): gdal = library.functions
    case .failure(let error): throw .unavailable(reason: error.reason)
    }
    let isVirtual: Bool
    if case .file(let path) = source { isVirtual = policy.isAllowedVirtual(path) } else { isVirtual = false }
    let content = try content(of: source, policy, isVirtual: isVirtual)
    let session = ReadSession(content, policy: policy, isCancelled: isCancelled, progress: progress)
    defer { session.end() }

    let messages = UnsafeMutablePointer<cgdal_call>.allocate(capacity: 1)
    defer { messages.deallocate() }
    cgdal_enter(messages, isVirtual ? 1 : 0)
    defer { cgdal_leave(isVirtual ? 1 : 0) }

    do throws(FormatError) {
      guard !session.stops() else { throw FormatError.cancelled }
      var name = gdalName(source, session, isVirtual: isVirtual)
      let driver = try driver(of: name, source, options, gdal)
      if driver == .geoPackage, !isVirtual, let path = try pathOfLiveDatabase(source, policy) {
        name = path
        session.leaveChangesToSQLite()
      }
      // Drops messages of drivers that do not recognize the file.
      messages.pointee.failures = 0
      session.readShare = driver.shareOfOpening(for: purpose)
      guard let handle = open(name, driver, gdal) else {
        guard let reason = complaint(messages, session) else { throw FormatError.unrecognized(path: source.name) }
        throw FormatError.openFailed(driver: driver, path: source.name, reason: reason)
      }
      defer { _ = gdal.pointee.GDALClose(handle) }
      let dataset = FeatureDataset(
        gdal: gdal, handle: handle, driver: driver, session: session, source: source, options: options,
        messages: messages)
      // A parser that reaches a premature end still returns a dataset, with what it has read.
      if let reason = dataset.complaint {
        throw FormatError.openFailed(driver: driver, path: source.name, reason: reason)
      }
      guard !session.wasCancelled else { throw FormatError.cancelled }
      let result = try body(dataset)
      guard !session.stops() else { throw FormatError.cancelled }
      if session.firstChangedFile() != nil { throw FormatError.changedWhileRead(path: source.name) }
      session.reached(1)
      return result
    } catch {
      // To GDAL, a cancelled read looks like a broken file, as does a file written meanwhile.
      if session.wasCancelled { throw .cancelled }
      if session.firstChangedFile() != nil { throw .changedWhileRead(path: source.name) }
      throw error
    }
  }

  private static func content(
    of source: FeatureSource, _ policy: FilePolicy, isVirtual: Bool
  ) throws(FormatError) -> ReadSession.Content {
    let path: String
    switch source {
    case .geoJSON(let bytes): return .bytes(bytes, name: "inline.geojson")
    case .file where isVirtual: return .bytes([], name: "virtual")
    case .file(let name): path = name
    }
    do throws(FileRefusal) { _ = try policy.resolve(path) } catch { throw .file(error) }
    let cut = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    let name = String(path[path.utf8.index(after: cut)...])
    let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
    return .file(directory: String(path[..<cut]), name: name, stem: stem)
  }

  private static func gdalName(_ source: FeatureSource, _ session: ReadSession, isVirtual: Bool) -> String {
    if isVirtual, case .file(let path) = source { return path }
    return session.gdalName
  }

  /// The real path of a GeoPackage that another program has open, or left open: one with a journal beside it.
  ///
  /// Through the virtual file system SQLite takes no lock and ignores the journal, and would read an older or
  /// half-written state. Read directly it gives one state or an error; only the loop over the rows can then be
  /// cancelled.
  private static func pathOfLiveDatabase(_ source: FeatureSource, _ policy: FilePolicy) throws(FormatError) -> String? {
    guard case .file(let path) = source, let real = realPath(path) else { return nil }
    let journals = ["-wal", "-journal"].filter { (FileIdentity(path: real + $0)?.size ?? 0) > 0 }
    guard !journals.isEmpty else { return nil }
    for suffix in journals + ["-shm"] {
      if let journal = realPath(real + suffix), !policy.allows(realPath: journal) {
        throw .file(.refused(path: path, reason: "its journal lies outside the allowed directories"))
      }
    }
    return real
  }

  private static func driver(
    of name: String, _ source: FeatureSource, _ options: OpenOptions, _ gdal: GDAL
  ) throws(FormatError) -> FeatureDriver {
    if let driver = options.driver { return driver }
    if case .geoJSON = source { return .geoJSON }
    // All drivers at once: asked alone, GDAL 3.10's CSV driver takes any file.
    let names = FeatureDriver.allCases.flatMap { $0.gdalNames(gdal) }
    let found = withStrings(names) { gdal.pointee.GDALIdentifyDriverEx(name, UInt32(GDAL_OF_VECTOR), $0, nil) }
    if let name = found.flatMap({ gdal.pointee.GDALGetDriverShortName($0) }).map({ String(cString: $0) }),
      let driver = FeatureDriver.allCases.first(where: { $0.gdalNames(gdal).contains(name) })
    {
      return driver
    }
    throw .unrecognized(path: source.name)
  }

  private static func open(_ name: String, _ driver: FeatureDriver, _ gdal: GDAL) -> GDALDatasetH? {
    withStrings(driver.gdalNames(gdal)) { drivers in
      withStrings(driver.openOptions) { options in
        gdal.pointee.GDALOpenEx(name, UInt32(GDAL_OF_VECTOR | GDAL_OF_READONLY), drivers, options, nil)
      }
    }
  }
}

extension FeatureDriver {
  /// Names of the GDAL drivers for it.
  func gdalNames(_ gdal: GDAL) -> [String] {
    // LIBKML supports more of KML, but not every build of GDAL has it.
    guard self == .kml else { return [rawValue] }
    return gdal.pointee.GDALGetDriverByName("LIBKML") == nil ? ["KML"] : ["LIBKML"]
  }

  var openOptions: [String] {
    switch self {
    // The whole file determines a column's type: a type taken from the first rows loses later values.
    case .csv: ["AUTODETECT_TYPE=YES", "AUTODETECT_SIZE_LIMIT=0", "EMPTY_STRING_AS_NULL=YES"]
    default: []
    }
  }

  /// The share of the work that is reading bytes, from which progress is computed; the rest is features.
  func shareOfOpening(for purpose: FeatureDataset.Purpose) -> Double {
    switch (self, purpose) {
    case (.geoJSON, .features), (.kml, .features), (.csv, .features): 0.5
    case (.geoJSON, .description), (.kml, .description), (.csv, .description), (.gpx, .description): 1
    case (.geoPackage, _), (.shapefile, _), (.flatGeobuf, _), (.gpx, .features): 0
    }
  }
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
