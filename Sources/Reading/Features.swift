// Vector files: formats and descriptions.

import Files
import Geometry

/// A readable format, by the name of its GDAL driver.
public enum FeatureDriver: String, Hashable, Sendable, CaseIterable {
  case geoJSON = "GeoJSON"
  /// Features in sequence: RFC 8142, or one per line.
  case geoJSONSeq = "GeoJSONSeq"
  case geoPackage = "GPKG"
  case shapefile = "ESRI Shapefile"
  case csv = "CSV"
  case gpx = "GPX"
  case kml = "KML"
  case flatGeobuf = "FlatGeobuf"
}

/// The origin of features.
public enum FeatureSource: Hashable, Sendable {
  /// An absolute path.
  case file(String)
  /// A GeoJSON document as UTF-8. Reading it cannot access files.
  case geoJSON([UInt8])

  /// The name used in errors.
  public var name: String {
    switch self {
    case .file(let path): Address(path).shown
    case .geoJSON: "inline GeoJSON"
    }
  }
}

/// Options for sources whose content does not determine how to open them.
public struct OpenOptions: Hashable, Sendable {
  /// The fields of a CSV file that hold coordinates.
  public struct PointFields: Hashable, Sendable {
    public let x: String
    public let y: String
    public let z: String?
    public init(x: String, y: String, z: String? = nil) { (self.x, self.y, self.z) = (x, y, z) }
  }

  /// Nil to detect it from content and name.
  public var driver: FeatureDriver?
  /// Nil for CSV rows without geometry.
  public var points: PointFields?

  /// The encoding of the texts of a CSV file or shapefile; nil for what the file states, or UTF-8.
  public var encoding: String?

  public init(driver: FeatureDriver? = nil, points: PointFields? = nil, encoding: String? = nil) {
    self.driver = driver
    self.points = points
    self.encoding = encoding
  }
}

/// The contents of a source.
public struct SourceDescription: Hashable, Sendable {
  public let driver: FeatureDriver
  public let name: String
  public let layers: [LayerDescription]
  /// Files and data that were not read, or were changed on reading: messages of the server and of GDAL. Not sent by readers.
  public let warnings: [String]

  public init(driver: FeatureDriver, name: String, layers: [LayerDescription], warnings: [String] = []) {
    self.driver = driver
    self.name = name
    self.layers = layers
    self.warnings = warnings
  }
}

public struct LayerDescription: Hashable, Sendable {
  public let name: String
  /// "Point", "MultiPolygon", "Unknown" if features differ; nil for a table without geometry.
  public let geometryType: String?
  /// The name of the column of geometries, if the format has one.
  public let geometryName: String?
  /// In the order of the columns of ``FeatureBlock``.
  public let fields: [Field]
  /// Nil if it takes a full read to count them.
  public let featureCount: Int?
  /// In the units of the spatial reference; nil if it takes a full read to compute, or if there are no features.
  public let extent: Envelope?
  /// An authority code where known, else WKT; nil if the source has none.
  public let spatialReference: SpatialReference?
  /// The column of feature ids, if the format has one.
  public let fidColumn: String?

  public init(
    name: String, geometryType: String?, fields: [Field], featureCount: Int?, extent: Envelope?,
    spatialReference: SpatialReference?, fidColumn: String?, geometryName: String? = nil
  ) {
    self.name = name
    self.geometryName = geometryName
    self.geometryType = geometryType
    self.fields = fields
    self.featureCount = featureCount
    self.extent = extent
    self.spatialReference = spatialReference
    self.fidColumn = fidColumn
  }
}
