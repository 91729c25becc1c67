// Vector files: formats, descriptions and errors.

import Files
import Geometry

/// A readable format, by the name of its GDAL driver.
public enum FeatureDriver: String, Hashable, Sendable, CaseIterable {
  case geoJSON = "GeoJSON"
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
    case .file(let path): path
    case .geoJSON: "inline GeoJSON"
    }
  }
}

/// Options where the content does not determine how to open a source.
public struct OpenOptions: Hashable, Sendable {
  /// The fields of a CSV file that hold coordinates.
  public struct PointFields: Hashable, Sendable {
    public let x: String
    public let y: String
    public init(x: String, y: String) {
      self.x = x
      self.y = y
    }
  }

  /// Nil to detect it from content and name.
  public var driver: FeatureDriver?
  /// Nil for CSV rows without geometry.
  public var points: PointFields?

  public init(driver: FeatureDriver? = nil, points: PointFields? = nil) {
    self.driver = driver
    self.points = points
  }
}

/// The contents of a source.
public struct SourceDescription: Hashable, Sendable {
  public let driver: FeatureDriver
  public let name: String
  public let layers: [LayerDescription]
}

public struct LayerDescription: Hashable, Sendable {
  public let name: String
  /// "Point", "MultiPolygon", "Unknown" if features differ; nil for a table without geometry.
  public let geometryType: String?
  /// In the order of ``RawFeature/attributes``.
  public let fields: [Field]
  /// Nil if it takes a full read to count them.
  public let featureCount: Int?
  /// In the units of the spatial reference; nil if it takes a full read to compute, or if there are no features.
  public let extent: Envelope?
  /// An authority code where known, else WKT; nil if the source has none.
  public let spatialReference: SpatialReference?
  /// The column of feature ids, if the format has one.
  public let fidColumn: String?
}

/// A feature as stored in its file.
public struct RawFeature: Hashable, Sendable {
  /// The format's id; nil without one.
  public let fid: Int64?
  public let geometry: Geometry?
  /// One value for each field, in the order of ``LayerDescription/fields``.
  public let attributes: [AttributeValue]
}

/// Why a source could not be described or read.
public enum FormatError: Error, Hashable, Sendable {
  case file(FileRefusal)
  /// No supported format.
  case unrecognized(path: String)
  case openFailed(driver: FeatureDriver, path: String, reason: String)
  case readFailed(driver: FeatureDriver, path: String, layer: String, reason: String)
  /// The file was written while it was read: the result may mix states.
  case changedWhileRead(path: String)
  case noSuchLayer(String, available: [String])
  case missingField(String, available: [String])
  case cancelled
  /// GDAL, or its driver, is not installed.
  case unavailable(reason: String)
}

/// Reads vector files with GDAL. Calls share no state and may run on any thread; each blocks its thread until done.
///
/// ```swift
/// let source = FeatureSource.file("/data/roads.gpkg")
/// let description = try FeatureFormats.describe(source, policy: policy)
/// ```
public enum FeatureFormats {
  /// Describes the contents of a source.
  ///
  /// - Parameters:
  ///   - isCancelled: called at every read of the file.
  ///   - progress: a rising fraction in 0...1, by bytes read of a text format; ends with 1.
  /// - Complexity: text formats (GeoJSON, KML, GPX, CSV) are parsed as a whole, others by their headers.
  public static func describe(
    _ source: FeatureSource, options: OpenOptions = OpenOptions(), policy: FilePolicy = FilePolicy(),
    isCancelled: @escaping @Sendable () -> Bool = { false }, progress: @escaping (Double) -> Void = { _ in }
  ) throws(FormatError) -> SourceDescription {
    try FeatureDataset.with(source, options, policy, isCancelled, for: .description, progress: progress) {
      (dataset) throws(FormatError) in
      var layers: [LayerDescription] = []
      for index in 0..<dataset.layerCount { layers.append(try dataset.layer(at: index).description) }
      return SourceDescription(driver: dataset.driver, name: source.name, layers: layers)
    }
  }

  /// Reads the features of one layer in file order.
  ///
  /// - Parameters:
  ///   - layer: nil for the first.
  ///   - isCancelled: called at every read of the file and every few features. Libkml is given the whole text at once
  ///     and cannot be interrupted: after a cancel it parses on for 40-80 ms per megabyte.
  ///   - progress: a rising fraction in 0...1; ends with 1 only when everything has been read.
  ///   - begin: called with the layer before its first feature.
  ///   - body: called with each feature.
  /// - Throws: also after `body` was called; the caller then discards those features: `readFailed`, `changedWhileRead`,
  ///   `cancelled`.
  /// - Complexity: O(n) in the file.
  @discardableResult
  public static func read(
    _ source: FeatureSource, layer: String? = nil, options: OpenOptions = OpenOptions(),
    policy: FilePolicy = FilePolicy(), isCancelled: @escaping @Sendable () -> Bool = { false },
    progress: @escaping (Double) -> Void = { _ in }, begin: (LayerDescription) -> Void = { _ in },
    body: (RawFeature) -> Void
  ) throws(FormatError) -> LayerDescription {
    try FeatureDataset.with(source, options, policy, isCancelled, for: .features, progress: progress) {
      (dataset) throws(FormatError) in
      let layer = try dataset.layer(named: layer)
      begin(layer.description)
      try dataset.readFeatures(of: layer, body)
      return layer.description
    }
  }
}
