// Clusters as they are answered.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import Query
import WireCoding

/// Clusters and points as they are answered.
struct ClusterPage {
  private let features: ClusteredFeatures
  private let reduction: FeatureReduction?
  /// Of the aggregate fields; nil for one of an attribute that no feature has.
  private let statistics: [Statistic?]
  private let selected: [ClusterNode: Int]

  init(_ features: ClusteredFeatures, _ reduction: FeatureReduction?, _ zoom: Int, _ share: WorkShare) throws {
    self.features = features
    self.reduction = reduction
    statistics = reduction?.aggregateFields.map { $0.bound(to: features.store.schema) } ?? []
    var selected: [ClusterNode: Int] = [:]
    for (index, row) in features.store.selectedRows.enumerated() {
      if index & 0x3fff == 0 { try share.worker?.checkCancelled() }
      if let node = features.node(ofRow: row, zoom: zoom) { selected[node, default: 0] += 1 }
    }
    self.selected = selected
  }

  func clusters(_ nodes: [ClusterNode], _ share: WorkShare) throws -> [ClusterProtocol.Cluster] {
    try nodes.enumerated().map { index, node in
      if index & 63 == 0 { try share.checkpoint(index, of: nodes.count) }
      return try cluster(node, share)
    }
  }

  private func cluster(_ node: ClusterNode, _ share: WorkShare) throws -> ClusterProtocol.Cluster {
    let tree = features.tree
    let count = tree.count(of: node)
    var cluster = ClusterProtocol.Cluster(
      id: tree.firstID(of: node), geometry: Wire.opaque(.point(features.position(of: node))), count: count,
      selectedCount: selected[node] ?? 0)
    guard node.isCluster else { return cluster }
    cluster.cluster = features.clusterID(of: node)
    cluster.expansionZoom = tree.expansionZoom(of: node)
    cluster.expansionScale = cluster.expansionZoom.map(ClusterZoom.scale)
    cluster.symbolSize = reduction?.symbolSize(of: count, among: tree.count)
    cluster.attributes = attributes(count, try figures(of: node, share))
    return cluster
  }

  /// The values of the aggregate fields, from the features of a cluster.
  private func figures(of node: ClusterNode, _ share: WorkShare) throws -> [AttributeValue] {
    guard let fields = reduction?.aggregateFields, !fields.isEmpty else { return [] }
    var totals = StatisticTotals(statistics.compactMap { $0 }, in: features.store.schema)
    totals.reserve(1)
    var visited = 0
    try features.tree.forEachRow(of: node) { row in
      visited += 1
      if visited & 0x3ff == 0 { try share.worker?.checkCancelled() }
      if let feature = features.store[row] { totals.add(feature, to: 0) }
      return true
    }
    var next = 0
    return zip(fields, statistics).map { field, statistic in
      guard statistic != nil else { return field.kind.ofNothing }
      next += 1
      return totals.figure(next - 1, of: 0)
    }
  }

  private func attributes(_ count: Int, _ values: [AttributeValue]) -> JSONOpaque {
    .made { writer in
      writer.beginObject()
      writer.key(FeatureReduction.countName.string)
      writer.value(count)
      for (field, value) in zip(reduction?.aggregateFields ?? [], values) {
        writer.key(field.name.string)
        Wire.opaque(value).encode(to: &writer)
      }
      writer.endObject()
    }
  }
}
