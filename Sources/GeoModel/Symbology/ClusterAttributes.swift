// The attributes of clusters, in columns like those of features, so that renderers, labels and popups work alike for both.

import Clusters
import FeatureStore
import Geometry
import Sorting
import Statistics

/// The number of a cluster's points, and statistics of these.
public struct ClusterAttributes: Sendable {
  /// The attribute that is the number of points.
  public static let countName: Text = "cluster_count"

  private let fields: [NamedStatistic]
  /// Nil for a statistic of an attribute that no feature has.
  private let statistics: [Statistic?]
  private let columns: [(name: String, type: FieldType?)]

  /// - Parameter schema: of the features; nil where their attributes are not declared.
  public init(_ fields: [NamedStatistic], of schema: FeatureSchema?) {
    self.fields = fields
    let statistics = fields.map { field in schema.flatMap { field.bound(to: $0) } }
    self.statistics = statistics
    columns =
      [(Self.countName.string, .integer)]
      + zip(fields, statistics).map { field, statistic in
        (field.name.string, statistic.flatMap { schema?.resultType(of: $0) } ?? field.kind.resultType)
      }
  }

  /// The columns.
  public var schema: FeatureSchema { FeatureStore(columns: columns).schema }

  /// Clusters and single points as features at their positions, each with the id of its first point.
  ///
  /// - Parameters:
  ///   - withStatistics: whether to compute the statistics, which are null otherwise.
  ///   - check: called every few thousand values; throws to cancel.
  /// - Complexity: O(points of the nodes) with statistics.
  public func rows(
    of nodes: [ClusterNode], in features: ClusteredFeatures, withStatistics: Bool = true,
    checking check: CancellationCheck
  ) throws -> [FeatureRow] {
    var store = FeatureStore(columns: columns)
    var totals = StatisticTotals(statistics.compactMap { $0 }, in: features.store.schema)
    var visited = 0
    for start in stride(from: 0, to: nodes.count, by: 64) {
      var batch = FeatureBatch()
      for index in start..<min(start + 64, nodes.count) {
        let progress = Double(index) / Double(nodes.count)
        let node = nodes[index]
        let position = features.position(of: node)
        batch.begin(id: features.tree.firstID(of: node))
        batch.setPoint(x: position.x, y: position.y)
        batch.set(column: batch.column(named: columns[0].name), integer: Int64(features.tree.count(of: node)))
        guard withStatistics, !fields.isEmpty else { continue }
        try totals.add(node, of: features, counting: &visited) { try check(progress) }
        for (column, value) in zip(columns.dropFirst(), figures(of: totals)) where value != .null {
          batch.set(column: batch.column(named: column.name), value)
        }
      }
      try check(Double(start) / Double(nodes.count))
      try store.append(batch)
    }
    return nodes.indices.compactMap { store[UInt32($0)] }
  }

  /// The attributes of a cluster by name, including nulls.
  public func values(of row: FeatureRow) -> [(name: String, value: AttributeValue)] {
    columns.indices.map { (columns[$0].name, row.value($0)) }
  }

  private func figures(of totals: StatisticTotals) -> [AttributeValue] {
    var next = 0
    return zip(fields, statistics).map { field, statistic in
      guard statistic != nil else { return field.kind.ofNothing }
      next += 1
      return totals.figure(next - 1, of: 0)
    }
  }
}

extension StatisticTotals {
  /// Replaces the accumulated values by those of the points of a node.
  ///
  /// - Parameter visited: number of points of this node and earlier ones; every thousand points `check` is called.
  fileprivate mutating func add(
    _ node: ClusterNode, of features: ClusteredFeatures, counting visited: inout Int, checking check: () throws -> Void
  ) throws {
    removeAll()
    reserve(1)
    try features.tree.forEachRow(of: node) { row in
      visited += 1
      if visited & 0x3ff == 0 { try check() }
      if let feature = features.store[row] { add(feature, to: 0) }
      return true
    }
  }
}
