// The edges of polygons by bands of y, so that where a position lies is known after looking at a few of them.

import Geometry

/// An edge of a ring.
package struct Edge: BitwiseCopyable, Sendable {
  package let start: SIMD2<Double>
  package let end: SIMD2<Double>

  package init(start: SIMD2<Double>, end: SIMD2<Double>) { (self.start, self.end) = (start, end) }
}

/// Edges of polygons, in bands of equal height.
///
/// - Complexity: O(n) to make; a test reads the edges of one band: a few, where edges are short against the whole.
package struct EdgeIndex: Sendable {
  let box: Envelope
  private let bandsPerUnit: Double
  /// The first edge of each band, then the number of all. An edge is in each band that it meets.
  private let starts: [UInt32]
  private let edges: [Edge]

  private var bandCount: Int { starts.count - 1 }

  /// Nil for an empty geometry, and for one that is no polygon.
  package init?(_ geometry: Geometry) {
    guard geometry.isPolygonal, let box = geometry.envelope, box.isFinite else { return nil }
    self.box = box
    var all: [Edge] = []
    geometry.forEachPositions { ring in
      ring.forEachEdge { start, end in
        if start != end { all.append(Edge(start: start, end: end)) }
      }
    }
    guard !all.isEmpty else { return nil }
    // Where edges are long against the bands, fewer bands keep memory in proportion to the edges.
    var count = min(max(all.count / 2, 1), 1 << 16)
    while true {
      let perUnit = Double(count) / max(box.height, .leastNormalMagnitude)
      let used = perUnit.isFinite ? perUnit : 0
      let total = all.reduce(0) { $0 + Self.bands(of: $1, box, used, count).count }
      if count == 1 || total <= 4 * all.count {
        (starts, edges) = Self.filled(all, total: total) {
          Self.bands(of: $0, box, used, count)
        } bands: {
          count
        }
        bandsPerUnit = used
        return
      }
      count /= 2
    }
  }

  private static func filled(
    _ all: [Edge], total: Int, _ bandsOf: (Edge) -> ClosedRange<Int>, bands: () -> Int
  ) -> ([UInt32], [Edge]) {
    var starts = [UInt32](repeating: 0, count: bands() + 1)
    for edge in all { for band in bandsOf(edge) { starts[band + 1] += 1 } }
    for band in 1..<starts.count { starts[band] += starts[band - 1] }
    var next = starts
    var edges = [Edge](repeating: Edge(start: .zero, end: .zero), count: total)
    for edge in all {
      for band in bandsOf(edge) {
        edges[Int(next[band])] = edge
        next[band] += 1
      }
    }
    return (starts, edges)
  }

  /// The band of a y within the box. It never falls as y rises, so that an edge is in the bands of all its positions.
  @inline(__always)
  private static func band(_ y: Double, _ box: Envelope, _ perUnit: Double, _ count: Int) -> Int {
    let band = (y - box.yMin) * perUnit
    return band > 0 ? min(Int(min(band, 1e9)), count &- 1) : 0
  }

  private static func bands(of edge: Edge, _ box: Envelope, _ perUnit: Double, _ count: Int) -> ClosedRange<Int> {
    let first = band(min(edge.start.y, edge.end.y), box, perUnit, count)
    return first...max(first, band(max(edge.start.y, edge.end.y), box, perUnit, count))
  }

  /// Where a position lies.
  @inline(__always)
  package func location(of position: SIMD2<Double>) -> AreaLocation {
    guard box.contains(x: position.x, y: position.y) else { return .exterior }
    let band = Self.band(position.y, box, bandsPerUnit, bandCount)
    var crossings = RingCrossings(position)
    starts.withUnsafeBufferPointer { starts in
      edges.withUnsafeBufferPointer { edges in
        for index in Int(starts[band])..<Int(starts[band &+ 1]) {
          crossings.add(edges[index].start, edges[index].end)
        }
      }
    }
    return crossings.location
  }

  /// Where all of a box lies: nil if an edge may pass through it.
  package func location(of other: Envelope) -> AreaLocation? {
    guard box.intersects(other) else { return .exterior }
    guard box.contains(other) else { return nil }
    let first = Self.band(other.yMin, box, bandsPerUnit, bandCount)
    let last = Self.band(other.yMax, box, bandsPerUnit, bandCount)
    for edge in edges[Int(starts[first])..<Int(starts[last + 1])] {
      let low = pointwiseMin(edge.start, edge.end)
      let high = pointwiseMax(edge.start, edge.end)
      if low.x <= other.xMax, high.x >= other.xMin, low.y <= other.yMax, high.y >= other.yMin { return nil }
    }
    return location(of: SIMD2(other.xMin, other.yMin))
  }

  /// Edges that a test reads on average.
  var meanEdges: Int { edges.count / bandCount }
}
