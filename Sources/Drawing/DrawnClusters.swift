// The clusters that a view draws in place of the points of a layer or an overlay, and those near a screen point.

import Clusters
import FeatureStore
import GeoModel
import Geometry
import Sorting

/// The clusters that a view draws. Points in no cluster, and other geometries, are drawn as features.
package struct DrawnClusters: Sendable {
  package let features: ClusteredFeatures
  package let portrayal: ClusterPortrayal
  /// The zoom for the view's scale.
  package let zoom: Int

  package init(_ features: ClusteredFeatures, _ portrayal: ClusterPortrayal, zoom: Int) {
    (self.features, self.portrayal, self.zoom) = (features, portrayal, zoom)
  }

  /// Whether a row is drawn by itself, not as part of a cluster.
  func isSingle(_ row: UInt32) -> Bool { features.node(ofRow: row, zoom: zoom)?.isCluster != true }

  // MARK: Items

  /// Calls `body` with each cluster, first drawn first: by ascending lowest id.
  ///
  /// - Parameter boxes: in the features' reference, where the clusters lie; nil for all.
  /// - Complexity: O(clusters log clusters); with statistics O(points).
  func forEachItem(
    in boxes: [Envelope]? = nil, selectionColor: Color?, checking check: CancellationCheck, _ body: (DrawnItem) throws -> Void
  ) throws {
    let nodes = try features.nodes(in: boxes, zoom: zoom) { try check(0.2 * $0) }.filter(\.isCluster)
    let selected = try features.selectedCounts(zoom: zoom) { try check(0.2 + 0.2 * $0) }
    for start in stride(from: 0, to: nodes.count, by: 256) {
      let slice = Array(nodes[start..<min(start + 256, nodes.count)])
      let rows = try portrayal.attributes.rows(of: slice, in: features) {
        try check(0.4 + 0.6 * (Double(start) + $0 * Double(slice.count)) / Double(nodes.count))
      }
      for (node, row) in zip(slice, rows) {
        if let item = item(of: node, row, selected[node] ?? 0, selectionColor) { try body(item) }
      }
    }
  }

  private func item(
    of node: ClusterNode, _ row: FeatureRow, _ selected: Int, _ selectionColor: Color?
  ) -> DrawnItem? {
    guard let geometry = row.geometry, let id = features.clusterID(of: node) else { return nil }
    let symbol = portrayal.symbol(of: row, among: features.tree.count)
    let labels = portrayal.labels(of: row)
    guard symbol != nil || !labels.isEmpty else { return nil }
    let cluster = DrawnItem.Cluster(
      id: id, count: features.tree.count(of: node), selectedCount: selected,
      attributes: portrayal.attributes.values(of: row))
    return DrawnItem(
      id: row.id, geometry: geometry, symbol: symbol, labels: labels,
      selectionColor: selected > 0 ? selectionColor : nil, cluster: cluster)
  }

  // MARK: Hits

  /// The clusters whose symbol is within a circle, in reverse drawing order.
  ///
  /// - Complexity: O(log n + nodes near the circle); where the renderer reads statistics, O(points of these).
  func hits(
    of layer: DrawnLayer, in circle: ScreenCircle, of view: View, _ transformer: any CoordinateTransformer, _ meter: TextMeter?,
    checking check: CancellationCheck
  ) throws -> [ClusterHit] {
    guard let extent = features.store.extent else { return [] }
    let area = try HitArea(circle, portrayal.reach, layer, view, transformer)
    let boxes = area.boxes(within: features.plane.positions(of: extent), transformer)
    let nodes = try features.nodes(in: boxes, zoom: zoom) { try check(0.3 * $0) }.filter(\.isCluster)
    let near = try nodes.enumerated().filter { index, node in
      if index & 63 == 0 { try check(0.3 + 0.3 * Double(index) / Double(nodes.count)) }
      return try area.place(of: features.position(of: node)).map { area.isNear($0) } ?? false
    }.map(\.element)
    let rows = try portrayal.attributes.rows(of: near, in: features, withStatistics: portrayal.needsStatistics) {
      try check(0.6 + 0.4 * $0)
    }
    var meter = meter
    try meter?.learn(rows.lazy.flatMap { portrayal.symbol(of: $0, among: features.tree.count)?.texts ?? [] })
    return try zip(near, rows).reversed().compactMap { node, row in
      let distance = try distance(of: row, area, meter)
      guard distance <= circle.radius + HitArea.rounding else { return nil }
      return ClusterHit(node: node, distance: distance <= HitArea.rounding ? 0 : distance)
    }
  }

  private func distance(of cluster: FeatureRow, _ area: HitArea, _ meter: TextMeter?) throws(TransformError) -> Double {
    guard let position = cluster.position, let place = try area.place(of: position) else { return .infinity }
    return area.distance(at: place, meter) { portrayal.symbol(of: cluster, among: features.tree.count) }
  }
}

/// A cluster whose symbol is within a circle.
package struct ClusterHit: Sendable {
  package let node: ClusterNode
  /// Distance from the circle's center, in device-independent pixels; 0 on what was hit.
  package let distance: Double
  /// Whether its label was hit, not its symbol.
  package var isLabel = false
}
