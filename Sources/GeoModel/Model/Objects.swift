// Values of sources, maps and overlays. Layers, scenes, views and location sources have their own files.

import FeatureStore
import Geometry

/// The schema of a source's layer.
public struct SourceLayer: Hashable, Sendable {
  public var name: Text
  /// The simple features type: `Point`, `MultiPolygon`, `Unknown`; nil for a table.
  public var geometryType: String? = nil
  /// The name of the geometry; nil where the source has none for it.
  public var geometryName: Text?
  public var featureCount: Int?
  public var extent: Envelope?
  public var reference: SpatialReference?
  public var fields: [Field]

  public init(
    name: String, geometryType: String?, featureCount: Int?, extent: Envelope?, reference: SpatialReference?,
    fields: [Field], geometryName: String? = nil
  ) {
    self.name = Text(name)
    self.geometryName = Text(geometryName)
    self.geometryType = geometryType
    self.featureCount = featureCount
    self.extent = extent
    self.reference = reference
    self.fields = fields
  }

  /// The schema without geometry.
  var asTable: SourceLayer {
    var result = self
    (result.geometryType, result.geometryName, result.extent) = (nil, nil, nil)
    return result
  }
}

/// The origin of a source's data, sufficient to read it again.
public enum SourceOrigin: Sendable {
  case file(FileOrigin)
  case inline([UInt8], reference: SpatialReference? = nil)
  case columns(ColumnData)
}

/// Features that a client sent in columns: all that there is of their source.
public struct ColumnData: Sendable {
  public private(set) var store: FeatureStore
  public let reference: SpatialReference
  /// The simple features type; nil for a table.
  public private(set) var geometryType: String?

  public init(fields: [Field], reference: SpatialReference) {
    store = FeatureStore(fields: fields)
    self.reference = reference
  }

  /// - Parameter type: the simple features type of the batch; nil without geometries.
  @discardableResult
  public mutating func append(_ batch: FeatureBatch, of type: String?) throws(StoreFailure) -> AddedFeatures {
    let added = try store.append(batch)
    geometryType = geometryType == nil || type == nil || geometryType == type ? geometryType ?? type : "Unknown"
    return added
  }

  public var layer: SourceLayer {
    SourceLayer(
      name: "inline", geometryType: geometryType, featureCount: store.count, extent: store.extent, reference: reference,
      fields: store.fields)
  }
}

/// A file with what a client says of it.
public struct FileOrigin: Sendable {
  public let path: String
  public var driver: String?
  /// The columns of a CSV file's coordinates.
  public var xField: String?
  public var yField: String?
  /// The encoding of its texts, where the format does not say it.
  public var encoding: String?
  public var reference: SpatialReference?
  /// Whether `reference` holds even if the file states another.
  public var overrides = false

  public init(path: String) { self.path = path }

  /// Whether coordinates are longitude and latitude where nobody says more: a CSV file cannot say it, and its columns
  /// have been named.
  public var isInDegrees: Bool { xField != nil }

  /// The reference of a layer for which the file states `stated`; nil if nobody says one.
  public func reference(stated: SpatialReference?) -> SpatialReference? {
    overrides ? reference ?? stated : stated ?? reference
  }
}

/// Whether a source's schema could be read.
public enum SourceStatus: Hashable, Sendable {
  case open
  /// The source failed to open with its document; its layers have the schema from when the document was saved.
  case failed(Failure)
}

/// Data from which layers are made.
public struct Source: Sendable {
  public let id: SourceID
  public var revision = 0
  /// Its place in the order of creation, by which it differs from a later source of the same id.
  public let number: Int
  public let driver: String
  public internal(set) var origin: SourceOrigin
  public internal(set) var layers: [SourceLayer]
  public var status = SourceStatus.open
  /// What was not read, or not as it stands in the file.
  public var warnings: [String] = []

  public var path: String? {
    if case .file(let file) = origin { file.path } else { nil }
  }
}

/// A map: layers in drawing order, in one spatial reference.
public struct Map: Sendable {
  public let id: MapID
  public var revision = 0
  public let reference: SpatialReferenceInfo
  public internal(set) var content: MapContent
}

/// How far a layer's features are loaded.
public enum LoadStatus: Hashable, Sendable {
  case notLoaded
  case loading
  case loaded
  case failed(Failure)
}

/// How layers and overlays are drawn.
public struct Appearance: Hashable, Sendable {
  public var isVisible = true
  /// 0 is transparent, 1 opaque.
  public var opacity = 1.0
  /// Not drawn when zoomed out beyond this scale denominator.
  public var minScale: Double?
  /// Not drawn when zoomed in beyond this scale denominator.
  public var maxScale: Double?

  func checkScaleRange() throws(ModelError) {
    if let far = minScale, let near = maxScale, far <= near { throw .invalidScaleRange }
  }

  /// Whether a scale denominator is within the range, both ends included.
  public func shows(at scale: Double) -> Bool { scale <= minScale ?? .infinity && scale >= maxScale ?? 0 }
}

/// Graphics of a client, drawn over a view.
public struct Overlay: Sendable {
  public let id: OverlayID
  public var revision = 0
  public let view: ViewID
  public let reference: SpatialReference
  /// Whether y is a latitude in degrees.
  let isInDegrees: Bool
  public internal(set) var name: String?
  public internal(set) var appearance = Appearance()
  public internal(set) var portrayal = Portrayal()
  /// The color of selected graphics; nil for the environment's.
  public internal(set) var selectionColor: Color?
  public internal(set) var renderingMode = RenderingMode.dynamic
  public internal(set) var store = FeatureStore()
  public internal(set) var selectedCount = 0
}

/// When a renderer redraws an overlay.
public enum RenderingMode: String, Hashable, Sendable {
  /// With every frame, for moving graphics.
  case dynamic
  /// After navigation, for many static graphics.
  case `static`
}
