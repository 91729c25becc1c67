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
  private let columns: [Int?]
  private let selected: [ClusterNode: Int]

  init(_ features: ClusteredFeatures, _ reduction: FeatureReduction?, _ zoom: Int, _ share: WorkShare) throws {
    self.features = features
    self.reduction = reduction
    columns = reduction?.aggregateFields.map { features.store.schema.column(named: $0.field.string) } ?? []
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
    cluster.attributes = attributes(count, try statistics(of: node, share))
    return cluster
  }

  /// The values of the aggregate fields, from the features of a cluster.
  private func statistics(of node: ClusterNode, _ share: WorkShare) throws -> [Double?] {
    guard let fields = reduction?.aggregateFields, !fields.isEmpty else { return [] }
    var aggregators = [Aggregator](repeating: Aggregator(), count: fields.count)
    var visited = 0
    try features.tree.forEachRow(of: node) { row in
      visited += 1
      if visited & 0xfff == 0 { try share.worker?.checkCancelled() }
      guard let feature = features.store[row] else { return true }
      for (index, column) in columns.enumerated() {
        if let column { feature.withAttribute(column) { aggregators[index].add($0) } }
      }
      return true
    }
    return zip(fields, aggregators).map { $1.value($0.statistic) }
  }

  private func attributes(_ count: Int, _ values: [Double?]) -> JSONOpaque {
    .made { writer in
      writer.beginObject()
      writer.key("cluster_count")
      writer.value(count)
      for (field, value) in zip(reduction?.aggregateFields ?? [], values) {
        writer.key(field.name.string)
        if let value { writer.value(value) } else { writer.null() }
      }
      writer.endObject()
    }
  }
}
