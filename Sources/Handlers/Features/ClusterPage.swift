// Clusters in the form of results.

import Clusters
import Drawing
import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import Planning
import WireCoding

/// Clusters and single points in the form of results.
struct ClusterPage {
  /// Which parts of drawing and description are included.
  struct Content {
    var symbols = false
    var popups = false
  }

  private let features: ClusteredFeatures
  /// The layer or overlay; nil for points that belong to neither.
  private let layer: DrawnLayer?
  private let content: Content
  private let attributes: ClusterAttributes
  private let selected: [ClusterNode: Int]

  init(
    _ features: ClusteredFeatures, of layer: DrawnLayer?, _ content: Content = Content(), zoom: Int, _ share: WorkShare
  ) throws {
    (self.features, self.layer, self.content) = (features, layer, content)
    attributes = layer?.clusterPortrayal?.attributes ?? ClusterAttributes([], of: nil)
    selected = try features.selectedCounts(zoom: zoom) { _ in try share.work?.checkCancelled() }
  }

  func clusters(_ nodes: [ClusterNode], _ share: WorkShare) throws -> [ClusterProtocol.Cluster] {
    var result: [ClusterProtocol.Cluster] = []
    var texts = 0
    let slices = stride(from: 0, to: nodes.count, by: 256).map { nodes[$0..<min($0 + 256, nodes.count)] }
    for (slice, share) in zip(slices, share.split(by: slices.map(\.count))) {
      let clusters = slice.filter(\.isCluster)
      let rows = Dictionary(
        uniqueKeysWithValues: zip(clusters, try attributes.rows(of: clusters, in: features, checking: share.checkpoint))
      )
      for node in slice {
        // Labels and popups may take long to compute.
        try share.work?.checkCancelled()
        texts += rows[node].map(textBytes) ?? 0
        try share.checkSize(texts)
        let cluster = rows[node].map { self.cluster(node, $0) } ?? point(node)
        texts += cluster.textBytes
        try share.checkSize(texts)
        result.append(cluster)
      }
    }
    return result
  }

  /// Total size of the texts in a cluster's attributes.
  private func textBytes(of row: FeatureRow) -> Int {
    attributes.values(of: row).reduce(0) { bytes, attribute in
      switch attribute.value {
      case .string(let text), .json(let text): bytes + text.utf8.count
      case .null, .bool, .integer, .double: bytes
      }
    }
  }

  private func cluster(_ node: ClusterNode, _ row: FeatureRow) -> ClusterProtocol.Cluster {
    let tree = features.tree
    let id = features.clusterID(of: node)
    var cluster = ClusterProtocol.Cluster(
      cluster: id, id: row.id, geometry: Wire.opaque(.point(features.position(of: node))), count: tree.count(of: node),
      selectedCount: selected[node] ?? 0)
    cluster.expansionZoom = tree.expansionZoom(of: node)
    cluster.expansionScale = cluster.expansionZoom.map(ClusterZoom.scale)
    cluster.attributes = .made { $0.object(attributes.values(of: row)) }
    guard let portrayal = layer?.clusterPortrayal else { return cluster }
    let symbol = portrayal.symbol(of: row, among: tree.count)
    cluster.symbolSize = symbol?.size
    if content.symbols {
      cluster.symbol = symbol.map(Wire.symbol)
      cluster.labels = portrayal.labels(of: row).map { Wire.label($0, of: row.id, scale: 1) }
      if cluster.selectedCount > 0 { cluster.selectionColor = layer?.selectionColor?.text }
    }
    if content.popups { cluster.popup = portrayal.popup(of: row).map { Wire.popup($0, of: row.id, cluster: id) } }
    return cluster
  }

  private func point(_ node: ClusterNode) -> ClusterProtocol.Cluster {
    var point = ClusterProtocol.Cluster(
      id: features.tree.firstID(of: node), geometry: Wire.opaque(.point(features.position(of: node))), count: 1,
      selectedCount: selected[node] ?? 0)
    guard let layer, let row = features.store[features.tree.row(of: node)] else { return point }
    if content.symbols {
      let item = layer.item(of: row)
      point.symbol = item?.symbol.map(Wire.symbol)
      point.labels = item?.labels.map { Wire.label($0, of: row.id, scale: 1) } ?? []
      point.selectionColor = item?.selectionColor?.text
    }
    if content.popups { point.popup = layer.popups(of: [row]).first }
    return point
  }
}

extension ClusterProtocol.Cluster {
  /// Total size of the texts that expressions have made: labels and popup.
  fileprivate var textBytes: Int {
    let lines = popup?.lines.reduce(popup?.title.utf8.count ?? 0) { $0 + ($1.text?.utf8.count ?? 0) } ?? 0
    // Counted twice, since the symbol of a label contains its text, too.
    return (labels ?? []).reduce(lines) { $0 + 2 * $1.text.utf8.count }
  }
}
