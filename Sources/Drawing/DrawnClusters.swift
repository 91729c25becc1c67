// Finds the clusters of a layer or an overlay that are drawn near a screen point.

import GeoModel
import Geometry
import Query

/// What a view draws in place of points.
package struct DrawnClusters: Sendable {
  package let features: ClusteredFeatures
  package let reduction: FeatureReduction
  /// That of the view's scale.
  package let zoom: Int

  package init(_ features: ClusteredFeatures, _ reduction: FeatureReduction, zoom: Int) {
    (self.features, self.reduction, self.zoom) = (features, reduction, zoom)
  }

  /// Whether a row is drawn itself: other geometries are, too.
  func isSingle(_ row: UInt32) -> Bool { features.node(ofRow: row, zoom: zoom)?.isCluster != true }

  /// The clusters whose symbol is within a circle, by descending id.
  ///
  /// - Complexity: O(log n + nodes near the circle).
  func hits(
    of layer: DrawnLayer, in circle: ScreenCircle, of view: View, _ transformer: any CoordinateTransformer,
    checking check: CancellationCheck
  ) throws -> [ClusterHit] {
    guard let extent = features.store.extent else { return [] }
    let area = try HitArea(circle, reduction.maxSymbolSize / 2, layer, view, transformer)
    let boxes = area.boxes(within: features.plane.positions(of: extent), transformer)
    let nodes = try features.nodes(in: boxes, zoom: zoom) { try check(0.5 * $0) }
    var hits: [ClusterHit] = []
    for (index, node) in nodes.reversed().enumerated() where node.isCluster {
      if index & 63 == 0 { try check(0.5 + 0.5 * Double(index) / Double(nodes.count)) }
      let distance = try distance(of: node, area)
      guard distance <= circle.radius + HitArea.rounding else { continue }
      hits.append(ClusterHit(node: node, distance: distance <= HitArea.rounding ? 0 : distance))
    }
    return hits
  }

  private func distance(of node: ClusterNode, _ area: HitArea) throws(TransformError) -> Double {
    guard let place = try area.place(of: features.position(of: node)) else { return .infinity }
    let tree = features.tree
    let radius = reduction.symbolSize(of: tree.count(of: node), among: tree.count) / 2
    return area.frames(of: Envelope(xMin: place.x, yMin: place.y, xMax: place.x, yMax: place.y)).reduce(.infinity) {
      min($0, max($1.offset(x: place.x, y: place.y).length - radius, 0))
    }
  }
}

/// A cluster whose symbol is within a circle.
package struct ClusterHit: Sendable {
  package let node: ClusterNode
  /// From the circle's center, in device-independent pixels; 0 on the symbol.
  package let distance: Double
}
