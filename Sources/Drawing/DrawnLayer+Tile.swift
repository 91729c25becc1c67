// What a layer or an overlay draws in a tile, as a Mapbox Vector Tile.

import FeatureStore
import GeoModel
import Geometry
import Sorting
import VectorTiles

/// Which tile is wanted, and how much of it.
package struct TileOptions: Sendable {
  package let address: TileAddress
  /// The attributes; nil for all.
  package var properties: [String]?
  /// Whether to add what a style needs; see ``LayerStyle``.
  package var portrayal = true
  package var maxFeatures = 10_000
  /// Of the tile; nil for no limit.
  package var maxBytes: Int?
  /// Makes areas on the grid valid, on the grid; nil where that is not possible.
  package typealias Mend = @Sendable (Geometry) throws -> Geometry?
  package let mend: Mend

  package init(_ address: TileAddress, mending mend: @escaping Mend) { (self.address, self.mend) = (address, mend) }
}

/// A tile, and what is not in it.
package struct DrawnTile: Sendable {
  package let data: [UInt8]
  package let featureCount: Int
  /// Features left out to keep to the limits.
  package var omittedCount = 0
  /// Features with a position that has no coordinates in Web Mercator, or areas that cannot be made valid.
  package let failedCount: Int
}

extension DrawnLayer {
  /// The attributes of its tiles with their types; those of clusters where it may have them.
  package var tileFields: [Field] {
    let (own, ofClusters) = (store.schema.fields, clusterPortrayal?.attributes.schema.fields ?? [])
    return own + ofClusters.filter { field in !own.contains { $0.name == field.name } }
  }

  /// The tile.
  ///
  /// - Parameters:
  ///   - boxes: in the layer's reference, at least where the tile lies; nil if no bound is known.
  ///   - check: called every few milliseconds.
  /// - Complexity: O(log n + features in the boxes).
  package func tile(
    _ options: TileOptions, in boxes: [Envelope]?, _ transformer: any CoordinateTransformer, checking check: CancellationCheck
  ) throws -> DrawnTile {
    let clusters = try clusters { try check(0.3 * $0) }
    var nodes: [DrawnItem] = []
    try clusters?.forEachItem(in: boxes, selectionColor: selectionColor, checking: { try check(0.3 + 0.1 * $0) }) { nodes.append($0) }
    let bend = try transformer.bend(from: reference, to: .webMercator)
    let rows = try drawnRows(in: boxes, bent: bend, clusters) { try check(0.4 + 0.1 * $0) }
    var limit = options.maxFeatures
    while true {
      let shownNodes = nodes.prefix(limit)
      let shown = try thinned(rows, to: limit - shownNodes.count, checking: check)
      var writer = try TileWriter(self, options, transformer)
      try writer.add(shown) { try check(0.5 + 0.4 * $0) }
      try writer.add(shownNodes)
      var tile = writer.tile()
      let used = shown.count + shownNodes.count
      tile.omittedCount = rows.count + nodes.count - used
      guard let maxBytes = options.maxBytes, tile.data.count > maxBytes, used > 0 else { return tile }
      // A little fewer than fit in proportion, as features differ in size.
      limit = min(used - 1, Int(Double(used) * Double(maxBytes) / Double(tile.data.count) * 0.9))
    }
  }

  /// The rows that are drawn by themselves, in drawing order.
  func drawnRows(
    in boxes: [Envelope]?, bent bend: Double? = nil, _ clusters: DrawnClusters?, checking check: CancellationCheck
  ) throws -> [UInt32] {
    let found = try boxes.map { try store.rows(in: $0, bent: bend, checking: check) } ?? store.rowsAscending(checking: check)
    var rows: [UInt32] = []
    // Filters are applied to parts, so that many rows can be cancelled.
    for start in stride(from: 0, to: found.count, by: 4096) {
      try check(Double(start) / Double(found.count))
      let part = Array(found[start..<min(start + 4096, found.count)])
      for row in features?.shown(part) ?? part where clusters?.isSingle(row) ?? true {
        guard let feature = store[row], feature.isVisible, isDrawn?(feature) ?? true,
          symbols.hasSymbol(feature) || !labels.labels(of: feature).isEmpty
        else { continue }
        rows.append(row)
      }
    }
    return try store.sortedForDrawing(rows, checking: check)
  }

  /// The largest of the rows by the greater side of their box; of those of equal size, those with the greatest mixed id.
  func thinned(_ rows: [UInt32], to limit: Int, checking check: CancellationCheck) throws -> [UInt32] {
    guard rows.count > limit else { return rows }
    guard limit > 0 else { return [] }
    var items: [SortItem] = []
    items.reserveCapacity(rows.count)
    for (index, row) in rows.enumerated() {
      if index & 0xfff == 0 { try check(0.5) }
      guard let feature = store[row] else { continue }
      let box = feature.point == nil ? feature.envelope : nil
      // Two bits of the fraction: sizes are compared in steps of a quarter.
      let size = box.map { max($0.width, $0.height).bitPattern >> 50 } ?? 0
      items.append(SortItem(key: ~(size << 50 | feature.id.mixed >> 14), row: UInt32(index)))
    }
    try SortItem.sort(&items) { _ in try check(0.5) }
    return items.prefix(limit).map(\.row).sorted().map { rows[Int($0)] }
  }
}

extension Int {
  /// Bits that look random (the finalizer of SplitMix64: Steele, Lea and Flood, 2014).
  fileprivate var mixed: UInt64 {
    var bits = UInt64(bitPattern: Int64(self)) &+ 0x9e37_79b9_7f4a_7c15
    bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
    return bits ^ bits >> 31
  }
}
