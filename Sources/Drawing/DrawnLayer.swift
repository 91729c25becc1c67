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
  /// 0 clear, 1 solid; the opacities of groups around it multiplied in.
  package let opacity: Double
  /// The reference of the items' geometries.
  package let reference: SpatialReference
  let symbolScale: Double
  package let selectionColor: Color?
  package let store: FeatureStore
  /// The filters; nil for an overlay.
  package let features: LayerFeatures?
  let symbols: BoundSymbols
  let labels: BoundLabels
  package let portrayal: Portrayal
  /// For formatting.
  let conventions: TextConventions
  /// How clusters are drawn; nil without a feature reduction.
  package let clusterPortrayal: ClusterPortrayal?
  /// The points that are clustered and their zoom; nil where they are drawn themselves.
  let clustering: Result<Clustering, TransformError>?
  let clusterZoom: Int

  /// The clusters that are drawn in place of points; nil where points are drawn themselves.
  ///
  /// - Parameter check: called every few milliseconds.
  /// - Throws: also if the layer's reference is not known to PROJ.
  package func clusters(checking check: CancellationCheck) throws -> DrawnClusters? {
    guard let clustering = try clustering?.get(), let clusterPortrayal else { return nil }
    return DrawnClusters(try clustering.features(checking: check), clusterPortrayal, zoom: clusterZoom)
  }

  /// Calls `body` with each item, first drawn first: those that match the filters and have a geometry, by zIndex, then by insertion;
  /// then clusters in place of the points in them, by their lowest ids.
  ///
  /// - Parameter check: called every few milliseconds where points are clustered.
  /// - Complexity: O(features), O(n log n) where any has a zIndex.
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

  /// The popups of rows; none where popups are disabled.
  package func popups(of rows: [FeatureRow]) -> [SymbologyProtocol.Popup] {
    Portraying.popups(rows, portrayal, store.schema, name: name, by: conventions)
  }

  /// A row's item; nil where nothing is drawn of it.
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

// MARK: - Of a world

extension DrawnLayer {
  /// A loaded layer at a scale, by itself: as an operational layer without groups around it.
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
  /// What a cluster is of.
  package struct Cluster: Sendable {
    /// The same as long as its points are.
    package let id: String
    /// The number of its points.
    package let count: Int
    package let selectedCount: Int
    /// The number of points, then the aggregate fields.
    package let attributes: [(name: String, value: AttributeValue)]
  }

  /// Of a cluster, the lowest of its points.
  package let id: Int
  /// In its layer's reference.
  package let geometry: Geometry
  /// As large as it is drawn; nil where only labels are.
  package let symbol: Symbol?
  /// As large as they are drawn.
  package let labels: [Label]
  /// Nil where the item is not selected; of a cluster, where no point in it is.
  package let selectionColor: Color?
  /// Nil for a feature or graphic.
  package var cluster: Cluster?
}

extension DrawnSymbol {
  /// The symbol as large as it is drawn; nil where a symbol of its own cannot be read.
  ///
  /// - Parameter scale: by how much it grows.
  func evaluated(scale: Double) -> Symbol? {
    switch self {
    case .made(let symbol): symbol.scaled(by: scale)
    case .own(let text): Wire.storedSymbol(text.string).flatMap { try? Wire.symbol($0) }?.scaled(by: scale)
    }
  }
}
