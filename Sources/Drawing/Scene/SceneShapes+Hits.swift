// What a picture of a scene draws, kept so that it can be searched: found at a screen point is what the picture has there.

import FeatureStore
import GeoModel
import Sorting

/// The shapes of a layer on the screen, in drawing order, as pictures draw them.
package struct DrawnShapes: Sendable {
  private struct Item {
    let row: UInt32
    /// The index in the shapes; nil for a point.
    let shape: Int?
    /// The box around it.
    let low: SIMD2<Float>
    let high: SIMD2<Float>

    func isWithin(_ reach: Float, of place: SIMD2<Float>) -> Bool {
      let beyond = pointwiseMax(pointwiseMax(low - place, place - high), .zero)
      return (beyond * beyond).sum() <= reach * reach
    }
  }

  private var items: [Item] = []
  private var clusters: [(item: Item, symbol: Symbol)] = []
  private var shapes: [ScreenShape] = []
  /// How far symbols reach from what they are of.
  private var reach: Double = 0
  /// About how many positions are kept.
  package private(set) var size = 0

  mutating func widen(to reach: Double) { self.reach = max(self.reach, reach) }

  mutating func add(_ row: UInt32, _ shape: ScreenShape) { items.append(item(row, shape)) }

  mutating func add(cluster row: UInt32, _ shape: ScreenShape, _ symbol: Symbol) {
    widen(to: symbol.widestReach)
    clusters.append((item(row, shape), symbol))
  }

  private mutating func item(_ row: UInt32, _ shape: ScreenShape) -> Item {
    if let point = shape.points.first, shape.isPoint {
      size += 3
      return Item(row: row, shape: nil, low: point, high: point)
    }
    var (low, high) = (SIMD2<Float>(repeating: .infinity), SIMD2<Float>(repeating: -.infinity))
    shape.forEachRun { run in
      size += run.count
      for place in run { (low, high) = (pointwiseMin(low, place), pointwiseMax(high, place)) }
    }
    size += 16
    shapes.append(shape)
    return Item(row: row, shape: shapes.count - 1, low: low, high: high)
  }

  /// What of the clusters and features is within a circle, from the top.
  ///
  /// - Parameters:
  ///   - limit: of the features.
  ///   - known: features that are left out.
  ///   - check: called every few hundred shapes; throws to cancel.
  func hits(
    of layer: DrawnLayer, in circle: ScreenCircle, limit: Int, _ drawn: DrawnClusters?, besides known: Set<UInt32>, _ meter: TextMeter?,
    checking check: () throws -> Void
  ) throws -> (clusters: [ClusterHit], features: [Hit]) {
    var (symbols, meter) = (OwnSymbols(), meter)
    let place = SIMD2(circle.x, circle.y)
    let (point, reach) = (SIMD2(Float(circle.x), Float(circle.y)), Float(circle.radius + reach + 0.01))
    func distance(_ item: Item, _ symbol: Symbol) throws -> Double? {
      try meter?.learn(symbol.texts)
      let distance = (item.shape.map { shapes[$0] } ?? ScreenShape(points: [item.low])).distance(from: place, symbol, meter)
      return distance <= circle.radius + HitArea.rounding ? (distance <= HitArea.rounding ? 0 : distance) : nil
    }
    var found: (clusters: [ClusterHit], features: [Hit]) = ([], [])
    for (item, symbol) in clusters.reversed() where item.isWithin(reach, of: point) {
      try check()
      guard let distance = try distance(item, symbol), let node = drawn?.features.node(ofRow: item.row, zoom: drawn?.zoom ?? 0) else { continue }
      found.clusters.append(ClusterHit(node: node, distance: distance))
    }
    for (index, item) in items.reversed().enumerated() {
      if index & 4095 == 4095 { try check() }
      guard item.isWithin(reach, of: point), !known.contains(item.row), let feature = layer.store[item.row],
        let symbol = symbols.symbol(of: feature, layer)
      else { continue }
      try check()
      guard let distance = try distance(item, symbol) else { continue }
      found.features.append(Hit(row: item.row, distance: distance))
      if found.features.count == limit { break }
    }
    return found
  }
}

extension ScreenShape {
  fileprivate var isPoint: Bool { points.count == 1 && lines.isEmpty && areas.isEmpty && edges == nil }

  fileprivate func forEachRun(_ body: ([SIMD2<Float>]) -> Void) {
    body(points)
    lines.forEach(body)
    areas.joined().forEach(body)
    edges?.forEach(body)
  }

  /// The distance from a point to what a symbol draws of the shape; infinite if that is nothing.
  fileprivate func distance(from place: SIMD2<Double>, _ symbol: Symbol, _ meter: TextMeter?) -> Double {
    func run(_ run: [SIMD2<Float>], isClosed: Bool = false) -> RunDistance {
      var result = RunDistance()
      for next in run { result.add(SIMD2(Double(next.x), Double(next.y)) - place) }
      if isClosed, let first = run.first { result.add(SIMD2(Double(first.x), Double(first.y)) - place) }
      return result
    }
    var nearest = points.reduce(Double.infinity) {
      min($0, symbol.distance(from: place - SIMD2(Double($1.x), Double($1.y)), meter))
    }
    if let reach = symbol.lineReach {
      for line in lines where nearest > 0 { nearest = min(nearest, max(run(line).distance - reach, 0)) }
    }
    guard let reach = symbol.edgeReach else { return nearest }
    for rings in areas where nearest > 0 {
      let runs = rings.map { run($0, isClosed: true) }
      let isInside = runs.reduce(false) { $0 != !$1.isEven }
      if isInside, symbol.isFill { return 0 }
      // Where a part is hidden, the outline of what is seen is no edge, but a fill ends at it.
      guard symbol.isFill || edges == nil, let far = runs.map(\.distance).min() else { continue }
      nearest = min(nearest, max(far - (edges == nil ? reach : 0), 0))
    }
    for edge in edges ?? [] where nearest > 0 { nearest = min(nearest, max(run(edge).distance - reach, 0)) }
    return nearest
  }
}
