// Identity of clusters: ids derived from their points, and the number of selected points of each.

import FeatureStore
import Sorting

extension ClusteredFeatures {
  /// The id of a cluster, which is the same as long as its points are; nil for a single point.
  public func clusterID(of node: ClusterNode) -> String? {
    guard node.isCluster else { return nil }
    let digits = String(tree.hash(of: node), radix: 16)
    return "\(tree.firstID(of: node))-" + String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The cluster with an id; nil if there is none.
  public func cluster(_ id: String) -> ClusterNode? {
    let parts = id.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let first = Int(parts[0]), let hash = UInt64(parts[1], radix: 16),
      let row = store.row(of: first), let leaf = leaf(ofRow: row), let node = tree.cluster(around: leaf, hash: hash),
      clusterID(of: node) == id
    else { return nil }
    return node
  }

  /// The number of selected points of each node that has any, at a zoom.
  ///
  /// - Parameter check: called every few thousand selected points.
  /// - Complexity: O(selected points).
  public func selectedCounts(zoom: Int, checking check: CancellationCheck) rethrows -> [ClusterNode: Int] {
    let rows = store.selectedRows
    var counts: [ClusterNode: Int] = [:]
    for (index, row) in rows.enumerated() {
      if index & 0xfff == 0 { try check(Double(index) / Double(rows.count)) }
      if let node = node(ofRow: row, zoom: zoom) { counts[node, default: 0] += 1 }
    }
    return counts
  }
}
