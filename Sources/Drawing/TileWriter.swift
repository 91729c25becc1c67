// Features and clusters of a drawn layer as features of a tile. Positions of many are transformed at once.

import FeatureStore
import GeoModel
import Geometry
import Sorting
import VectorTiles

struct TileWriter: ~Copyable {
  private struct Run {
    let kind: TileShape.Kind
    var isHole = false
    let start: Int
    let end: Int
  }

  private let drawn: DrawnLayer
  private let address: TileAddress
  /// Nil if the features are in Web Mercator.
  private let transform: MapTransform?
  /// Whether positions can be transformed without regard to those beside them.
  private let isBatched: Bool
  private let mend: TileOptions.Mend
  private var layer: TileLayer
  private var shape = TileShape()
  /// Whether the attribute of a column is wanted, and the number of its key once it has one.
  private let isWanted: [Bool]
  private var keys: [UInt32?]
  /// What styles need beside fields; nil if that is not wanted.
  private let attributes: StyleAttributes?
  private var failedCount = 0

  /// Alternating x and y of the features that are written next, and where each lies.
  private var values: [Double] = []
  private var runs: [Run] = []
  /// The end of each feature's runs.
  private var ends: [Int] = []

  /// Numbers that are transformed at once.
  private static let batch = 8192
  /// Farthest from the world that anything is drawn, in its widths.
  private static let maxTurns = 4.0

  init(_ drawn: DrawnLayer, _ options: TileOptions, _ transformer: any CoordinateTransformer) throws {
    (self.drawn, address, mend) = (drawn, options.address, options.mend)
    transform =
      drawn.reference == .webMercator ? nil : try MapTransform(from: drawn.reference, to: .webMercator, transformer)
    isBatched = transform?.keepsLines != false || drawn.store.isOfPoints
    layer = TileLayer(name: drawn.object.id)
    attributes = options.portrayal ? StyleAttributes(drawn.portrayal.renderer, schema: drawn.store.schema) : nil
    let wanted = options.properties.map { [attributes] in Set($0.map { Text($0) }).union(attributes?.fields ?? []) }
    isWanted = drawn.store.schema.fields.map { wanted?.contains($0.name) ?? true }
    keys = isWanted.map { _ in nil }
  }

  consuming func tile() -> DrawnTile {
    let (count, failed) = (layer.featureCount, failedCount)
    return DrawnTile(data: layer.tile(), featureCount: count, failedCount: failed)
  }

  // MARK: Items

  mutating func add(_ rows: [UInt32], checking check: CancellationCheck) throws {
    var start = 0
    while start < rows.count {
      try check(Double(start) / Double(rows.count))
      removeAll()
      var end = start
      while end < rows.count, values.count < Self.batch {
        if let row = drawn.store[rows[end]] {
          if let point = row.point, isBatched {
            note(.point) { $0 += [point.x, point.y] }
          } else if let geometry = row.geometry {
            try gather(geometry) { try check(Double(start) / Double(rows.count)) }
          }
        }
        ends.append(runs.count)
        end += 1
      }
      place()
      for index in start..<end {
        guard let row = drawn.store[rows[index]] else { continue }
        try write(index - start, id: row.id) { writer in writer.tag(row) }
      }
      start = end
    }
  }

  mutating func add(_ clusters: ArraySlice<DrawnItem>) throws {
    removeAll()
    for item in clusters {
      try gather(item.geometry) {}
      ends.append(runs.count)
    }
    place()
    for (index, item) in clusters.enumerated() {
      try write(index, id: item.id) { writer in writer.tag(item) }
    }
  }

  private mutating func tag(_ row: FeatureRow) {
    row.forEachAttribute { column, value in
      guard column < isWanted.count, isWanted[column] else { return }
      let key = keys[column] ?? layer.key(drawn.store.schema.name(of: column))
      keys[column] = key
      layer.tag(key, value)
    }
    if row.isSelected { layer.tag(layer.key("_selected"), .bool(true)) }
    guard let attributes else { return }
    attributes.forEach(of: row) { index, value in tag(attributes.names[index], value) }
    tag(drawn.labels.labels(of: row))
    if row.symbol != nil || drawn.symbols.isByFeature, let symbol = drawn.symbols.symbol(of: row)?.evaluated(scale: drawn.symbolScale) {
      tag(ofOwn: symbol)
    }
  }

  private mutating func tag(_ item: DrawnItem) {
    guard let cluster = item.cluster else { return }
    for (name, value) in [("_cluster", AttributeValue.string(cluster.id))] + cluster.attributes { tag(name, value) }
    if cluster.selectedCount > 0 { layer.tag(layer.key("_selected"), .bool(true)) }
    guard attributes != nil else { return }
    tag(item.labels)
    if let symbol = item.symbol { tag("_size", .double(symbol.size)) }
  }

  private mutating func tag(_ name: String, _ value: AttributeValue) {
    let key = layer.key(name)
    value.withAttribute { layer.tag(key, $0) }
  }

  private mutating func tag(_ labels: [Label]) {
    for label in labels { tag("_label\(label.definition)", .string(label.symbol.text.string)) }
  }

  /// The main traits of a feature's own symbol: those of its first part.
  private mutating func tag(ofOwn symbol: Symbol) {
    var (color, outline): (Color?, SimpleLineSymbol?) = (nil, nil)
    switch symbol {
    case .simpleMarker(let marker): (color, outline) = (marker.color, marker.outline)
    case .simpleLine(let line): color = line.style == .null ? nil : line.color
    case .simpleFill(let fill): (color, outline) = (fill.style == .null ? fill.color.faded(0) : fill.color, fill.outline)
    case .text(let text): color = text.color
    case .composite(let parts): if let first = parts.first { tag(ofOwn: first) }
    }
    guard let color else { return }
    tag("_color", .string(color.styleText))
    tag("_size", .double(symbol.size))
    guard let outline, outline.style != .null else { return }
    tag("_outlineColor", .string(outline.color.styleText))
    tag("_outlineWidth", .double(outline.width))
  }

  // MARK: Positions

  private mutating func removeAll() {
    values.removeAll(keepingCapacity: true)
    runs.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  private mutating func note(_ kind: TileShape.Kind, isHole: Bool = false, _ append: (inout [Double]) -> Void) {
    let start = values.count
    append(&values)
    runs.append(Run(kind: kind, isHole: isHole, start: start, end: values.count))
  }

  /// Adds the runs of a geometry; of one that is not transformed in a batch, as it is drawn.
  private mutating func gather(_ geometry: Geometry, checking check: () throws -> Void) throws {
    guard let transform, !isBatched else { return gather(geometry) }
    do { gather(try transform.drawn(geometry, checking: check)) } catch is TransformError { failedCount += 1 }
  }

  private mutating func gather(_ geometry: Geometry) {
    switch geometry {
    case .point(let point?): note(.point) { $0 += [point.x, point.y] }
    case .point(nil): break
    case .multiPoint(let points): note(.point) { $0.append(xy: points) }
    case .lineString(let line): note(.line) { $0.append(xy: line) }
    case .multiLineString(let lines): for line in lines { note(.line) { $0.append(xy: line) } }
    case .polygon(let rings): gather(rings)
    case .multiPolygon(let polygons): for rings in polygons { gather(rings) }
    case .collection(let parts): for part in parts { gather(part) }
    }
  }

  private mutating func gather(_ rings: [Positions]) {
    for (index, ring) in rings.enumerated() { note(.polygon, isHole: index > 0) { $0.append(xy: ring) } }
  }

  /// Changes all positions to units of the tile. Those of features without coordinates become NaN, which nothing draws.
  private mutating func place() {
    if isBatched, let transform, !values.isEmpty {
      var moved = values
      do throws(TransformError) {
        try transform.draw(&moved)
        values = moved
      } catch { placeOneByOne(transform) }
    }
    address.place(&values)
  }

  private mutating func placeOneByOne(_ transform: MapTransform) {
    var first = 0
    for end in ends {
      defer { first = end }
      guard first < end else { continue }
      let range = runs[first].start..<runs[end - 1].end
      var piece = Array(values[range])
      do throws(TransformError) { try transform.draw(&piece) } catch {
        failedCount += 1
        piece = Array(repeating: .nan, count: range.count)
      }
      values.replaceSubrange(range, with: piece)
    }
  }

  // MARK: Features

  /// Writes the item with a number in the batch: a feature for each dimension of which the tile has something.
  private mutating func write(_ item: Int, id: Int, tag: (inout TileWriter) -> Void) throws {
    let range = (item == 0 ? 0 : ends[item - 1])..<ends[item]
    let (values, runs) = (values, runs)
    var (low, high) = (Double.infinity, -Double.infinity)
    var kinds: [Bool] = [false, false, false]
    values.withUnsafeBufferPointer { values in
      for run in runs[range] {
        kinds[Int(run.kind.rawValue) - 1] = true
        for index in stride(from: run.start, to: run.end, by: 2) {
          if values[index] < low { low = values[index] }
          if values[index] > high { high = values[index] }
        }
      }
    }
    guard low <= high else { return }
    // The same place may be drawn at several x, whole turns apart.
    let turn = address.turn
    let first = max(((TileShape.low - high) / turn).rounded(.up), -Self.maxTurns)
    let last = min(((TileShape.high - low) / turn).rounded(.down), Self.maxTurns)
    var isTagged = false
    for kind in [TileShape.Kind.point, .line, .polygon] where kinds[Int(kind.rawValue) - 1] {
      shape.removeAll()
      for turns in stride(from: first, through: last, by: 1) {
        draw(runs[range], of: kind, values, shift: turns * turn)
      }
      var isMended = true
      try shape.writeRings { areas in
        guard let mended = try mend(areas) else {
          isMended = false
          return .collection([])
        }
        return mended
      }
      if !isMended { failedCount += 1 }
      guard !shape.isEmpty else { continue }
      if !isTagged {
        layer.beginFeature()
        tag(&self)
        isTagged = true
      }
      layer.add(id: id, kind, shape)
    }
  }

  private mutating func draw(_ runs: ArraySlice<Run>, of kind: TileShape.Kind, _ values: [Double], shift: Double) {
    values.withUnsafeBufferPointer { values in
      var hasShell = false
      for run in runs where run.kind == kind {
        let part = UnsafeBufferPointer(rebasing: values[run.start..<run.end])
        switch kind {
        case .point: shape.addPoints(part, shift: shift)
        case .line: shape.addLine(part, shift: shift)
        case .polygon:
          // A hole is nothing without what it is in.
          if run.isHole, !hasShell { continue }
          let isDrawn = shape.addRing(part, shift: shift, isHole: run.isHole)
          if !run.isHole { hasShell = isDrawn }
        }
      }
    }
  }
}
