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

  /// What is known of a format.
  struct Record {
    let extensions: [String]
    let writer: Writer
    /// Whether a layer has a name in the file.
    var namesLayers = true
    /// Whether names of layers follow GDAL's rules for tables of SQLite.
    var namesTables = false
    var keepsIDs = false
    var needsGeometry = false
    /// The greatest number of fields beside the geometry's, or with it where that is one.
    var fieldLimit = Int.max
    /// Types of fields whose values become texts.
    var asText: Set<FieldType> = []
    var reference = Reference.any
    var order = Order.given
    /// Whether a spatial index has a place for features without a position.
    var indexesAll = false
    /// Whether all geometries have Z and M where one has.
    var hasOneLayout = false
  }

  /// The order in which a file has features.
  enum Order {
    case given
    case byID
    /// Where it has a spatial index: GDAL then leaves out features without a position.
    case byPosition
  }

  /// What writes the file: the server, or a process with a driver of GDAL.
  enum Writer {
    case geoJSON
    case geoJSONSeq
    case csv
    case process(WriteDriver)
  }

  /// Which references a file may have, and states.
  enum Reference {
    case any
    /// Any, and the file states none.
    case unstated
    /// EPSG:4326 unless another one is given that has an authority's code. A file that states none is in EPSG:4326.
    case coded
    case wgs84
  }

  var record: Record {
    switch self {
    case .geoJSON: Record(extensions: ["geojson", "json"], writer: .geoJSON, keepsIDs: true, reference: .coded)
    case .geoJSONSeq:
      Record(
        extensions: ["geojsons", "geojsonl", "ndjson"], writer: .geoJSONSeq, namesLayers: false, keepsIDs: true,
        reference: .wgs84)
    case .csv: Record(extensions: ["csv"], writer: .csv, namesLayers: false, reference: .unstated)
    case .geoPackage:
      // Of SQLite's 2,000 columns one is the id's.
      Record(
        extensions: [WriteDriver.geoPackage.fileExtension], writer: .process(.geoPackage), namesTables: true,
        keepsIDs: true, fieldLimit: 1999, asText: [.time], order: .byID, indexesAll: true)
    case .flatGeobuf:
      // It numbers fields with 16 bits.
      Record(
        extensions: [WriteDriver.flatGeobuf.fileExtension], writer: .process(.flatGeobuf), needsGeometry: true,
        fieldLimit: 1 << 16, asText: [.time, .date, .json], order: .byPosition, hasOneLayout: true)
    case .parquet:
      Record(extensions: [WriteDriver.parquet.fileExtension, "geoparquet"], writer: .process(.parquet))
    }
  }

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
    guard let format = Self.allCases.first(where: { $0.record.extensions.contains(ending) }) else {
      throw RPCError(
        .unknownFormat, "The extension of \(path.prefix(200)) is that of no format; `driver` names one.",
        path: "/params/path", expected: Self.list)
    }
    self = format
  }

  private static var list: String { allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ") }

  /// Whether the file states the spatial reference, or has a fixed one.
  func states(_ reference: SpatialReference) -> Bool {
    switch record.reference {
    case .any, .wgs84: true
    case .unstated: false
    case .coded: reference != .unknown
    }
  }

  /// What a layer is called where nobody says: as the file, unless that is no name of a layer.
  func layerName(ofFile stem: String) -> String { layerNameFault(stem) == nil ? stem : "features" }

  /// What else than `name` a layer has to be called; nil if that is a name. The names of tables that a database has for itself are none, nor
  /// those that GDAL refuses, and it ends a name at a NUL.
  func layerNameFault(_ name: String) -> String? {
    guard case .process = record.writer else { return nil }
    if name.utf8.contains(0) { return "a name without NUL" }
    guard record.namesTables else { return nil }
    if let first = name.utf8.first, "`~!@#$%^&*()+-={}|[]\\:\";'<>?,./".utf8.contains(first) {
      return "a name that begins with a letter, a digit or `_`"
    }
    let start = name.utf8.prefix(7).map { $0 | 0x20 }
    let isReserved = start.starts(with: "gpkg".utf8) || start.elementsEqual("sqlite_".utf8.map { $0 | 0x20 })
    return isReserved ? "a name that begins neither with `gpkg` nor with `sqlite_`" : nil
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
    switch record.reference {
    case .coded:
      let reference = given ?? .wgs84
      guard reference.isGeoJSON || reference == .unknown || reference.urn != nil else {
        throw refused("a reference with the code of an authority")
      }
      return reference
    case .wgs84:
      let reference = given ?? .wgs84
      guard reference.isGeoJSON else { throw refused("EPSG:4326") }
      return reference
    case .any, .unstated: return given ?? own
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
