// The clusters of a layer or an overlay: what they are of, and at which zoom.

import Drawing
import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Platform
import Query
import WireCoding

/// The zooms of clusters: at zoom 0 the world of Web Mercator has 512 device-independent pixels.
enum ClusterZoom {
  /// Metres per device-independent pixel at 96 dpi and scale 1.
  private static let pixel = 0.0254 / 96
  private static let world = ClusterPlane.width / ClusterSettings.tileSize

  /// The zoom at or below a scale's denominator.
  static func zoom(scale: Double, dpi: Double = 96) -> Int {
    let zoom = log2(world / (scale * 0.0254 / dpi))
    // A scale computed from a zoom is that zoom.
    return Int(min(max((zoom + 1e-9).rounded(.down), 0), Double(FeatureReduction.maxZoom + 1)))
  }

  static func scale(zoom: Int) -> Double { world / Double(1 << zoom) / pixel }
}

/// A snapshot of a layer or an overlay whose points are clustered.
struct Clustering: Sendable {
  let store: FeatureStore
  let reference: SpatialReference
  /// Nil where points are not clustered.
  let reduction: FeatureReduction?
  private let plane: ClusterPlane
  private let key: ClusterCache.Key
  private let cache: ClusterCache
  private let shown: ClusteredFeatures.Shown

  init(layer: String?, overlay: String?, in world: World) throws {
    let object: ObjectReference
    let portrayal: Portrayal
    let features: LayerFeatures?
    switch (layer, overlay) {
    case (let name?, nil):
      let layer = try world.layers.require(ID(name))
      features = try layer.requireFeatures()
      guard let loaded = features?.store else { throw ModelError.notLoaded(name) }
      (store, reference, portrayal, object) = (loaded, layer.reference, layer.portrayal, layer.reference)
    case (nil, let name?):
      let overlay = try world.overlays.require(ID(name))
      features = nil
      (store, reference, portrayal, object) = (overlay.store, overlay.reference, overlay.portrayal, overlay.reference)
    default: throw ModelError.oneOf(["layer", "overlay"])
    }
    reduction = portrayal.featureReduction
    plane = try Self.plane(reference, world)
    shown = { features?.shown($0) ?? $0 }
    cache = world.clusters
    key = ClusterCache.Key(
      object: "\(object.collection)/\(object.id)", settings: (reduction ?? FeatureReduction()).settings, plane: plane,
      filter: features.map(Self.filter) ?? "")
  }

  static func plane(_ reference: SpatialReference, _ world: World) throws -> ClusterPlane {
    if reference == .webMercator { return .mercator }
    if reference == .unknown { return .own(metersPerUnit: 1) }
    let info = try world.transformer.describe(reference)
    return info.kind == .geographic ? .degrees : .own(metersPerUnit: info.metersPerUnit ?? 1)
  }

  /// What decides which features are shown, as text.
  private static func filter(_ features: LayerFeatures) -> String {
    let time = features.isTimeFilterEnabled ? features.time : nil
    return "\(features.definitionExpression?.text ?? "")\u{0}\(String(describing: time))"
  }

  func features(_ share: WorkShare) throws -> ClusteredFeatures {
    try cache.features(key, of: store, shown: shown, checking: share.checkpoint)
  }

  /// The clusters that a view draws; nil where it draws the points themselves.
  func drawn(in view: View, _ share: WorkShare) throws -> DrawnClusters? {
    guard let reduction, reduction.isActive(at: view.camera.scale) else { return nil }
    return DrawnClusters(
      try features(share), reduction, zoom: zoom(scale: view.camera.scale, dpi: view.screen.dpi))
  }

  /// The zoom at which points are shown at a scale.
  func zoom(scale: Double, dpi: Double = 96) -> Int {
    let zoom = ClusterZoom.zoom(scale: scale, dpi: dpi)
    return reduction?.isActive(at: scale) == true ? zoom : FeatureReduction.maxZoom + 1
  }

  /// A zoom as it is given.
  func zoom(_ zoom: Int) -> Int {
    reduction?.isActive(at: ClusterZoom.scale(zoom: zoom)) == true ? zoom : FeatureReduction.maxZoom + 1
  }
}

extension Area {
  /// The box around what a view shows.
  init?(showing view: View, for store: FeatureStore, in features: SpatialReference, _ world: World) throws {
    let box = Geometry.multiPoint(view.visibleArea).envelope.map(Wire.envelope)
    try self.init(box, view.reference.reference.definition, for: store, in: features, world)
  }
}

extension ClusteredFeatures {
  /// The id of a cluster; nil for a single point.
  func clusterID(of node: ClusterNode) -> String? {
    guard node.isCluster else { return nil }
    let digits = String(tree.hash(of: node), radix: 16)
    return "\(tree.firstID(of: node))-" + String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The cluster of an id; nil if there is none.
  func cluster(_ id: String) -> ClusterNode? {
    let parts = id.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let first = Int(parts[0]), let hash = UInt64(parts[1], radix: 16),
      let row = store.row(of: first), let leaf = leaf(ofRow: row), let node = tree.cluster(around: leaf, hash: hash),
      clusterID(of: node) == id
    else { return nil }
    return node
  }
}
