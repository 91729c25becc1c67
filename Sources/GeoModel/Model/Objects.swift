// The objects of the model and their own values: sources, maps, overlays. Layers, scenes, views and what moves have files of their own.

import Geometry
import Query

/// A layer of a source, as its schema tells.
public struct SourceLayer: Hashable, Sendable {
  public var name: Text
  /// As in simple features: `Point`, `MultiPolygon`, `Unknown`; nil for a table.
  public var geometryType: String? = nil
  public var featureCount: Int?
  public var extent: Envelope?
  public var reference: SpatialReference?
  public var fields: [Field]

  public init(
    name: String, geometryType: String?, featureCount: Int?, extent: Envelope?, reference: SpatialReference?,
    fields: [Field]
  ) {
    self.name = Text(name)
    self.geometryType = geometryType
    self.featureCount = featureCount
    self.extent = extent
    self.reference = reference
    self.fields = fields
  }

  /// The same without geometry.
  var asTable: SourceLayer {
    var result = self
    (result.geometryType, result.extent) = (nil, nil)
    return result
  }
}

/// Where a source's data is: enough to read it again.
public enum SourceOrigin: Sendable {
  /// `reference` is the one given, for files that do not say.
  case file(path: String, driver: String?, xField: String?, yField: String?, reference: SpatialReference? = nil)
  case inline([UInt8], reference: SpatialReference? = nil)
}

/// Whether a source's schema could be read.
public enum SourceStatus: Hashable, Sendable {
  case open
  /// When its document was opened; its layers are as they were when that was saved.
  case failed(Failure)
}

/// Data that layers are made of.
public struct Source: Sendable {
  public let id: SourceID
  public var revision = 0
  public let driver: String
  public let origin: SourceOrigin
  public let layers: [SourceLayer]
  public var status = SourceStatus.open

  public var path: String? {
    if case .file(let path, _, _, _, _) = origin { path } else { nil }
  }
}

/// Layers in drawing order, in one spatial reference.
public struct Map: Sendable {
  public let id: MapID
  public var revision = 0
  public let reference: SpatialReferenceInfo
  public internal(set) var content: MapContent
}

/// Whether a layer's features are here.
public enum LoadStatus: Hashable, Sendable {
  case notLoaded
  case loading
  case loaded
  case failed(Failure)
}

/// What layers and overlays have in common: how they are drawn.
public struct Appearance: Hashable, Sendable {
  public var isVisible = true
  /// 0 clear, 1 solid.
  public var opacity = 1.0
  /// Not drawn when zoomed out beyond this denominator.
  public var minScale: Double?
  /// Not drawn when zoomed in beyond this denominator.
  public var maxScale: Double?

  func checkScaleRange() throws(ModelError) {
    if let far = minScale, let near = maxScale, far <= near { throw .invalidScaleRange }
  }

  /// Whether a scale is one to draw at, both ends included.
  public func shows(at scale: Double) -> Bool { scale <= minScale ?? .infinity && scale >= maxScale ?? 0 }
}

/// Graphics that a client owns, over a view.
public struct Overlay: Sendable {
  public let id: OverlayID
  public var revision = 0
  public let view: ViewID
  public let reference: SpatialReference
  public internal(set) var name: String?
  public internal(set) var appearance = Appearance()
  public internal(set) var portrayal = Portrayal()
  /// Of what is selected; the environment's when nil.
  public internal(set) var selectionColor: Color?
  public internal(set) var renderingMode = RenderingMode.dynamic
  public internal(set) var store = FeatureStore()
  public internal(set) var selectedCount = 0
}

/// When whoever draws an overlay draws it anew.
public enum RenderingMode: String, Hashable, Sendable {
  /// With every frame: for graphics that move.
  case dynamic
  /// When navigation has ended: for many that stay.
  case `static`
}
