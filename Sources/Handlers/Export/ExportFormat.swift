// The formats of exported files: how a request names them, and what they hold.

import Files
import GeoProtocol
import Geometry
import JSONRPC
import Reading
import WireCoding

/// A format that features are exported to, by the short name of GDAL's driver for it.
enum ExportFormat: String, CaseIterable, Sendable {
  case geoJSON = "GeoJSON"
  case geoJSONSeq = "GeoJSONSeq"
  case csv = "CSV"
  case geoPackage = "GPKG"
  case flatGeobuf = "FlatGeobuf"
  case parquet = "Parquet"

  private var extensions: [String] {
    switch self {
    case .geoJSON: ["geojson", "json"]
    case .geoJSONSeq: ["geojsons", "geojsonl", "ndjson"]
    case .csv: ["csv"]
    case .geoPackage, .flatGeobuf: [driver?.fileExtension ?? ""]
    case .parquet: ["parquet", "geoparquet"]
    }
  }

  /// The driver of a writer; nil for what is written here.
  var driver: WriteDriver? { WriteDriver(rawValue: rawValue) }

  /// - Parameters:
  ///   - name: of the driver; nil to go by the extension of `path`.
  /// - Throws: `unknownFormat` with the formats there are.
  init(named name: String?, path: String) throws(RPCError) {
    if let name {
      guard let format = ExportFormat(rawValue: name) else {
        let end = Suggestion(for: name, among: Self.allCases.map(\.rawValue)).end
        throw RPCError(
          .unknownFormat, "Nothing is exported as \"\(name)\"\(end)", path: "/params/driver", expected: Self.list)
      }
      self = format
      return
    }
    let ending = path.stemAndExtension.extension
    guard let format = Self.allCases.first(where: { $0.extensions.contains(ending) }) else {
      throw RPCError(
        .unknownFormat, "The extension of \(path.prefix(200)) is that of no format; `driver` names one.",
        path: "/params/path", expected: Self.list)
    }
    self = format
  }

  private static var list: String { allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ") }

  /// Whether a layer has a name in the file.
  var namesLayers: Bool { self != .geoJSONSeq && self != .csv }

  /// Whether the file states the spatial reference, or has a fixed one. GeoJSON without one is in EPSG:4326.
  func states(_ reference: SpatialReference) -> Bool { self != .csv && !(self == .geoJSON && reference == .unknown) }

  /// The greatest number of fields beside the geometry's, or with it where that is one: of SQLite's 2,000 columns one is the id's, and
  /// FlatGeobuf numbers fields with 16 bits.
  var fieldLimit: Int {
    switch self {
    case .geoPackage: 1999
    case .flatGeobuf: 1 << 16
    case .geoJSON, .geoJSONSeq, .csv, .parquet: .max
    }
  }

  /// What a layer is called where nobody says: as the file, unless that is no name of a layer.
  func layerName(ofFile stem: String) -> String { layerNameFault(stem) == nil ? stem : "features" }

  /// What else than `name` a layer has to be called; nil if that is a name. The names of tables that a database has for itself are none, nor
  /// those that GDAL refuses, and it ends a name at a NUL.
  func layerNameFault(_ name: String) -> String? {
    guard driver != nil else { return nil }
    if name.utf8.contains(0) { return "a name without NUL" }
    guard self == .geoPackage else { return nil }
    if let first = name.utf8.first, "`~!@#$%^&*()+-={}|[]\\:\";'<>?,./".utf8.contains(first) {
      return "a name that begins with a letter, a digit or `_`"
    }
    let start = name.utf8.prefix(7).map { $0 | 0x20 }
    let isReserved = start.starts(with: "gpkg".utf8) || start.elementsEqual("sqlite_".utf8.map { $0 | 0x20 })
    return isReserved ? "a name that begins neither with `gpkg` nor with `sqlite_`" : nil
  }

  var keepsIDs: Bool {
    switch self {
    case .geoJSON, .geoJSONSeq, .geoPackage: true
    case .csv, .flatGeobuf, .parquet: false
    }
  }

  /// The type that holds values of a field's type.
  func type(for type: FieldType) -> FieldType {
    switch (self, type) {
    case (.geoPackage, .time), (.flatGeobuf, .time), (.flatGeobuf, .date), (.flatGeobuf, .json): .string
    default: type
    }
  }

  /// The reference of the file.
  ///
  /// - Parameters:
  ///   - given: by the request.
  ///   - own: of the features.
  /// - Throws: where the format cannot state it.
  func reference(given: SpatialReference?, own: SpatialReference) throws(RPCError) -> SpatialReference {
    func refused(_ expected: String) -> RPCError {
      RPCError(
        .invalidParams, "\(rawValue) cannot state the spatial reference.", path: "/params/outSpatialReference",
        expected: expected)
    }
    switch self {
    case .geoJSON:
      let reference = given ?? .wgs84
      guard reference.isGeoJSON || reference == .unknown || reference.urn != nil else {
        throw refused("a reference with the code of an authority")
      }
      return reference
    case .geoJSONSeq:
      let reference = given ?? .wgs84
      guard reference.isGeoJSON else { throw refused("EPSG:4326") }
      return reference
    case .csv, .geoPackage, .flatGeobuf, .parquet: return given ?? own
    }
  }
}

extension SpatialReference {
  /// Whether it is that of GeoJSON, under either of its names.
  var isGeoJSON: Bool { self == .wgs84 || self == SpatialReference("OGC:CRS84") }

  /// The OGC's name of a reference with an authority's code: `urn:ogc:def:crs:EPSG::25832`.
  var urn: String? {
    let parts = definition.split(separator: ":", omittingEmptySubsequences: false)
    let isCode = parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(Self.isOfCode) }
    return isCode ? "urn:ogc:def:crs:\(parts[0])::\(parts[1])" : nil
  }

  private static func isOfCode(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte & 0xDF
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }
}
