// Joins the features of two layers or overlays: chooses which side is searched, and transforms to a common reference.

import FeatureStore
import Filtering
import GeoModel
import Geometry
import Proximity
import Synchronization

/// A join of features with others.
package struct FeatureJoin: Sendable {
  package enum Relationship: Sendable {
    case related(SpatialRelation)
    /// The nearest features, all if `count` is nil, within a distance: in metres, or planar in units of the features' reference.
    case near(count: Int?, radius: Double, planar: Bool)
  }

  package let features: FeatureQuery
  package let joined: FeatureQuery
  private let relationship: Relationship
  private let transformer: any CoordinateTransformer
  private let geodesy: any Geodesy
  private let wrap: WorldWrap?

  /// Pairs of some of the features.
  package struct Block: Sendable {
    /// The rows of the features, in drawing order.
    package let rows: ArraySlice<UInt32>
    /// Pairs of rows of the features and of the joined features; the pairs of one row are adjacent.
    package let pairs: RowPairs
    /// Distance of each pair; only by distance.
    package var distances: [Double] = []
  }

  /// Maximum number of pairs in memory at a time: eight bytes per pair, three times.
  private static let pairLimit = 20_000_000
  /// Rows of a block.
  private static let blockSize = 1024
  /// Blocks that are computed side by side.
  private static let blocksAtOnce = 16

  private struct TooManyPairs: Error {}

  package init(
    _ features: FeatureQuery, with joined: FeatureQuery, _ relationship: Relationship, in world: borrowing World
  ) throws {
    (self.features, self.joined, self.relationship) = (features, joined, relationship)
    (transformer, geodesy) = (world.transformer, world.geodesy)
    wrap = WorldWrap(try world.transformer.describe(features.reference), world.transformer)
  }

  /// The same join of others, both in the same reference.
  package func comparing(_ features: FeatureQuery, _ joined: FeatureQuery) throws -> FeatureJoin {
    FeatureJoin(features, joined, relationship, transformer, geodesy, try WorldWrap(transformer.describe(features.reference), transformer))
  }

  private init(
    _ features: FeatureQuery, _ joined: FeatureQuery, _ relationship: Relationship, _ transformer: any CoordinateTransformer,
    _ geodesy: any Geodesy, _ wrap: WorldWrap?
  ) {
    (self.features, self.joined, self.relationship) = (features, joined, relationship)
    (self.transformer, self.geodesy, self.wrap) = (transformer, geodesy, wrap)
  }

  /// The reference in which both sides are compared.
  private var reference: SpatialReference {
    if case .near(_, _, planar: false) = relationship { return .wgs84 }
    return features.reference
  }

  package var effort: Int {
    let moving = [features, joined].filter { $0.reference != reference }.map { $0.store.count * FeatureQuery.transformCost }
    return features.effort + joined.effort + moving.reduce(0, +) + (features.store.count + joined.store.count) * 50
  }

  /// Calls `body` with all pairs, block by block in drawing order of the features.
  package func forEachBlock(_ share: WorkShare, _ body: (Block) throws -> Void) throws {
    let shares = share.split(by: features.effort, joined.effort * 2, effort)
    let rows = try features.rows(shares[0])
    let joinedRows = joined.isAll ? nil : try joined.rows(shares[1])
    let other = try Side(joined, joinedRows, in: reference, transformer, shares[1])
    switch relationship {
    case .related(let relation):
      let all = try other.rows ?? other.store.rowsAscending { _ in try share.work?.checkCancelled() }
      if drivesJoined(rows.count, other.store, all.count),
        let pairs = try pairs(relation, rows, other.store, all, shares[2])
      {
        return try body(Block(rows: rows[...], pairs: other.own(pairs)))
      }
      let join = SpatialJoin(
        relation.converse, of: other.store, rows: other.rows.map { RowSet($0) }, to: features.store,
        shifts: shifts(meeting: other.store.reach), seam: wrap?.seam)
      try run(rows, shares[2], body) { slice, count in
        (other.own(try join.pairs(slice, counting: count) { try share.work?.checkCancelled() }), [])
      }
    case .near(let count, let radius, let isPlanar):
      let own = try Side(features, rows, in: reference, transformer, shares[0])
      let query = NearestQuery(
        other.store, rows: other.rows.map { RowSet($0) }, count: count ?? .max, radius: radius,
        checking: shares[2].boundedCheck())
      try run(rows, shares[2], body) { slice, count in
        var pairs = RowPairs()
        var distances: [Double] = []
        for row in slice {
          try query.check()
          guard let geometry = own.geometry(of: row) else { continue }
          let found = try isPlanar ? query.planar(to: geometry) : query.geodetic(to: geometry, geodesy)
          try count(found.count)
          for each in found {
            pairs.append(row, each.row)
            distances.append(each.distance)
          }
        }
        return (other.own(pairs), distances)
      }
    }
  }

  /// Computes blocks of rows side by side. Blocks that have too many pairs are made smaller.
  private func run(
    _ rows: [UInt32], _ share: WorkShare, _ body: (Block) throws -> Void,
    _ pairs: @escaping @Sendable (ArraySlice<UInt32>, (Int) throws -> Void) throws -> (RowPairs, [Double])
  ) throws {
    var start = 0
    var size = Self.blockSize
    while start < rows.count {
      let end = min(start + size * Self.blocksAtOnce, rows.count)
      let slices = stride(from: start, to: end, by: size).map { rows[$0..<min($0 + size, end)] }
      let blocks: [Block]
      do {
        let part = share.part(from: start, to: end, of: rows.count)
        blocks = try part.concurrently(slices.count) { index in
          var total = 0
          let found = try pairs(slices[index]) { count in
            total += count
            if total > Self.pairLimit / Self.blocksAtOnce, slices[index].count > 1 { throw TooManyPairs() }
          }
          return Block(rows: slices[index], pairs: found.0, distances: found.1)
        }
      } catch is TooManyPairs {
        size = max(size / 8, 1)
        continue
      }
      for block in blocks { try body(block) }
      (start, size) = (end, min(size * 2, Self.blockSize))
    }
  }

  // MARK: Sides

  /// The features of a query in the reference of the join.
  private struct Side: Sendable {
    private let query: FeatureQuery
    let store: FeatureStore
    /// The rows of ``store``; nil for all.
    let rows: [UInt32]?
    /// The query's rows, by row of ``store``; nil if they are the same.
    private let ownRows: [UInt32]?

    init(
      _ query: FeatureQuery, _ rows: [UInt32]?, in reference: SpatialReference, _ transformer: any CoordinateTransformer,
      _ share: WorkShare
    ) throws {
      self.query = query
      guard query.reference != reference else {
        (store, self.rows, ownRows) = (query.store, rows, nil)
        return
      }
      store = try query.moved(rows, to: reference, transformer, share)
      self.rows = nil
      let ids = try store.ids(of: Array(0..<UInt32(store.rowLimit)), checking: share.checkpoint)
      ownRows = ids.map { query.store.row(of: $0) ?? 0 }
    }

    /// Converts pairs whose right rows are of ``store`` to pairs with rows of the query.
    func own(_ pairs: RowPairs) -> RowPairs {
      guard let ownRows else { return pairs }
      return pairs.replacingRight { ownRows[Int($0)] }
    }

    /// The geometry of a row of the query; nil if it has none here.
    func geometry(of row: UInt32) -> Geometry? {
      guard ownRows != nil else { return store[row]?.geometry }
      return query.store[row].flatMap { store.feature(id: $0.id)?.geometry }
    }
  }

  // MARK: Relations

  /// Whether each joined feature searches the others, rather than the reverse. Polygons search points; otherwise the smaller side
  /// searches the larger.
  private func drivesJoined(_ rows: Int, _ other: FeatureStore, _ otherRows: Int) -> Bool {
    if features.store.isOfPoints != other.isOfPoints { return features.store.isOfPoints }
    return otherRows <= rows
  }

  /// All pairs, found by the joined features; nil if they are too many.
  private func pairs(
    _ relation: SpatialRelation, _ rows: [UInt32], _ other: FeatureStore, _ otherRows: [UInt32], _ share: WorkShare
  ) throws -> RowPairs? {
    let join = SpatialJoin(
      relation, of: features.store, rows: features.isAll ? nil : RowSet(rows), to: other,
      shifts: shifts(meeting: features.store.reach), seam: wrap?.seam)
    let size = Self.blockSize
    let total = Atomic(0)
    do {
      let parts = try share.concurrently((otherRows.count + size - 1) / size) { part in
        try join.pairs(
          otherRows[part * size..<min((part + 1) * size, otherRows.count)],
          counting: { count in
            guard total.wrappingAdd(count, ordering: .relaxed).newValue <= Self.pairLimit else { throw TooManyPairs() }
          }, checking: { try share.work?.checkCancelled() })
      }
      let pairs = RowPairs(joining: parts).exchanged()
      return features.store.drawsInOrderOfRows ? pairs : pairs.ordered(by: rows)
    } catch is TooManyPairs { return nil }
  }

  private func shifts(meeting extent: Envelope?) -> @Sendable (Envelope) -> [Double] {
    guard let wrap, let extent else { return { _ in [0] } }
    return { wrap.shifts(of: $0, over: extent) }
  }
}
