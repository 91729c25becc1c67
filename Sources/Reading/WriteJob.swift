// The job of a writer: a format and a layer. The features follow in blocks.

import Geometry
import JSON

/// A format that GDAL writes, by the name of its driver.
public enum WriteDriver: String, Hashable, Sendable, CaseIterable {
  case geoPackage = "GPKG"
  case flatGeobuf = "FlatGeobuf"
  /// Few builds of GDAL have it.
  case parquet = "Parquet"
  case shapefile = "ESRI Shapefile"
  case kml = "KML"
  case gpx = "GPX"
  /// MBTiles: no layer of features, but a table of tiles, whose data is the column of bytes.
  case tiles = "SQLite"

  /// The extension that GDAL expects.
  public var fileExtension: String {
    switch self {
    case .geoPackage: "gpkg"
    case .flatGeobuf: "fgb"
    case .parquet: "parquet"
    case .shapefile: "shp"
    case .kml: "kml"
    case .gpx: "gpx"
    case .tiles: "sqlite"
    }
  }

  /// The extensions of the files beside the main one, which the writer gets after it and the scratch file.
  public var sideExtensions: [String] { self == .shapefile ? ["shx", "dbf", "prj", "cpg"] : [] }

  /// The field that has the Z of points, in a format whose positions of points have none.
  public var elevationField: String? { self == .gpx ? "ele" : nil }
}

public struct WriteJob: Hashable, Sendable {
  /// Which of the positions have a coordinate.
  public enum Occurrence: String, Hashable, Sendable { case none, some, all }

  /// What becomes of the content that the file has.
  public enum Placement: String, Hashable, Sendable {
    case create
    /// The layer is added.
    case addLayer
    /// The layer takes the place of one with its name, if there is one.
    case replaceLayer
  }

  public var driver: WriteDriver
  public var placement = Placement.create
  /// The layer to write; its fields are the columns of the blocks, in order.
  public var layer: LayerDescription
  public var z: Occurrence
  public var m: Occurrence
  /// Whether the file gets a spatial index.
  public var isIndexed: Bool
  /// SQL that is run when all is written.
  public var statements: [String] = []

  public init(
    driver: WriteDriver, layer: LayerDescription, z: Occurrence, m: Occurrence, isIndexed: Bool
  ) {
    self.driver = driver
    self.layer = layer
    self.z = z
    self.m = m
    self.isIndexed = isIndexed
  }

  func encode(to writer: inout JSONWriter) {
    writer.member("driver", driver.rawValue)
    writer.member("placement", placement.rawValue)
    writer.member("layer", layer)
    writer.member("z", z.rawValue)
    writer.member("m", m.rawValue)
    writer.member("isIndexed", isIndexed)
    writer.member("statements", statements)
  }

  init(from json: JSONValue) throws(JSONError) {
    self.init(
      driver: try json["driver"].word(), layer: try LayerDescription(from: json["layer"]),
      z: try json["z"].word(), m: try json["m"].word(),
      isIndexed: try json["isIndexed"].bool())
    placement = try json["placement"].word()
    statements = try json["statements"].array { value throws(JSONError) in try value.string() }
  }
}
