// Values of sources, maps and overlays. Layers, scenes, views and location sources have their own files.

import FeatureStore
import Geometry

/// The schema of a source's layer.
public struct SourceLayer: Hashable, Sendable {
  public var name: Text
  /// The simple features type, such as `Point`, `MultiPolygon` or `Unknown`; nil for a table.
  public var geometryType: String? = nil
  /// The name of the geometry column; nil if the source has no name for it.
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
    changed(self) { ($0.geometryType, $0.geometryName, $0.extent) = (nil, nil, nil) }
  }
}

/// The origin of a source's data, sufficient to read it again.
public enum SourceOrigin: Sendable {
  case file(FileOrigin)
  case inline([UInt8], reference: SpatialReference? = nil)
  case columns(ColumnData)

  var isInline: Bool { if case .inline = self { true } else { false } }
}

/// Features that a client sent in columns: the only data of their source.
public struct ColumnData: Sendable {
  public private(set) var store: FeatureStore
  public let reference: SpatialReference
  /// The simple features type; nil for a table.
  public private(set) var geometryType: String?

  public init(fields: [Field], reference: SpatialReference) {
    store = FeatureStore(fields: fields)
    self.reference = reference
  }

  /// - Parameter columns: the names of attributes, and their types where they are known.
  public init(columns: [(name: String, type: FieldType?)], reference: SpatialReference) {
    store = FeatureStore(columns: columns)
    self.reference = reference
  }

  /// - Parameter type: the simple features type of the geometries; nil for a table.
  public init(_ store: FeatureStore, of type: String?, reference: SpatialReference) {
    (self.store, self.reference, geometryType) = (store, reference, type)
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

/// A file with the client's options for reading it.
public struct FileOrigin: Sendable {
  /// What is shown and saved: of an address without its secrets.
  public var path: String
  /// What is opened: the same, with the secrets.
  public var opened: String
  public var driver: String?
  /// The columns of the coordinates in a CSV file.
  public var xField: String?
  public var zField: String?
  public var yField: String?
  /// The encoding of texts, for formats that do not state it.
  public var encoding: String?
  public var reference: SpatialReference?
  /// Whether `reference` overrides the one that the file states.
  public var overrides = false

  public init(path: String, opened: String? = nil) { (self.path, self.opened) = (path, opened ?? path) }

  /// Whether coordinates are longitude and latitude if neither file nor client states a reference. True for CSV files with named
  /// coordinate columns, since the format cannot state one.
  public var isInDegrees: Bool { xField != nil }

  /// The reference of a layer for which the file states `stated`; nil if neither file nor client states one.
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
  /// Its number in the order of creation, which distinguishes it from a later source with the same id.
  public let number: Int
  public let driver: String
  public internal(set) var origin: SourceOrigin
  public internal(set) var layers: [SourceLayer]
  public var status = SourceStatus.open
  /// Parts of the file that were not read, or were changed on reading.
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
