// One search in one layer: the features that are drawn within a circle, or on a whole screen.

import FeatureStore
import GeoModel
import Geometry
import Sorting

/// One search in one layer.
struct LayerSearch {
  let layer: DrawnLayer
  private let clusters: DrawnClusters?
  let area: HitArea
  private let radius: Double
  private let check: () throws -> Void
  private let drawsNothing: Bool
  /// How far symbols reach from what they are of.
  let reach: Double
  var symbols = OwnSymbols()
  /// Measures texts that are drawn; nil where their sizes are estimated, or there are none.
  private var meter: TextMeter?

  /// - Parameters:
  ///   - circle: nil for the whole screen.
  ///   - meter: measures texts; nil to estimate their sizes.
  init(
    _ layer: DrawnLayer, _ clusters: DrawnClusters?, _ circle: ScreenCircle?, _ view: View,
    _ transformer: any CoordinateTransformer, _ meter: TextMeter? = nil, checking check: @escaping () throws -> Void
  ) throws {
    (self.layer, self.clusters, self.check) = (layer, clusters, check)
    radius = (circle?.radius ?? 0) + HitArea.rounding
    let largest = try layer.symbols.largest(in: layer.store, checking: check)
    let rules = largest.map { $0.scaled(by: layer.symbolScale).widestReach }.max() ?? 0
    var known: [String: Double] = [:]
    let own = try layer.store.greatestSymbol { text in
      if let reach = known[text] { return reach }
      try check()
      let reach = OwnSymbols.parsed(text)?.widestReach ?? 0
      if known.count < OwnSymbols.limit { known[text] = reach }
      return reach
    }
    drawsNothing = largest.isEmpty && own == nil && (circle != nil || layer.labels.isEmpty)
    self.meter = own != nil || largest.contains { !$0.texts.isEmpty } ? meter : nil
    reach = max(rules, own.map { $0 * layer.symbolScale + 1 } ?? 0)
    area =
      if let circle {
        try HitArea(circle, reach, layer, view, transformer)
      } else {
        try HitArea(screenOf: view, reach + 2, layer, transformer)
      }
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
        try store.rows(in: boxes, bent: area.bend) { try check(0.5 * $0) }
      } else {
        try store.rowsAscending { try check(0.5 * $0) }
      }
    return try store.sortedForDrawing(rows) { try check(0.5 + 0.5 * $0) }
  }

  // MARK: Tests

  /// The hits among rows given in drawing order, in reverse drawing order.
  mutating func hits(among rows: [UInt32], limit: Int) throws -> [Hit] {
    // Features without a symbol are skipped before positions are transformed.
    let shown = Array(try shown(rows) { layer.symbols.hasSymbol($0) }.reversed())
    let points = try area.transform.map { try positions(of: shown, $0) }
    if meter != nil { try measureTexts(of: shown) }
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

  private mutating func measureTexts(of rows: [UInt32]) throws {
    var texts: [TextSymbol] = []
    for row in rows { if let feature = layer.store[row], let symbol = symbols.symbol(of: feature, layer) { texts += symbol.texts } }
    try meter?.learn(texts)
  }

  /// The rows that the layer draws one by one, not in clusters, in the order given.
  ///
  /// - Parameter condition: of features.
  func shown(_ rows: [UInt32], where condition: (FeatureRow) -> Bool = { _ in true }) throws -> [UInt32] {
    let single = clusters.map { clusters in rows.filter(clusters.isSingle) } ?? rows
    return try (layer.features?.shown(single) ?? single).enumerated().compactMap { index, row -> UInt32? in
      if index & 255 == 255 { try check() }
      guard let feature = layer.store[row], condition(feature), layer.isDrawn?(feature) ?? true else { return nil }
      return row
    }
  }

  /// The map positions of rows that are points; NaN for other geometries, and for points that cannot be transformed.
  func positions(of rows: [UInt32], _ transform: MapTransform) throws -> [SIMD2<Double>] {
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
    let (area, layer, meter) = (area, layer, meter)
    return area.distance(at: place, meter) { symbols.symbol(of: feature, layer) }
  }

  private mutating func distance(of feature: FeatureRow) throws -> Double {
    guard var geometry = feature.geometry, let symbol = symbols.symbol(of: feature, layer) else { return .infinity }
    do {
      if let transform = area.transform { geometry = try transform.drawnParts(of: geometry, checking: check) }
    } catch let error as TransformError {
      guard case .outsideDomain = error else { throw error }
      return .infinity
    }
    guard let box = geometry.envelope else { return .infinity }
    var nearest = Double.infinity
    for frame in area.frames(of: box) where nearest > 0 {
      nearest = min(nearest, try GeometryDistance(frame: frame, symbol: symbol, meter: meter, check: check).distance(to: geometry))
    }
    return nearest
  }
}

/// The symbols of features in their drawn size, each made once: those that features share, and those of graphics that have their own.
struct OwnSymbols {
  static let limit = 4096
  private var parsed: [String: Symbol?] = [:]
  private var shared: [Symbol?] = []

  static func parsed(_ text: String) -> Symbol? { DrawnSymbol.own(Text(text)).evaluated(scale: 1) }

  /// The symbol of a feature in its drawn size; nil if it is not drawn.
  mutating func symbol(of feature: FeatureRow, _ layer: DrawnLayer) -> Symbol? {
    if let number = layer.symbols.shared(by: feature) { return symbol(number, of: feature, layer) }
    guard let text = feature.symbol else {
      return layer.symbols.symbol(of: feature)?.evaluated(scale: layer.symbolScale)
    }
    if let known = parsed[text] { return known }
    let symbol = Self.parsed(text)?.scaled(by: layer.symbolScale)
    if parsed.count >= Self.limit { parsed = [:] }
    parsed[text] = .some(symbol)
    return symbol
  }

  private mutating func symbol(_ number: Int, of feature: FeatureRow, _ layer: DrawnLayer) -> Symbol? {
    guard number >= 0 else { return nil }
    if number < shared.count, let known = shared[number] { return known }
    let symbol = layer.symbols.symbol(of: feature)?.evaluated(scale: layer.symbolScale)
    if number >= shared.count { shared += Array(repeating: nil, count: number + 1 - shared.count) }
    shared[number] = symbol
    return symbol
  }
}

extension Envelope {
  func widened(by margin: Double) -> Envelope {
    Envelope(xMin: xMin - margin, yMin: yMin - margin, xMax: xMax + margin, yMax: yMax + margin)
  }
}
