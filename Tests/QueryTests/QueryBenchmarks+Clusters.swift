// The figures of Tests/Benchmarks/floors/clusters.c: a million points clustered for the zooms 16 to 0.

import Geometry
import Testing

@testable import Clusters

extension QueryBenchmarks {
  @Test func `figures of the clusters`() {
    let (x, y) = Bench.points()
    let points = x.indices.map { row in
      let place = ClusterPlane.degrees.coordinates(x: x[row], y: y[row])
      return ClusterPoint(id: row, row: UInt32(row), x: place.x, y: place.y)
    }
    let before = Bench.resident()
    var tree = ClusterTree(of: [], settings: ClusterSettings()) { _ in }
    let seconds = (0..<3).map { _ in
      Bench.seconds { tree = ClusterTree(of: points, settings: ClusterSettings()) { _ in } }
    }
    print("clusters cluster_seconds \(seconds.sorted()[1])")
    print("clusters cluster_megabytes \(Double(Bench.resident() - before) / 1e6)")
    print("clusters cluster_nodes \((0...16).reduce(0) { $0 + tree.nodeCount(zoom: $1) })")
    print("clusters tile_microseconds \(microsecondsPerTile(tree))")
    #expect(tree.nodeCount(zoom: 17) == Bench.count)
  }

  /// The slowest of the zooms.
  private func microsecondsPerTile(_ tree: ClusterTree) -> Double {
    var random = SplitMix(7)
    return (0...16).map { zoom in
      let side = UInt64(1) << UInt64(32 - zoom)
      let boxes = (0..<1000).map { _ in
        let (column, row) = (random.unit() * Double(1 << zoom), random.unit() * Double(1 << zoom))
        let (west, north) = (UInt64(column) * side, UInt64(row) * side)
        return ClusterTree.Box(
          x: UInt32(west)...UInt32(west + side - 1), y: UInt32(north)...UInt32(north + side - 1))
      }
      var count = 0
      let seconds = Bench.seconds { for box in boxes { count += tree.nodes(in: box, zoom: zoom).count } }
      return seconds / Double(boxes.count) * 1e6
    }.max() ?? 0
  }
}
