// Finds what a layer or an overlay draws near a screen point.

import GeoModel
import Geometry
import Query

/// A circle on the screen, in device-independent pixels.
package struct ScreenCircle: Sendable {
  package let x: Double
  package let y: Double
  /// 0 for its center alone.
  package let radius: Double

  package init(x: Double, y: Double, radius: Double) {
    (self.x, self.y, self.radius) = (x, y, radius)
  }
}

/// A feature or graphic that is drawn within a circle.
package struct Hit: Sendable {
  package let row: UInt32
  /// From the circle's center, in device-independent pixels; 0 on what is drawn.
  package let distance: Double
}

/// The hits of a layer or an overlay, last drawn first.
package struct Hits: Sendable {
  package fileprivate(set) var hits: [Hit] = []
  /// Whether there are more than were asked for.
  package fileprivate(set) var exceedsLimit = false

  package init() {}
}

extension DrawnLayer {
  /// What is drawn of the layer within a circle: at most `limit` hits, those drawn last.
  ///
  /// - Parameters:
  ///   - check: called at times with the fraction done.
  ///   - cancellation: called at least every few milliseconds; throws to cancel.
  /// - Throws: also if the layer's reference cannot be transformed to the view's.
  /// - Complexity: O(log n + candidates), where candidates are near the circle and not below `limit` hits.
  package func hits(
    in circle: ScreenCircle, of view: View, limit: Int, _ transformer: any CoordinateTransformer,
    checking check: CancellationCheck, cancellation: @escaping () throws -> Void
  ) throws -> Hits {
    var search = try HitSearch(self, circle, view, transformer, checking: cancellation)
    let rows = try search.candidates(transformer) { try check(0.2 * $0) }
    var result = Hits()
    // Most searches end after a few rows; long ones take longer runs.
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
  private let view: View
  private let frame: ScreenFrame
  private let radius: Double
  /// The greatest distance of a geometry from the center whose symbol may be within the circle, in pixels.
  private let reach: Double
  /// Nil where the layer has the map's reference.
  private let transform: MapTransform?
  private let check: () throws -> Void
  private var symbols = OwnSymbols()

  /// Coordinates are rounded; what is this near is hit. In pixels.
  private static let rounding = 1e-6
  /// Worlds drawn side by side in which one feature is looked for.
  private static let maxCopies = 64.0

  init(
    _ layer: DrawnLayer, _ circle: ScreenCircle, _ view: View, _ transformer: any CoordinateTransformer,
    checking check: @escaping () throws -> Void
  ) throws {
    (self.layer, self.view, self.check) = (layer, view, check)
    frame = view.frame(x: circle.x, y: circle.y)
    radius = circle.radius + Self.rounding
    let map = view.reference.reference
    transform = layer.reference == map ? nil : try MapTransform(from: layer.reference, to: map, transformer)
    let rules =
      try layer.symbols.largest(in: layer.store, checking: check).map { $0.scaled(by: layer.symbolScale).reach }.max()
      ?? 0
    var known: [String: Double] = [:]
    let own = try layer.store.greatestSymbol { text in
      if let reach = known[text] { return reach }
      try check()
      let reach = OwnSymbols.parsed(text)?.reach ?? 0
      if known.count < OwnSymbols.limit { known[text] = reach }
      return reach
    }
    reach = radius + max(rules, own.map { $0 * layer.symbolScale + 1 } ?? 0)
  }

  // MARK: Candidates

  /// The rows whose geometry may be within reach, first drawn first.
  func candidates(
    _ transformer: any CoordinateTransformer, checking check: CancellationCheck
  ) throws -> [UInt32] {
    let store = layer.store
    guard let extent = store.extent else { return [] }
    let rows =
      if let boxes = boxes(extent, transformer) {
        if transform?.keepsLines ?? true {
          try store.rows(in: boxes) { try check(0.5 * $0) }
        } else {
          try rowsWithBentEdges(near: boxes, try transformer.describe(layer.reference)) { try check(0.5 * $0) }
        }
      } else {
        try store.rowsAscending { try check(0.5 * $0) }
      }
    return try store.sortedForDrawing(rows) { try check(0.5 + 0.5 * $0) }
  }

  /// The rows of points in boxes, and of other geometries that may be drawn there. The map draws straight edges, which
  /// depart from the layer's own by less than half of their length where they are shorter than a thousand kilometres.
  ///
  /// - Complexity: O(n) where the layer has others than points; some 20 nanoseconds for each.
  private func rowsWithBentEdges(
    near boxes: [Envelope], _ info: SpatialReferenceInfo, checking check: CancellationCheck
  ) throws -> [UInt32] {
    let store = layer.store
    var rows = try store.rows(in: boxes) { try check(0.2 * $0) }.filter { store[$0]?.point != nil }
    let longest = 1e6 / (info.metersPerUnit ?? metersPerDegree)
    for start in stride(from: 0, to: store.rowLimit, by: 4096) {
      try check(0.2 + 0.8 * Double(start) / Double(store.rowLimit))
      for row in start..<min(start + 4096, store.rowLimit) {
        guard let feature = store[row], feature.point == nil, let box = feature.envelope else { continue }
        let length = max(box.width, box.height)
        let bent = box.widened(by: length / 2)
        if length > longest || boxes.contains(where: bent.intersects) { rows.append(row) }
      }
    }
    return rows.sorted()
  }

  /// Boxes in the layer's reference that hold all candidates; nil if none are known.
  private func boxes(_ extent: Envelope, _ transformer: any CoordinateTransformer) -> [Envelope]? {
    let box = frame.box(radius: reach)
    guard transform != nil else { return view.wrap?.turns(of: box, over: extent) ?? [box] }
    let map = view.reference
    let clamped = PolarLimit(map, transformer)?.clamped(box) ?? box
    var result: [Envelope] = []
    for turn in view.wrap?.turns(of: clamped, over: nil) ?? [clamped] {
      guard
        let found = transformer.boxes(holding: turn, of: map.reference, in: layer.reference, within: extent)
      else { return nil }
      result += found
    }
    return result
  }

  // MARK: Tests

  /// The hits among rows that are in drawing order, last drawn first.
  mutating func hits(among rows: [UInt32], limit: Int) throws -> [Hit] {
    let shown = Array((layer.features?.shown(rows) ?? rows).reversed())
    let points = try transform.map { try positions(of: shown, $0) }
    var hits: [Hit] = []
    for (index, row) in shown.enumerated() {
      guard let feature = layer.store[row], feature.isVisible else { continue }
      if index & 255 == 255 { try check() }
      let distance: Double
      if let point = feature.point {
        let place = points.map { $0[index] } ?? SIMD2(point.x, point.y)
        distance = try self.distance(of: feature, at: place)
      } else {
        try check()
        distance = try self.distance(of: feature)
      }
      guard distance <= radius else { continue }
      hits.append(Hit(row: row, distance: distance <= Self.rounding ? 0 : distance))
      if hits.count == limit { break }
    }
    return hits
  }

  /// Where the map draws the rows that are points; not a number for others, and for those that it cannot draw.
  private func positions(of rows: [UInt32], _ transform: MapTransform) throws -> [SIMD2<Double>] {
    var values: [Double] = []
    for row in rows { if let point = layer.store[row]?.point { values += [point.x, point.y] } }
    do throws(TransformError) { try transform.transform(&values) } catch { values = try oneByOne(rows, transform) }
    var next = 0
    return rows.map { row in
      guard layer.store[row]?.point != nil else { return SIMD2(.nan, .nan) }
      defer { next += 2 }
      return SIMD2(values[next], values[next + 1])
    }
  }

  private func oneByOne(_ rows: [UInt32], _ transform: MapTransform) throws -> [Double] {
    try rows.flatMap { row -> [Double] in
      guard let point = layer.store[row]?.point else { return [] }
      try check()
      var values = [point.x, point.y]
      do throws(TransformError) { try transform.transform(&values) } catch {
        guard case .outsideDomain = error else { throw error }
        return [.nan, .nan]
      }
      return values
    }
  }

  private mutating func distance(of feature: FeatureRow, at place: SIMD2<Double>) throws -> Double {
    let box = Envelope(xMin: place.x, yMin: place.y, xMax: place.x, yMax: place.y)
    let frames = frames(of: box)
    guard frames.contains(where: { $0.offset(x: place.x, y: place.y).length <= reach }),
      let symbol = symbols.symbol(of: feature, layer)
    else { return .infinity }
    return frames.reduce(.infinity) { min($0, symbol.distance(from: -$1.offset(x: place.x, y: place.y))) }
  }

  private mutating func distance(of feature: FeatureRow) throws -> Double {
    guard var geometry = feature.geometry, let symbol = symbols.symbol(of: feature, layer) else { return .infinity }
    do {
      if let transform { geometry = try transform.drawn(geometry, checking: check) }
    } catch let error as TransformError {
      guard case .outsideDomain = error else { throw error }
      return .infinity
    }
    guard let box = geometry.envelope else { return .infinity }
    var nearest = Double.infinity
    for frame in frames(of: box) where nearest > 0 {
      nearest = min(nearest, try GeometryDistance(frame: frame, symbol: symbol, check: check).distance(to: geometry))
    }
    return nearest
  }

  /// The frames of the worlds in which a box is within reach.
  private func frames(of box: Envelope) -> [ScreenFrame] {
    guard let wrap = view.wrap else { return [frame] }
    let near = frame.box(radius: reach)
    guard box.yMin <= near.yMax, box.yMax >= near.yMin else { return [] }
    let middle = wrap.shift(box.center.x, nearest: frame.location.x) / wrap.width
    let low = max(((near.xMin - box.xMax) / wrap.width).rounded(.up), middle.rounded() - Self.maxCopies)
    let high = min(((near.xMax - box.xMin) / wrap.width).rounded(.down), middle.rounded() + Self.maxCopies)
    guard low <= high else { return [] }
    return stride(from: low, through: high, by: 1).map { frame.moved(east: $0 * wrap.width) }
  }
}

/// The symbols of graphics that have their own, each text parsed once.
private struct OwnSymbols {
  static let limit = 4096
  private var parsed: [String: Symbol?] = [:]

  static func parsed(_ text: String) -> Symbol? { DrawnSymbol.own(Text(text)).evaluated(scale: 1) }

  /// The symbol of a feature as large as it is drawn; nil if it is not.
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
