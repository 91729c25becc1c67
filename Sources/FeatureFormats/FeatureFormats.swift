// What the rest of the server knows of vector files: their formats, what is in them, and why one was not read.

import Files
import Geometry

/// A format that can be read, by the name of its GDAL driver.
public enum FeatureDriver: String, Hashable, Sendable, CaseIterable {
  case geoJSON = "GeoJSON"
  case geoPackage = "GPKG"
  case shapefile = "ESRI Shapefile"
  case csv = "CSV"
  case gpx = "GPX"
  case kml = "KML"
  case flatGeobuf = "FlatGeobuf"
}

/// Where features come from.
public enum FeatureSource: Hashable, Sendable {
  /// An absolute path.
  case file(String)
  /// A GeoJSON document's text as UTF-8. Reading it can reach no file.
  case geoJSON([UInt8])

  /// As errors name it.
  public var name: String {
    switch self {
    case .file(let path): path
    case .geoJSON: "inline GeoJSON"
    }
  }
}

/// How a source is opened where its content does not say.
public struct OpenOptions: Hashable, Sendable {
  /// The fields of a CSV file that make its points.
  public struct PointFields: Hashable, Sendable {
    public let x: String
    public let y: String
    public init(x: String, y: String) {
      self.x = x
      self.y = y
    }
  }

  /// Nil tells it from the content and the name.
  public var driver: FeatureDriver?
  /// Nil leaves CSV rows without geometry.
  public var points: PointFields?

  public init(driver: FeatureDriver? = nil, points: PointFields? = nil) {
    self.driver = driver
    self.points = points
  }
}

/// What is in a source.
public struct SourceDescription: Hashable, Sendable {
  public let driver: FeatureDriver
  public let name: String
  public let layers: [LayerDescription]
}

public struct LayerDescription: Hashable, Sendable {
  public let name: String
  /// "Point", "MultiPolygon", "Unknown" when it differs from feature to feature; nil for a table without geometry.
  public let geometryType: String?
  /// In the order of ``RawFeature/attributes``.
  public let fields: [Field]
  /// Nil when only reading would tell.
  public let featureCount: Int?
  /// In the units of the spatial reference; nil when only reading would tell, or when there is nothing.
  public let extent: Envelope?
  /// An authority code where one is known, else WKT; nil when the source names none.
  public let spatialReference: SpatialReference?
  /// The column that holds feature ids, where the format has one.
  public let fidColumn: String?
}

/// A feature as its file holds it.
public struct RawFeature: Hashable, Sendable {
  /// The format's own id; nil when it has none.
  public let fid: Int64?
  public let geometry: Geometry?
  /// One value a field, in the order of ``LayerDescription/fields``.
  public let attributes: [AttributeValue]
}

/// Why a source was not described or read.
public enum FormatError: Error, Hashable, Sendable {
  case notFound(path: String)
  case isDirectory(path: String)
  /// The ``FilePolicy`` says no.
  case refused(path: String, reason: String)
  case notReadable(path: String, reason: String)
  /// None of the formats.
  case unrecognized(path: String)
  case openFailed(driver: FeatureDriver, path: String, reason: String)
  case readFailed(driver: FeatureDriver, path: String, layer: String, reason: String)
  /// The file was written while it was read: what was read may be no state it ever had.
  case changedWhileRead(path: String)
  case noSuchLayer(String, available: [String])
  case missingField(String, available: [String])
  case cancelled
  /// GDAL, or its driver, is not on this machine.
  case unavailable(reason: String)
}

/// Reads vector files by GDAL. Calls share nothing and may run on any thread; each blocks its own until it is done.
public enum FeatureFormats {
  /// What is in a source.
  ///
  /// - Parameters:
  ///   - isCancelled: Asked at every read of the file.
  ///   - progress: A rising fraction in 0...1, by bytes read of a text format; 1 is told last.
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

  /// Reads the features of one layer in the file's order.
  ///
  /// - Parameters:
  ///   - layer: Nil is the first.
  ///   - isCancelled: Asked at every read of the file and every few features. Libkml alone is given the
  ///     whole text at once and has no way to be stopped: its parse goes on behind a cancel for some 40-80 ms a megabyte.
  ///   - progress: A rising fraction in 0...1; 1 is told last, and only when all was read.
  ///   - begin: Told the layer before its first feature.
  ///   - body: Told each feature.
  /// - Throws: Also after features were told, which then are to be forgotten: `readFailed`, `changedWhileRead`,
  ///   `cancelled`.
  /// - Complexity: linear in the file.
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
