// The clusters of a layer or an overlay, by its settings and filters, and the zoom of a scale.

import Clusters
import Expressions
import FeatureStore
import GeoModel
import Geometry
import Platform
import Sorting

/// Zooms of clusters: at zoom 0 the world of Web Mercator is 512 device-independent pixels wide.
package enum ClusterZoom {
  /// Metres per device-independent pixel at 96 dpi and scale 1.
  private static let pixel = 0.0254 / 96
  private static let world = ClusterPlane.width / ClusterSettings.tileSize

  /// The zoom for a scale's denominator, rounded down.
  static func zoom(scale: Double, dpi: Double = 96) -> Int {
    let zoom = log2(world / (scale * 0.0254 / dpi))
    // The offset makes a scale computed from a zoom return that zoom despite rounding.
    return Int(min(max((zoom + 1e-9).rounded(.down), 0), Double(FeatureReduction.maxZoom + 1)))
  }

  package static func scale(zoom: Int) -> Double { world / Double(1 << zoom) / pixel }
}

/// A snapshot of a layer or an overlay whose points are clustered.
package struct Clustering: Sendable {
  package let store: FeatureStore
  package let reference: SpatialReference
  /// Nil if points are not clustered.
  package let reduction: FeatureReduction?
  private let plane: ClusterPlane
  private let key: ClusterCache.Key
  private let cache: ClusterCache
  private let shown: ClusteredFeatures.Shown

  package init(layer: String?, overlay: String?, in world: borrowing World) throws {
    switch (layer, overlay) {
    case (let name?, nil):
      let layer = world.live(try world.layers.require(ID(name)))
      let features = try layer.requireFeatures()
      guard let store = features.store else { throw ModelError.notLoaded(name) }
      try self.init(layer.reference, layer.portrayal, store, features, layer.reference, in: world)
    case (nil, let name?):
      let overlay = try world.overlays.require(ID(name))
      try self.init(overlay.reference, overlay.portrayal, overlay.store, nil, overlay.reference, in: world)
    default: throw ModelError.oneOf(["layer", "overlay"])
    }
  }

  /// - Parameter features: the filters; nil for an overlay.
  init(
    _ object: ObjectReference, _ portrayal: Portrayal, _ store: FeatureStore, _ features: LayerFeatures?,
    _ reference: SpatialReference, in world: borrowing World
  ) throws(TransformError) {
    (self.store, self.reference, reduction) = (store, reference, portrayal.featureReduction)
    plane = try Self.plane(reference, world)
    shown = { features?.shown($0) ?? $0 }
    cache = world.clusters
    key = ClusterCache.Key(
      object: ModelPath(object).description, settings: (reduction ?? FeatureReduction()).settings, plane: plane,
      filter: features.map(Self.filter) ?? "")
  }

  package static func plane(_ reference: SpatialReference, _ world: World) throws(TransformError) -> ClusterPlane {
    if reference == .webMercator { return .mercator }
    if reference == .unknown { return .own(metersPerUnit: 1) }
    let info = try world.transformer.describe(reference)
    return info.isInDegrees
      ? .degrees : .own(metersPerUnit: info.metersPerUnit ?? (info.kind == .geographic ? metersPerDegree * 360 / info.turn : 1))
  }

  /// The settings that determine which features are shown, as text.
  private static func filter(_ features: LayerFeatures) -> String {
    let time = features.isTimeFilterEnabled ? features.time : nil
    return "\(features.definitionExpression?.text ?? "")\u{0}\(String(describing: time))"
  }

  /// The clusters if they are cached and up to date.
  package var current: ClusteredFeatures? { cache.current(key, of: store) }

  /// The clusters; cached ones are brought up to date.
  package func features(checking check: CancellationCheck) throws -> ClusteredFeatures {
    try cache.features(key, of: store, shown: shown, checking: check)
  }

  /// The zoom at which points are shown at a scale.
  package func zoom(scale: Double, dpi: Double = 96) -> Int {
    let zoom = ClusterZoom.zoom(scale: scale, dpi: dpi)
    return reduction?.isActive(at: scale) == true ? zoom : FeatureReduction.maxZoom + 1
  }

  /// The zoom at which clusters are computed for a given zoom; beyond the last one if clustering is not active there.
  package func zoom(_ zoom: Int) -> Int {
    reduction?.isActive(at: ClusterZoom.scale(zoom: zoom)) == true ? zoom : FeatureReduction.maxZoom + 1
  }
}
