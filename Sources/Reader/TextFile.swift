// Reads GeoJSON without GDAL, which suits most files. Anything unusual is left to GDAL, before any feature has been sent.

import CGDAL
import Files
import GeoJSON
import Geometry
import Platform
import Reading
import Synchronization

/// A file that may be GeoJSON, as a collection or as a sequence of features.
struct TextFile {
  private let descriptor: CInt
  private let identity: FileIdentity
  private let files: ReaderFiles
  private let options: OpenOptions
  /// Whether the request, or else the name, says that the file is a sequence; it may then be empty.
  private let isSequence: Bool

  /// Result of the last scan: a source is described first, and its layers are loaded afterwards.
  private static let known = Mutex<Known?>(nil)

  private struct Known: Sendable {
    let identity: FileIdentity
    let options: OpenOptions
    /// Nil if the file is left to GDAL.
    let layer: TextLayer?
  }

  /// Whether the file's name or the request says that it is GeoJSON.
  static func isExpected(of job: ReadJob) -> Bool {
    guard job.address == nil, job.database == nil, job.part == nil else { return false }
    let name = job.names.first?.lowercased() ?? ""
    return [".geojson", ".json", ".geojsonl", ".geojsons", ".ndjson"].contains { name.hasSuffix($0) }
      || [.geoJSON, .geoJSONSeq].contains(job.options.driver)
  }

  private static func isSequence(_ job: ReadJob) -> Bool {
    let name = job.names.first?.lowercased() ?? ""
    return job.options.driver == .geoJSONSeq
      || job.options.driver == nil && [".geojsonl", ".geojsons", ".ndjson"].contains { name.hasSuffix($0) }
  }

  /// Nil if the file does not begin like GeoJSON.
  init?(_ job: ReadJob, _ files: ReaderFiles) {
    // A GeoJSON request with an encoding is refused where GDAL opens files.
    guard job.address == nil, job.database == nil, job.part == nil, job.options.encoding == nil,
      [nil, .geoJSON, .geoJSONSeq].contains(job.options.driver),
      let descriptor = files.mainDescriptor, let identity = files.identity(descriptor)
    else { return nil }
    var head = [UInt8](repeating: 0, count: 64)
    let count = pread(descriptor, &head, head.count, 0)
    var begin = head.prefix(max(count, 0))
    if begin.starts(with: [0xEF, 0xBB, 0xBF]) { begin = begin.dropFirst(3) }
    let first = begin.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    isSequence = Self.isSequence(job)
    guard first == UInt8(ascii: "{") || first == 0x1E || first == nil && isSequence else { return nil }
    self.descriptor = descriptor
    self.identity = identity
    self.files = files
    options = job.options
  }

  /// A source of the file's bytes in sequence; it reports progress.
  private func source(from start: Double, to end: Double) -> (UnsafeMutableRawBufferPointer) -> Int {
    let (descriptor, files) = (descriptor, files)
    let size = Double(max(1, identity.size))
    var offset = 0
    return { target in
      while true {
        let got = pread(descriptor, target.baseAddress, target.count, off_t(offset))
        if got < 0, errno == EINTR { continue }
        offset += max(0, got)
        files.reached(min(start + (end - start) * Double(offset) / size, 0.99))
        return got
      }
    }
  }

  /// The layer in the file; nil if the file is left to GDAL.
  ///
  /// - Parameter share: the fraction of the whole work that a scan takes, for progress; a known result takes no time.
  func layer(share: Double) -> TextLayer? {
    let known = Self.known.withLock { $0 }
    if let known, known.identity == identity, known.options == options { return known.layer }
    var reader = FeatureReader(
      allowsSequence: options.driver != .geoJSON, allowsNothing: isSequence, source(from: 0, to: share))
    var layer: TextLayer?
    do throws(TextStop) { layer = try reader.scan() } catch {}
    if layer?.form == .collection, options.driver == .geoJSONSeq { layer = nil }
    Self.known.withLock { [layer] in $0 = Known(identity: identity, options: options, layer: layer) }
    return layer
  }

  /// Whether ``layer(share:)`` takes no time.
  var isKnown: Bool { Self.known.withLock { $0.map { $0.identity == identity && $0.options == options } ?? false } }

  /// Calls `send` with blocks of the features, in the file's order.
  ///
  /// - Parameter start: the fraction of the work done before.
  func readFeatures(
    of layer: TextLayer, from start: Double, _ send: (inout FeatureBlockBuilder) throws(ReadError) -> Void
  ) throws(ReadError) {
    var reader = FeatureReader(layer, source(from: start, to: 1))
    var rows = TextRows(layer)
    while try isNext(&reader, rows.count) {
      rows.append(reader.feature)
      if rows.block.isFull { try send(&rows.block) }
    }
    guard rows.count == layer.featureCount else { throw changed(rows.count) }
    if rows.block.count > 0 { try send(&rows.block) }
    files.reached(1)
  }

  private func isNext(_ reader: inout FeatureReader, _ count: Int) throws(ReadError) -> Bool {
    do throws(TextStop) { return try reader.next() } catch { throw changed(count) }
  }

  private func changed(_ count: Int) -> ReadError {
    .readFailed(
      driver: FeatureDriver.geoJSON.rawValue, path: "", layer: nil,
      reason: "the file is another one than before, from feature \(count + 1)")
  }

  /// GDAL's error; if the text is not JSON, with the position of the fault.
  func located(_ error: ReadError) -> ReadError {
    let isSequence = options.driver != .geoJSON
    switch error {
    case .openFailed(let driver, let path, _):
      var check = TextCheck(isSequence: isSequence, source(from: 0, to: 0))
      guard let fault = check.firstFault() else { return error }
      return .openFailed(driver: driver, path: path, reason: fault.description)
    case .readFailed(let driver, let path, let layer, _):
      var check = TextCheck(isSequence: isSequence, source(from: 0, to: 0))
      guard let fault = check.firstFault() else { return error }
      return .readFailed(driver: driver, path: path, layer: layer, reason: fault.description)
    case .file, .unrecognized, .changedWhileRead, .noSuchLayer, .missingField, .cancelled, .unavailable, .readerFailed, .address,
      .writeFailed, .driverMissing, .writerFailed, .layerExists:
      return error
    }
  }
}

extension TextFile {
  /// The description of a layer; nil if the file is left to GDAL.
  func description(_ layer: TextLayer) throws(ReadError) -> LayerDescription? {
    let reference: SpatialReference
    if layer.hasZ || layer.reference != nil {
      guard let found = try Self.reference(layer.reference, hasZ: layer.hasZ) else { return nil }
      reference = found
    } else {
      reference = .wgs84
    }
    var idColumn: String?
    if case .property = layer.ids { idColumn = "id" }
    return LayerDescription(
      name: layer.name ?? files.mainStem, geometryType: layer.geometryType, fields: layer.columns.map(\.field),
      featureCount: layer.featureCount, extent: nil, spatialReference: reference, fidColumn: idColumn)
  }

  /// The reference that GDAL makes of the member `crs`, in a document with one point.
  private static func reference(_ member: String?, hasZ: Bool) throws(ReadError) -> SpatialReference? {
    let point =
      #"{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[0,0\#(hasZ ? ",0" : "")]}}"#
    let crs = member.map { #""crs":\#($0),"# } ?? ""
    return try FeatureDataset.reference(ofText: #"{"type":"FeatureCollection",\#(crs)"features":[\#(point)]}"#)
  }
}

extension TextLayer {
  var driver: FeatureDriver { form == .sequence ? .geoJSONSeq : .geoJSON }
}
