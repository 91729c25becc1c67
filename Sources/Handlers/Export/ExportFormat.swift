// The formats of exported files: their names in requests, and their limits.

import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Reading
import WireCoding

/// A format for exported features, by the short name of GDAL's driver for it.
enum ExportFormat: String, CaseIterable, Sendable {
  case geoJSON = "GeoJSON"
  case geoJSONSeq = "GeoJSONSeq"
  case csv = "CSV"
  case geoPackage = "GPKG"
  case flatGeobuf = "FlatGeobuf"
  case parquet = "Parquet"
  case shapefile = "ESRI Shapefile"
  case kml = "KML"
  case gpx = "GPX"

  /// The properties of a format.
  struct Record {
    let extensions: [String]
    let writer: Writer
    /// Whether a layer has a name in the file.
    var namesLayers = true
    /// Whether names of layers follow GDAL's rules for SQLite tables.
    var namesTables = false
    var keepsIDs = false
    var needsGeometry = false
    /// Maximum number of fields, not counting the geometry unless that is a field itself.
    var fieldLimit = Int.max
    /// Types of fields that are written as text.
    var asText: Set<FieldType> = []
    var reference = Reference.any
    var order = Order.given
    /// Whether a spatial index, if the format has one, has a place for features without a position.
    var indexesAll = false
    var needsPositions = false
    var mixture = Mixture.any
    /// Whether attributes go to a dBase table: numbers of 24 characters, texts of 254 bytes without spaces at the end, and no NaN.
    var isTable = false
    /// Whether a file of the format may have a name with another extension.
    var hasAnyExtension = true
    /// Whether a layer can be added to a file.
    var addsLayers = false
    /// The extensions of indexes beside a file, which another program has made and which hold for an earlier file alone.
    var indexExtensions: [String] = []
    /// Whether coordinates are text: without M, and without Z where some positions of a geometry have none.
    var isText = false
    /// The digits that numbers in such texts have.
    var digits: Digits?
    /// The form of the names of fields.
    var names = Names.any
    /// Fields that mean something in the format, by their names in lower case: names and types.
    var ownFields: [String: Field] = [:]
  }

  /// Which geometries a layer holds.
  enum Mixture {
    /// Those of all types, each with or without Z and M.
    case any
    /// All have Z, or M, if one has it, and then they are of one type: several readers know no layer of any type with Z.
    case oneTypeWithZ
    /// The types of the first of these families that has them all. All have Z, or M, if one has it; in a table that lacks NaN, if all have it.
    case families([Family])
  }

  /// Types of geometries that a layer can hold together.
  struct Family {
    let types: Set<String>
    /// The type of the layer.
    let layer: String
  }

  /// How GDAL writes numbers as text.
  enum Digits {
    /// With fifteen digits.
    case significant
    /// With fifteen digits after the point, and sixty-three characters at most.
    case decimal
  }

  /// Which names of fields a format can have.
  enum Names {
    case any
    /// At most ten bytes of UTF-8.
    case ofTenBytes
    /// Names of XML elements of letters, digits and `_`.
    case ofElements
    /// Texts that XML has without escapes.
    case ofAttributes
  }

  /// The order of features in a file.
  enum Order {
    case given
    case byID
    /// By position if the file has a spatial index. GDAL then leaves out features without a position.
    case byPosition
  }

  /// The writer of the file: the server, or a process with a GDAL driver.
  enum Writer {
    case geoJSON
    case geoJSONSeq
    case csv
    case process(WriteDriver)
  }

  /// The spatial references that a file can have, and whether it states them.
  enum Reference {
    case any
    /// Any reference; the file does not state it.
    case unstated
    /// EPSG:4326 by default, or another reference with an authority's code. A file without a stated reference is in EPSG:4326.
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
      // The id takes one of SQLite's 2,000 columns.
      Record(
        extensions: [WriteDriver.geoPackage.fileExtension], writer: .process(.geoPackage), namesTables: true,
        keepsIDs: true, fieldLimit: 1999, asText: [.time], order: .byID, indexesAll: true, addsLayers: true)
    case .flatGeobuf:
      // FlatGeobuf numbers fields with 16 bits.
      Record(
        extensions: [WriteDriver.flatGeobuf.fileExtension], writer: .process(.flatGeobuf), needsGeometry: true,
        fieldLimit: 1 << 16, asText: [.time, .date, .json], order: .byPosition, mixture: .oneTypeWithZ)
    case .parquet:
      Record(extensions: [WriteDriver.parquet.fileExtension, "geoparquet"], writer: .process(.parquet))
    case .shapefile:
      Record(
        extensions: [WriteDriver.shapefile.fileExtension], writer: .process(.shapefile), namesLayers: false,
        needsGeometry: true, fieldLimit: 256, asText: [.boolean, .dateTime, .time, .json, .binary], indexesAll: true,
        mixture: .families([
          Family(types: ["Point"], layer: "Point"), Family(types: ["Point", "MultiPoint"], layer: "MultiPoint"),
          Family(types: ["LineString", "MultiLineString"], layer: "LineString"),
          Family(types: ["Polygon", "MultiPolygon"], layer: "Polygon"),
        ]), isTable: true, hasAnyExtension: false, indexExtensions: ["qix", "sbn", "sbx"], names: .ofTenBytes)
    case .kml:
      Record(
        extensions: [WriteDriver.kml.fileExtension], writer: .process(.kml),
        asText: [.boolean, .date, .dateTime, .time, .json, .binary], reference: .wgs84, indexesAll: true, isText: true,
        digits: .significant, names: .ofAttributes,
        ownFields: [
          "name": Field(name: "Name", type: .string), "description": Field(name: "description", type: .string),
        ])
    case .gpx:
      Record(
        extensions: [WriteDriver.gpx.fileExtension], writer: .process(.gpx), namesLayers: false, needsGeometry: true,
        asText: [.boolean, .date, .dateTime, .time, .json, .binary], reference: .wgs84, indexesAll: true,
        needsPositions: true,
        mixture: .families([
          Family(types: ["Point"], layer: "Point"),
          Family(types: ["LineString", "MultiLineString"], layer: "MultiLineString"),
        ]), isText: true, digits: .decimal, names: .ofElements, ownFields: Self.gpxFields)
    }
  }

  /// The elements of GPX that are fields; those of links have other names in GDAL.
  private static let gpxFields: [String: Field] = {
    let types: [(FieldType, [String])] = [
      (.double, ["ele", "magvar", "geoidheight", "hdop", "vdop", "pdop", "ageofdgpsdata"]), (.dateTime, ["time"]),
      (.string, ["name", "cmt", "desc", "src", "sym", "type", "fix"]), (.integer, ["sat", "dgpsid", "number"]),
    ]
    return Dictionary(
      uniqueKeysWithValues: types.flatMap { type, names in names.map { ($0, Field(name: $0, type: type)) } })
  }()

  /// - Parameters:
  ///   - name: the name of the driver; nil to choose by the extension of `path`.
  /// - Throws: `unknownFormat` with the list of formats.
  init(named name: String?, path: String) throws(RPCError) {
    let ending = path.stemAndExtension.extension
    if let name {
      guard let format = ExportFormat(rawValue: name) else {
        let end = Suggestion(for: name, among: Self.allCases.map(\.rawValue)).end
        throw RPCError(
          .unknownFormat, "Nothing is exported as \"\(name)\"\(end)", path: "/params/driver", expected: Self.list)
      }
      guard format.record.hasAnyExtension || format.record.extensions.contains(ending) else {
        throw RPCError(
          .invalidParams, "Readers know files of \(name) by their names.", path: "/params/path",
          expected: "a name that ends with `.\(format.record.extensions[0])`")
      }
      self = format
      return
    }
    guard let format = Self.allCases.first(where: { $0.record.extensions.contains(ending) }) else {
      throw RPCError(
        .unknownFormat, "The extension of \(path.prefix(200)) is that of no format; `driver` names one.",
        path: "/params/path", expected: Self.list)
    }
    self = format
  }

  private static var list: String { allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ") }

  /// Whether the file states its spatial reference, or the format has a fixed one.
  func states(_ reference: SpatialReference) -> Bool {
    switch record.reference {
    case .any, .wgs84: true
    case .unstated: false
    case .coded: reference != .unknown
    }
  }

  /// The default name of a layer: that of the file, if it is valid for a layer.
  func layerName(ofFile stem: String) -> String { layerNameFault(stem) == nil ? stem : "features" }

  /// Why a name is invalid for a layer, as the expected form; nil if it is valid. Names reserved by SQLite and GeoPackage are
  /// invalid, and so are names that GDAL refuses. GDAL also truncates names at NUL.
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
  ///   - given: the reference in the request.
  ///   - own: the reference of the features.
  /// - Throws: if the format cannot state the reference.
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
  /// Whether it is the reference of GeoJSON, by either of its names.
  var isGeoJSON: Bool { self == .wgs84 || self == SpatialReference("OGC:CRS84") }

  /// The OGC's URN of a reference with an authority's code: `urn:ogc:def:crs:EPSG::25832`.
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
