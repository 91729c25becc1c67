// The job of a writer: a format and a layer. The features follow in blocks.

import JSON

/// A format that GDAL writes, by the name of its driver.
public enum WriteDriver: String, Hashable, Sendable, CaseIterable {
  case geoPackage = "GPKG"
  case flatGeobuf = "FlatGeobuf"
  /// Few builds of GDAL have it.
  case parquet = "Parquet"

  /// The extension that GDAL expects.
  public var fileExtension: String {
    switch self {
    case .geoPackage: "gpkg"
    case .flatGeobuf: "fgb"
    case .parquet: "parquet"
    }
  }
}

public struct WriteJob: Hashable, Sendable {
  public var driver: WriteDriver
  /// The layer to write; its fields are the columns of the blocks, in order.
  public var layer: LayerDescription
  public var hasZ: Bool
  public var hasM: Bool
  /// Whether the file gets a spatial index.
  public var isIndexed: Bool

  public init(
    driver: WriteDriver, layer: LayerDescription, hasZ: Bool, hasM: Bool, isIndexed: Bool
  ) {
    self.driver = driver
    self.layer = layer
    self.hasZ = hasZ
    self.hasM = hasM
    self.isIndexed = isIndexed
  }

  func encode(to writer: inout JSONWriter) {
    writer.member("driver", driver.rawValue)
    writer.key("layer")
    layer.encode(to: &writer)
    writer.member("hasZ", hasZ)
    writer.member("hasM", hasM)
    writer.member("isIndexed", isIndexed)
  }

  init(from json: JSONValue) throws(JSONError) {
    self.init(
      driver: try json["driver"].word(), layer: try LayerDescription(from: json["layer"]),
      hasZ: try json["hasZ"].bool(),
      hasM: try json["hasM"].bool(),
      isIndexed: try json["isIndexed"].bool())
  }
}
