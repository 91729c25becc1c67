// Finds what a layer or an overlay draws near a screen point.

import FeatureStore
import GeoModel
import Geometry
import Sorting

/// A circle on the screen, in device-independent pixels.
package struct ScreenCircle: Sendable {
  package let x: Double
  package let y: Double
  /// 0 for the center alone.
  package let radius: Double

  package init(x: Double, y: Double, radius: Double) {
    (self.x, self.y, self.radius) = (x, y, radius)
  }
}

/// A feature or graphic that is drawn within a circle.
package struct Hit: Sendable {
  package let row: UInt32
  /// Distance from the circle's center, in device-independent pixels; 0 on what was hit.
  package let distance: Double
  /// Whether a label was hit, not the symbol.
  package var isLabel = false
}

/// The hits of a layer or an overlay, in reverse drawing order.
package struct Hits: Sendable {
  /// Hits on clusters, which are drawn above all others.
  package fileprivate(set) var clusters: [ClusterHit] = []
  package fileprivate(set) var hits: [Hit] = []
  /// Whether there are more hits than the limit.
  package fileprivate(set) var exceedsLimit = false

  package init() {}

  fileprivate init(_ hits: [Hit], limit: Int) { (self.hits, exceedsLimit) = (Array(hits.prefix(limit)), hits.count > limit) }

  package var isEmpty: Bool { clusters.isEmpty && hits.isEmpty }
  package var count: Int { clusters.count + hits.count }

  /// The hits without the first ones, and of these at most `limit`.
  package func part(from start: Int, limit: Int) -> Hits {
    var part = self
    part.clusters = Array(clusters.dropFirst(start).prefix(limit))
    part.hits = Array(hits.dropFirst(max(0, start - clusters.count)).prefix(limit - part.clusters.count))
    return part
  }
}

extension DrawnLayer {
  /// The features and clusters that the layer draws within a circle: at most `limit` hits, in reverse drawing order.
  ///
  /// - Parameters:
  ///   - clusters: the clusters drawn in place of points; nil if points are not clustered.
  ///   - labels: those of the layer, which are drawn above all else.
  ///   - shapes: what a picture draws of the layer; nil to search the layer itself.
  ///   - meter: measures texts; nil to estimate their sizes.
  ///   - check: called from time to time with the fraction done.
  ///   - cancellation: called at least every few milliseconds; throws to cancel.
  /// - Throws: also if the layer's reference cannot be transformed to the view's.
  /// - Complexity: O(log n + candidates). Candidates are features near the circle, except those below the first `limit` hits.
  package func hits(
    in circle: ScreenCircle, of view: View, limit: Int, clusters: DrawnClusters? = nil, labels: [PlacedLabel] = [],
    on shapes: DrawnShapes? = nil, _ transformer: any CoordinateTransformer, _ meter: TextMeter? = nil, checking check: CancellationCheck,
    cancellation: @escaping () throws -> Void
  ) throws -> Hits {
    let labelled = hits(on: labels, in: circle, limit: limit, clusters)
    let left = limit - labelled.count
    let (names, rows) = (Set(labelled.clusters.map(\.node)), Set(labelled.hits.map(\.row)))
    let drawn = try shapes?.hits(of: self, in: circle, limit: left + 1, clusters, besides: rows, meter, checking: cancellation)
    let clusterHits = try (drawn?.clusters ?? clusters?.hits(of: self, in: circle, of: view, transformer, meter) { try check(0.1 * $0) } ?? [])
      .filter { !names.contains($0.node) }
    let room = max(left - clusterHits.count, 0)
    var result =
      try drawn.map { Hits($0.features, limit: room) }
      ?? hits(
        in: circle, of: view, limit: room, besides: clusters, rows, transformer, meter, checking: { try check(0.1 + 0.9 * $0) }, cancellation)
    result.clusters = labelled.clusters + clusterHits.prefix(left)
    result.hits = labelled.hits + result.hits
    result.exceedsLimit = result.exceedsLimit || labelled.exceedsLimit || clusterHits.count > left
    return result
  }

  /// The features and clusters whose labels are within a circle, each once, the nearest first.
  private func hits(on labels: [PlacedLabel], in circle: ScreenCircle, limit: Int, _ clusters: DrawnClusters?) -> Hits {
    let point = SIMD2(circle.x, circle.y)
    let near = labels.map { (label: $0, distance: $0.distance(from: point)) }.filter { $0.distance <= circle.radius + HitArea.rounding }
    var (result, seen): (Hits, Set<UInt32>) = (Hits(), [])
    for (label, distance) in near.sorted(by: { $0.distance < $1.distance }) {
      guard let row = store.row(of: label.id), seen.insert(row).inserted else { continue }
      guard result.count < limit else {
        result.exceedsLimit = true
        break
      }
      let distance = distance <= HitArea.rounding ? 0 : distance
      if let node = clusters?.features.node(ofRow: row, zoom: clusters?.zoom ?? 0), node.isCluster {
        result.clusters.append(ClusterHit(node: node, distance: distance, isLabel: true))
      } else {
        result.hits.append(Hit(row: row, distance: distance, isLabel: true))
      }
    }
    return result
  }

  private func hits(
    in circle: ScreenCircle, of view: View, limit: Int, besides clusters: DrawnClusters?, _ known: Set<UInt32>,
    _ transformer: any CoordinateTransformer, _ meter: TextMeter?, checking check: CancellationCheck,
    _ cancellation: @escaping () throws -> Void
  ) throws -> Hits {
    var search = try LayerSearch(self, clusters, circle, view, transformer, meter, checking: cancellation)
    let rows = try search.candidates(transformer) { try check(0.2 * $0) }
    var result = Hits()
    // Most searches end after a few rows, so runs are short first and then longer.
    var (end, count) = (rows.count, 64)
    while end > 0 {
      try check(1 - 0.8 * Double(end) / Double(rows.count))
      let start = max(0, end - count)
      let run = known.isEmpty ? Array(rows[start..<end]) : rows[start..<end].filter { !known.contains($0) }
      for hit in try search.hits(among: run, limit: limit + 1 - result.hits.count) {
        result.hits.append(hit)
      }
      guard result.hits.count <= limit else {
        result.hits.removeLast()
        result.exceedsLimit = true
        return result
      }
      (end, count) = (start, min(2 * count, 4096))
    }
    return result
  }
}
