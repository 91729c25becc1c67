// A layer or an overlay of a view snapshot, and its items.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import Sorting
import TextFormatting
import WireCoding

/// A layer or an overlay that a view draws.
package struct DrawnLayer: Sendable {
  /// The part of the view that a layer belongs to, bottom first.
  package enum Stratum: Hashable, Sendable { case base, operational, reference, overlay }

  package let object: ObjectReference
  /// Empty for an overlay without a name.
  package let name: String
  package let stratum: Stratum
  /// Opacity from 0 to 1, multiplied by the opacities of the groups that contain the layer.
  package let opacity: Double
  /// The reference of the items' geometries.
  package let reference: SpatialReference
  let symbolScale: Double
  package let selectionColor: Color?
  package internal(set) var store: FeatureStore
  /// The filters; nil for an overlay.
  package internal(set) var features: LayerFeatures?
  /// Which rows are drawn of those that the filters show; nil for all.
  var isDrawn: (@Sendable (FeatureRow) -> Bool)?
  var symbols: BoundSymbols
  var labels: BoundLabels
  package let portrayal: Portrayal
  /// For formatting texts.
  let conventions: TextConventions
  /// How clusters are drawn; nil without a feature reduction.
  package let clusterPortrayal: ClusterPortrayal?
  /// The points to be clustered, and their zoom; nil if points are drawn individually.
  var clustering: Result<Clustering, TransformError>?
  let clusterZoom: Int

  /// The clusters to be drawn in place of points; nil if points are drawn individually.
  ///
  /// - Parameter check: called every few milliseconds.
  /// - Throws: also if the layer's reference is not known to PROJ.
  package func clusters(checking check: CancellationCheck) throws -> DrawnClusters? {
    guard let clustering = try clustering?.get(), let clusterPortrayal else { return nil }
    return DrawnClusters(try clustering.features(checking: check), clusterPortrayal, zoom: clusterZoom)
  }

  /// Calls `body` with each item in drawing order: features that match the filters and have a geometry, by zIndex and then by
  /// insertion; then the clusters that replace points, by their lowest ids.
  ///
  /// - Parameter check: called every few milliseconds where points are clustered.
  /// - Complexity: O(features); O(n log n) if any feature has a zIndex.
  package func forEachItem(
    checking check: CancellationCheck = { _ in }, _ body: (DrawnItem) throws -> Void
  ) throws {
    let clusters = try clusters { try check(0.5 * $0) }
    let rows = store.rowsInDrawingOrder()
    for row in features?.shown(rows) ?? rows where clusters?.isSingle(row) ?? true {
      if let row = store[row], let item = item(of: row) { try body(item) }
    }
    try clusters?.forEachItem(selectionColor: selectionColor, checking: { try check(0.5 + 0.5 * $0) }, body)
  }

  /// Whether it may have labels at its scale.
  package var hasLabels: Bool { !labels.isEmpty || clustering != nil && clusterPortrayal?.hasLabels == true }

  /// The popups of rows; empty if popups are disabled.
  package func popups(of rows: [FeatureRow]) -> [SymbologyProtocol.Popup] {
    Portraying.popups(rows, portrayal, store.schema, name: name, by: conventions)
  }

  /// The layer with some of its features alone.
  package func showing(_ rows: Set<UInt32>) -> DrawnLayer {
    var layer = self
    layer.isDrawn = { rows.contains($0.row) }
    return layer
  }

  /// The item of a row; nil if nothing of it is drawn.
  package func item(of row: FeatureRow) -> DrawnItem? {
    guard row.isVisible, let geometry = row.geometry else { return nil }
    let symbol = symbols.symbol(of: row)?.evaluated(scale: symbolScale)
    let labels = labels.labels(of: row).map { $0.scaled(by: symbolScale) }
    guard symbol != nil || !labels.isEmpty else { return nil }
    return DrawnItem(
      id: row.id, geometry: geometry, symbol: symbol, labels: labels,
      selectionColor: row.isSelected ? selectionColor : nil)
  }
}

// MARK: - From a world

extension DrawnLayer {
  /// A loaded layer at a scale, alone: as an operational layer outside of groups.
  package init(
    _ layer: Layer, _ features: LayerFeatures, _ store: FeatureStore, at scale: Double, dpi: Double = 96,
    _ stratum: Stratum = .operational, opacity: Double = 1, in world: World
  ) {
    self.init(
      layer.reference, name: layer.name, stratum, opacity: opacity, layer.reference, layer.portrayal, store, features,
      layer.boundSymbols(store), scale: scale, dpi: dpi, symbolScale: world.symbolScale(of: layer, at: scale),
      in: world)
  }

  package init(_ overlay: Overlay, at scale: Double, dpi: Double = 96, in world: World) {
    self.init(
      overlay.reference, name: overlay.name ?? "", .overlay, opacity: overlay.appearance.opacity, overlay.reference,
      overlay.portrayal, overlay.store, nil, overlay.boundSymbols, scale: scale, dpi: dpi,
      symbolScale: world.symbolScale(of: overlay), in: world)
  }

  private init(
    _ object: ObjectReference, name: String, _ stratum: Stratum, opacity: Double, _ reference: SpatialReference,
    _ portrayal: Portrayal, _ store: FeatureStore, _ features: LayerFeatures?, _ symbols: BoundSymbols, scale: Double,
    dpi: Double, symbolScale: Double, in world: World
  ) {
    (self.object, self.name, self.stratum, self.opacity) = (object, name, stratum, opacity)
    (self.reference, self.portrayal, self.store, self.features) = (reference, portrayal, store, features)
    (self.symbols, self.symbolScale) = (symbols, symbolScale)
    let conventions = world.conventions(at: object)
    self.conventions = conventions
    selectionColor = world.selectionColor(of: object)
    labels = portrayal.boundLabels(scale: scale, schema: store.schema, by: conventions)
    let reduction = portrayal.featureReduction
    clusterPortrayal = reduction.map {
      ClusterPortrayal($0, of: store.schema, scale: scale, symbolScale: symbolScale, by: conventions)
    }
    if reduction?.isActive(at: scale) == true {
      clustering = Result { () throws(TransformError) in
        try Clustering(object, portrayal, store, features, reference, in: world)
      }
    } else {
      clustering = nil
    }
    clusterZoom = ClusterZoom.zoom(scale: scale, dpi: dpi)
  }
}

/// A feature or graphic that is drawn, or a cluster of several.
package struct DrawnItem: Sendable {
  /// The content of a cluster.
  package struct Cluster: Sendable {
    /// The id, which is the same as long as the cluster's points are.
    package let id: String
    /// The number of its points.
    package let count: Int
    package let selectedCount: Int
    /// The number of points, then the aggregate fields.
    package let attributes: [(name: String, value: AttributeValue)]
  }

  /// The id of the feature; for a cluster, the lowest id of its points.
  package let id: Int
  /// In the layer's reference.
  package let geometry: Geometry
  /// In its drawn size; nil if only labels are drawn.
  package let symbol: Symbol?
  /// In their drawn size.
  package let labels: [Label]
  /// Nil if the item is not selected; for a cluster, if none of its points is.
  package let selectionColor: Color?
  /// Nil for a feature or graphic.
  package var cluster: Cluster?
}

extension DrawnSymbol {
  /// The symbol in its drawn size; nil if the feature's own symbol cannot be read.
  ///
  /// - Parameter scale: factor by which it is enlarged.
  func evaluated(scale: Double) -> Symbol? {
    switch self {
    case .made(let symbol): symbol.scaled(by: scale)
    case .own(let text): Wire.storedSymbol(text.string).flatMap { try? Wire.symbol($0) }?.scaled(by: scale)
    }
  }
}
