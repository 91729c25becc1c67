// The objects of the model and their own values: sources, maps, layers, scenes. Views and what moves have files of their own.

import Geometry
import Query

/// A layer of a source, as its schema tells.
public struct SourceLayer: Hashable, Sendable {
  public var name: String
  /// As in simple features: `Point`, `MultiPolygon`, `Unknown`; nil for a table.
  public var geometryType: String?
  public var featureCount: Int?
  public var extent: Envelope?
  public var reference: SpatialReference?
  public var fields: [Field]

  public init(
    name: String, geometryType: String?, featureCount: Int?, extent: Envelope?, reference: SpatialReference?,
    fields: [Field]
  ) {
    self.name = name
    self.geometryType = geometryType
    self.featureCount = featureCount
    self.extent = extent
    self.reference = reference
    self.fields = fields
  }
}

/// Where a source's data is: enough to read it again.
public enum SourceOrigin: Hashable, Sendable {
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
  public internal(set) var title: String?
  public let reference: SpatialReferenceInfo
  /// First drawn first.
  public internal(set) var operationalLayers: [LayerID] = []
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
}

/// Changes to an appearance and a name; nil leaves alone.
public struct AppearanceUpdate: Sendable {
  public var name: String?
  public var isVisible: Bool?
  public var opacity: Double?
  public var minScale: Double?
  public var maxScale: Double?
  public var clear: [String]

  public init(
    name: String? = nil, isVisible: Bool? = nil, opacity: Double? = nil, minScale: Double? = nil,
    maxScale: Double? = nil, clear: [String] = []
  ) {
    self.name = name
    self.isVisible = isVisible
    self.opacity = opacity
    self.minScale = minScale
    self.maxScale = maxScale
    self.clear = clear
  }
}

/// A feature layer over a layer of a source.
public struct Layer: Sendable {
  public let id: LayerID
  public var revision = 0
  public let map: MapID
  public let source: SourceID
  /// As the source's schema tells.
  public let schema: SourceLayer
  /// Where its features are read from; the source may be closed by then.
  public let origin: SourceOrigin
  public internal(set) var name: String
  public internal(set) var appearance = Appearance()
  public internal(set) var portrayal = Portrayal()
  public internal(set) var loadStatus = LoadStatus.notLoaded
  /// The features, once loaded.
  public internal(set) var store: FeatureStore?

  /// That of the features; WGS 84 where the source does not say.
  public var reference: SpatialReference { schema.reference ?? .wgs84 }
  public var featureCount: Int? { store?.count ?? schema.featureCount }
  public var extent: Envelope? { store.map { $0.extent } ?? schema.extent }
}

/// A raster of heights, whoever reads it.
public protocol ElevationSource: Sendable {
  var path: String { get }
  var reference: SpatialReference { get }
  /// What it covers, in its reference.
  var extent: Envelope { get }
  /// Side of a cell, in the units of its reference.
  var resolution: Double { get }

  /// The heights at positions given in the source's reference, in order.
  ///
  /// - Parameter isCancelled: asked at least every 10 ms; once true, the answer does not matter.
  func sample(
    _ points: [Point], interpolation: Interpolation, isCancelled: @Sendable () -> Bool
  ) throws -> [HeightSample]
}

/// How a height between cell centres is found.
public enum Interpolation: Hashable, Sendable { case bilinear, nearest }

/// What one elevation source says of one point. Metres; 0 is a height.
public enum HeightSample: Hashable, Sendable {
  case value(Double)
  case noData
  case outside
}

/// What a surface says of one point.
public enum Elevation: Hashable, Sendable {
  /// `source` is the place of the source that answered, 0 first.
  case value(Double, source: Int, resolution: Double)
  case noData
  case outside
}

/// A base surface made of ordered elevation sources.
public struct Scene: Sendable {
  public let id: SceneID
  public var revision = 0
  public let title: String?
  /// First match first.
  public let elevationSources: [any ElevationSource]

  /// The heights at points in `reference`: the first source that covers a point answers for it.
  ///
  /// - Complexity: one call of each source for all points that no earlier one covers.
  public func elevations(
    at points: [Point], reference: SpatialReference, interpolation: Interpolation,
    transformer: any CoordinateTransformer, isCancelled: @escaping @Sendable () -> Bool
  ) throws -> [Elevation] {
    var result = [Elevation](repeating: .outside, count: points.count)
    var open = Array(points.indices)
    for (place, source) in elevationSources.enumerated() where !open.isEmpty {
      var moved = Positions(open.map { Point(x: points[$0].x, y: points[$0].y) })
      if source.reference != reference {
        try moved.withMutableValues { (buffer) throws(TransformError) in
          try transformer.transform(buffer, stride: 2, hasZ: false, from: reference, to: source.reference)
        }
      }
      let samples = try source.sample(moved.points, interpolation: interpolation, isCancelled: isCancelled)
      var uncovered: [Int] = []
      for (index, sample) in zip(open, samples) {
        switch sample {
        case .value(let height): result[index] = .value(height, source: place, resolution: source.resolution)
        case .noData: result[index] = .noData
        case .outside: uncovered.append(index)
        }
      }
      open = uncovered
    }
    return result
  }
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
  public internal(set) var store = FeatureStore()
  public internal(set) var selectedCount = 0
}
