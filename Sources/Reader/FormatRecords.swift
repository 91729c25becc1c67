// The formats of vector files: what GDAL has to be told of each, one record a format.

import Reading

/// A driver of GDAL, and the function of its library that registers it.
struct GDALDriver {
  let name: String
  let register: String
}

/// How a format is read.
struct FeatureFormat {
  /// The first that a build of GDAL has is used.
  let drivers: [GDALDriver]
  var openOptions: [String] = []
  /// Options with which texts stay as they stand in the file, where a request may name their encoding; nil where the format has one.
  var rawTexts: [String]?
  /// Whether GDAL reads the whole file to describe it.
  var parsesToOpen = false
  /// Of the work of reading features, the share that is over when the file is open: progress counts bytes so far, then features.
  var openingShare = 0.0
  /// Whether GDAL's columns have what features have: of others they are made of features; those of GDAL 3.6 of FlatGeobuf are wrong where
  /// a geometry is null.
  var hasColumns = false
  /// Whether a file with fewer features than it states has been cut: other drivers report an early end, and their counts may be inexact.
  var statesCount = false
}

extension FeatureDriver {
  var record: FeatureFormat {
    func driver(_ function: String) -> GDALDriver { GDALDriver(name: rawValue, register: function) }
    return switch self {
    case .geoJSON: FeatureFormat(drivers: [driver("RegisterOGRGeoJSON")], parsesToOpen: true, openingShare: 0.5)
    case .geoJSONSeq: FeatureFormat(drivers: [driver("RegisterOGRGeoJSONSeq")], parsesToOpen: true, openingShare: 0.5)
    case .geoPackage: FeatureFormat(drivers: [driver("RegisterOGRGeoPackage")], hasColumns: true)
    case .shapefile: FeatureFormat(drivers: [driver("RegisterOGRShape")], rawTexts: ["ENCODING="])
    case .csv:
      FeatureFormat(
        drivers: [driver("RegisterOGRCSV")],
        // The whole file determines a column's type: a type taken from the first rows loses later values.
        openOptions: ["AUTODETECT_TYPE=YES", "AUTODETECT_SIZE_LIMIT=0", "EMPTY_STRING_AS_NULL=YES"], rawTexts: [],
        parsesToOpen: true, openingShare: 0.5)
    case .gpx: FeatureFormat(drivers: [driver("RegisterOGRGPX")], parsesToOpen: true)
    // LIBKML supports more of KML, but not every build of GDAL has it.
    case .kml:
      FeatureFormat(
        drivers: [GDALDriver(name: "LIBKML", register: "RegisterOGRLIBKML"), driver("RegisterOGRKML")],
        parsesToOpen: true, openingShare: 0.5)
    case .flatGeobuf: FeatureFormat(drivers: [driver("RegisterOGRFlatGeobuf")], statesCount: true)
    }
  }

  /// The name of GDAL's driver for it, as a list for its functions.
  func gdalNames(_ gdal: GDAL) -> [String] {
    let drivers = record.drivers
    let present = drivers.first { gdal.pointee.GDALGetDriverByName($0.name) != nil } ?? drivers.last
    return present.map { [$0.name] } ?? []
  }
}

/// How a format is written by GDAL.
struct WriteFormat {
  let driver: GDALDriver
  var fileOptions: [String] = []
  var layerOptions: (WriteJob) -> [String] = { _ in [] }
  /// The number of features written, from the one that GDAL reports; nil if unknown.
  var count: (Int) -> Int? = { $0 >= 0 ? $0 : nil }
  /// SQL that makes the tables in place of GDAL, which would add columns and tables of its own.
  var tables: [String] = []
  /// SQL that is run when all features are written.
  var finalStatements: (WriteJob) -> [String] = { _ in [] }
}

extension WriteDriver {
  var record: WriteFormat {
    func driver(_ function: String) -> GDALDriver { GDALDriver(name: rawValue, register: function) }
    return switch self {
    case .geoPackage:
      WriteFormat(
        driver: driver("RegisterOGRGeoPackage"),
        layerOptions: { job in
          [job.indexOption] + (job.layer.fidColumn.map { ["FID=\($0)"] } ?? []) + job.geometryName
        },
        finalStatements: \.optionalCoordinates)
    case .flatGeobuf:
      WriteFormat(
        driver: driver("RegisterOGRFlatGeobuf"),
        layerOptions: { [$0.indexOption, "TEMPORARY_DIR=\(WrittenFiles.scratchFolder)"] },
        // Of none GDAL says that it does not know.
        count: { max($0, 0) })
    case .parquet: WriteFormat(driver: driver("RegisterOGRParquet"), layerOptions: \.geometryName)
    case .shapefile: WriteFormat(driver: driver("RegisterOGRShape"), layerOptions: { _ in ["ENCODING=UTF-8"] })
    // Not LIBKML, which not every build of GDAL has, and which keeps all features in memory. It counts none.
    case .kml: WriteFormat(driver: driver("RegisterOGRKML"), count: { _ in nil })
    case .gpx: WriteFormat(driver: driver("RegisterOGRGPX"), fileOptions: ["GPX_USE_EXTENSIONS=YES"], count: { _ in nil })
    // https://github.com/mapbox/mbtiles-spec/blob/master/1.3/spec.md
    case .tiles:
      WriteFormat(
        driver: driver("RegisterOGRSQLite"), fileOptions: ["METADATA=NO"],
        tables: [
          "PRAGMA application_id = 1297105496", "CREATE TABLE metadata (name text, value text)",
          "CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, tile_data blob)",
        ], finalStatements: \.statements)
    }
  }
}

extension WriteJob {
  fileprivate var indexOption: String { "SPATIAL_INDEX=\(isIndexed ? "YES" : "NO")" }
  fileprivate var geometryName: [String] { layer.geometryName.map { ["GEOMETRY_NAME=\($0)"] } ?? [] }

  /// Says that Z, or M, is optional where only some positions have it: GDAL takes a layer's type for that of all geometries.
  fileprivate var optionalCoordinates: [String] {
    let name = layer.name.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
    return [("z", z), ("m", m)].filter { $0.1 == .some }.map { column, _ in
      "UPDATE gpkg_geometry_columns SET \(column) = 2 WHERE table_name = '\(name)'"
    }
  }
}
