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
  /// Distance from the circle's center, in device-independent pixels; 0 on the drawn geometry.
  package let distance: Double
}

/// The hits of a layer or an overlay, in reverse drawing order.
package struct Hits: Sendable {
  /// Hits on clusters, which are drawn above all others.
  package fileprivate(set) var clusters: [ClusterHit] = []
  package fileprivate(set) var hits: [Hit] = []
  /// Whether there are more hits than the limit.
  package fileprivate(set) var exceedsLimit = false

  package init() {}

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
  ///   - check: called from time to time with the fraction done.
  ///   - cancellation: called at least every few milliseconds; throws to cancel.
  /// - Throws: also if the layer's reference cannot be transformed to the view's.
  /// - Complexity: O(log n + candidates). Candidates are features near the circle, except those below the first `limit` hits.
  package func hits(
    in circle: ScreenCircle, of view: View, limit: Int, clusters: DrawnClusters? = nil,
    _ transformer: any CoordinateTransformer, checking check: CancellationCheck,
    cancellation: @escaping () throws -> Void
  ) throws -> Hits {
    let clusterHits = try clusters?.hits(of: self, in: circle, of: view, transformer) { try check(0.1 * $0) } ?? []
    var result = try hits(
      in: circle, of: view, limit: max(limit - clusterHits.count, 0), besides: clusters, transformer,
      checking: { try check(0.1 + 0.9 * $0) }, cancellation)
    result.clusters = Array(clusterHits.prefix(limit))
    result.exceedsLimit = result.exceedsLimit || clusterHits.count > limit
    return result
  }

  private func hits(
    in circle: ScreenCircle, of view: View, limit: Int, besides clusters: DrawnClusters?,
    _ transformer: any CoordinateTransformer, checking check: CancellationCheck,
    _ cancellation: @escaping () throws -> Void
  ) throws -> Hits {
    var search = try HitSearch(self, clusters, circle, view, transformer, checking: cancellation)
    let rows = try search.candidates(transformer) { try check(0.2 * $0) }
    var result = Hits()
    // Most searches end after a few rows, so runs are short first and then longer.
    var (end, count) = (rows.count, 64)
    while end > 0 {
      try check(1 - 0.8 * Double(end) / Double(rows.count))
      let start = max(0, end - count)
      for hit in try search.hits(among: Array(rows[start..<end]), limit: limit + 1 - result.hits.count) {
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

/// One search in one layer.
private struct HitSearch {
  private let layer: DrawnLayer
  private let clusters: DrawnClusters?
  private let area: HitArea
  private let radius: Double
  private let check: () throws -> Void
  private let drawsNothing: Bool
  private var symbols = OwnSymbols()

  init(
    _ layer: DrawnLayer, _ clusters: DrawnClusters?, _ circle: ScreenCircle, _ view: View,
    _ transformer: any CoordinateTransformer, checking check: @escaping () throws -> Void
  ) throws {
    (self.layer, self.clusters, self.check) = (layer, clusters, check)
    radius = circle.radius + HitArea.rounding
    let largest = try layer.symbols.largest(in: layer.store, checking: check)
    let rules = largest.map { $0.scaled(by: layer.symbolScale).reach }.max() ?? 0
    var known: [String: Double] = [:]
    let own = try layer.store.greatestSymbol { text in
      if let reach = known[text] { return reach }
      try check()
      let reach = OwnSymbols.parsed(text)?.reach ?? 0
      if known.count < OwnSymbols.limit { known[text] = reach }
      return reach
    }
    drawsNothing = largest.isEmpty && own == nil
    let symbolReach = max(rules, own.map { $0 * layer.symbolScale + 1 } ?? 0)
    area = try HitArea(circle, symbolReach, layer, view, transformer)
  }

  // MARK: Candidates

  /// The rows whose geometry may be within reach, in drawing order.
  func candidates(
    _ transformer: any CoordinateTransformer, checking check: CancellationCheck
  ) throws -> [UInt32] {
    let store = layer.store
    guard !drawsNothing, let extent = store.extent else { return [] }
    let rows =
      if let boxes = area.boxes(within: extent, transformer) {
        if area.transform?.keepsLines ?? true {
          try store.rows(in: boxes) { try check(0.5 * $0) }
        } else {
          try rowsWithBentEdges(near: boxes, try transformer.describe(layer.reference)) { try check(0.5 * $0) }
        }
      } else {
        try store.rowsAscending { try check(0.5 * $0) }
      }
    return try store.sortedForDrawing(rows) { try check(0.5 + 0.5 * $0) }
  }

  /// The rows of points in boxes, and of other geometries that may be drawn there. Edges are straight on the map, not in the
  /// layer's reference; if shorter than a thousand kilometres, they differ by less than half of their length.
  ///
  /// - Complexity: O(n) if the layer has geometries other than points; some 20 nanoseconds for each.
  private func rowsWithBentEdges(
    near boxes: [Envelope], _ info: SpatialReferenceInfo, checking check: CancellationCheck
  ) throws -> [UInt32] {
    let store = layer.store
    var rows = try store.rows(in: boxes) { try check(0.2 * $0) }.filter { store[$0]?.point != nil }
    let longest = 1e6 / (info.metersPerUnit ?? metersPerDegree)
    let all = try store.rowsAscending { try check(0.2 + 0.1 * $0) }
    for (index, row) in all.enumerated() {
      if index & 0xfff == 0 { try check(0.3 + 0.7 * Double(index) / Double(all.count)) }
      guard let feature = store[row], feature.point == nil, let box = feature.envelope else { continue }
      let length = max(box.width, box.height)
      let bent = box.widened(by: length / 2)
      if length > longest || boxes.contains(where: bent.intersects) { rows.append(row) }
    }
    return rows.sorted()
  }

  // MARK: Tests

  /// The hits among rows given in drawing order, in reverse drawing order.
  mutating func hits(among rows: [UInt32], limit: Int) throws -> [Hit] {
    let single = clusters.map { clusters in rows.filter(clusters.isSingle) } ?? rows
    // Features without a symbol are skipped before positions are transformed.
    let shown = try (layer.features?.shown(single) ?? single).reversed().enumerated().compactMap { index, row -> UInt32? in
      if index & 255 == 255 { try check() }
      guard let feature = layer.store[row], layer.symbols.hasSymbol(feature), layer.isDrawn?(feature) ?? true else { return nil }
      return row
    }
    let points = try area.transform.map { try positions(of: shown, $0) }
    var hits: [Hit] = []
    for (index, row) in shown.enumerated() {
      guard let feature = layer.store[row], feature.isVisible else { continue }
      if index & 255 == 255 { try check() }
      let distance: Double
      if let point = feature.point {
        let place = points.map { $0[index] } ?? SIMD2(point.x, point.y)
        distance = self.distance(of: feature, at: place)
      } else {
        try check()
        distance = try self.distance(of: feature)
      }
      guard distance <= radius else { continue }
      hits.append(Hit(row: row, distance: distance <= HitArea.rounding ? 0 : distance))
      if hits.count == limit { break }
    }
    return hits
  }

  /// The map positions of rows that are points; NaN for other geometries, and for points that cannot be transformed.
  private func positions(of rows: [UInt32], _ transform: MapTransform) throws -> [SIMD2<Double>] {
    var values: [Double] = []
    for row in rows { if let point = layer.store[row]?.point { values += [point.x, point.y] } }
    do throws(TransformError) { try transform.transform(&values) } catch { values = try oneByOne(rows) }
    var next = 0
    return rows.map { row in
      guard layer.store[row]?.point != nil else { return SIMD2(.nan, .nan) }
      defer { next += 2 }
      return SIMD2(values[next], values[next + 1])
    }
  }

  private func oneByOne(_ rows: [UInt32]) throws -> [Double] {
    try rows.flatMap { row -> [Double] in
      guard let point = layer.store[row]?.point else { return [] }
      try check()
      let place = try area.place(of: Point(x: point.x, y: point.y)) ?? SIMD2(.nan, .nan)
      return [place.x, place.y]
    }
  }

  private mutating func distance(of feature: FeatureRow, at place: SIMD2<Double>) -> Double {
    let (area, layer) = (area, layer)
    return area.distance(at: place) { symbols.symbol(of: feature, layer) }
  }

  private mutating func distance(of feature: FeatureRow) throws -> Double {
    guard var geometry = feature.geometry, let symbol = symbols.symbol(of: feature, layer) else { return .infinity }
    do {
      if let transform = area.transform { geometry = try transform.drawn(geometry, checking: check) }
    } catch let error as TransformError {
      guard case .outsideDomain = error else { throw error }
      return .infinity
    }
    guard let box = geometry.envelope else { return .infinity }
    var nearest = Double.infinity
    for frame in area.frames(of: box) where nearest > 0 {
      nearest = min(nearest, try GeometryDistance(frame: frame, symbol: symbol, check: check).distance(to: geometry))
    }
    return nearest
  }
}

/// The symbols of graphics that have their own; each text is parsed once.
private struct OwnSymbols {
  static let limit = 4096
  private var parsed: [String: Symbol?] = [:]

  static func parsed(_ text: String) -> Symbol? { DrawnSymbol.own(Text(text)).evaluated(scale: 1) }

  /// The symbol of a feature in its drawn size; nil if it is not drawn.
  mutating func symbol(of feature: FeatureRow, _ layer: DrawnLayer) -> Symbol? {
    guard let text = feature.symbol else {
      return layer.symbols.symbol(of: feature)?.evaluated(scale: layer.symbolScale)
    }
    if let known = parsed[text] { return known }
    let symbol = Self.parsed(text)?.scaled(by: layer.symbolScale)
    if parsed.count >= Self.limit { parsed = [:] }
    parsed[text] = .some(symbol)
    return symbol
  }
}

extension Envelope {
  fileprivate func widened(by margin: Double) -> Envelope {
    Envelope(xMin: xMin - margin, yMin: yMin - margin, xMax: xMax + margin, yMax: yMax + margin)
  }
}
