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
    /// The nearest `count` features, within `radius` metres.
    case nearest(count: Int, radius: Double)
  }

  package let features: FeatureQuery
  package let joined: FeatureQuery
  private let relationship: Relationship
  private let transformer: any CoordinateTransformer
  private let geodesy: any Geodesy
  private let wrap: WorldWrap?

  package struct Answer {
    /// The rows of the features, in drawing order.
    package let rows: [UInt32]
    /// Pairs of rows of the features and of the joined features; the pairs of one row are adjacent.
    package let pairs: RowPairs
    /// Distance of each pair; only for the relationship `nearest`.
    package var distances: [Double] = []
  }

  /// Maximum number of pairs, which bounds memory: eight bytes per pair, three times.
  private static let pairLimit = 20_000_000

  package init(
    _ features: FeatureQuery, with joined: FeatureQuery, _ relationship: Relationship, in world: borrowing World
  ) throws {
    (self.features, self.joined, self.relationship) = (features, joined, relationship)
    (transformer, geodesy) = (world.transformer, world.geodesy)
    wrap = WorldWrap(try world.transformer.describe(features.reference), world.transformer)
  }

  package var effort: Int {
    let moving = features.reference == joined.reference ? 0 : joined.store.count * FeatureQuery.transformCost
    return features.effort + joined.effort + moving + (features.store.count + joined.store.count) * 50
  }

  package func answer(_ share: WorkShare) throws -> Answer {
    let shares = share.split(by: features.effort, joined.effort * 2, effort)
    let rows = try features.rows(shares[0])
    let joinedRows = joined.isAll ? nil : try joined.rows(shares[1])
    switch relationship {
    case .nearest(let count, let radius): return try nearest(count, radius, rows, joinedRows, shares[2])
    case .related(let relation):
      guard features.reference != joined.reference else {
        return Answer(rows: rows, pairs: try pairs(relation, rows, joined.store, joinedRows, shares[2]))
      }
      let moved = try joined.moved(joinedRows, to: features.reference, transformer, shares[1])
      return Answer(rows: rows, pairs: try own(try pairs(relation, rows, moved, nil, shares[2]), of: moved, share))
    }
  }

  /// Converts pairs with transformed features to pairs with the joined features, which have the same ids.
  private func own(_ pairs: RowPairs, of moved: FeatureStore, _ share: WorkShare) throws -> RowPairs {
    let ids = try moved.ids(of: Array(0..<UInt32(moved.rowLimit)), checking: share.checkpoint)
    let rows = ids.map { joined.store.row(of: $0) ?? 0 }
    return pairs.replacingRight { rows[Int($0)] }
  }

  // MARK: Relations

  /// Whether each joined feature searches the others, rather than the reverse. Polygons search points; otherwise the smaller side
  /// searches the larger.
  private func drivesJoined(_ rows: Int, _ other: FeatureStore, _ otherRows: Int) -> Bool {
    if features.store.isOfPoints != other.isOfPoints { return features.store.isOfPoints }
    return otherRows <= rows
  }

  private func pairs(
    _ relation: SpatialRelation, _ rows: [UInt32], _ other: FeatureStore, _ otherRows: [UInt32]?, _ share: WorkShare
  ) throws -> RowPairs {
    let all = try otherRows ?? other.rowsAscending { _ in try share.work?.checkCancelled() }
    if drivesJoined(rows.count, other, all.count) {
      let join = SpatialJoin(
        relation, of: features.store, rows: features.isAll ? nil : RowSet(rows), to: other,
        shifts: shifts(meeting: features.store.extent))
      let pairs = try run(join, all, share).exchanged()
      return features.store.drawsInOrderOfRows ? pairs : pairs.ordered(by: rows)
    }
    let join = SpatialJoin(
      relation.converse, of: other, rows: otherRows.map { RowSet($0) }, to: features.store,
      shifts: shifts(meeting: other.extent))
    return try run(join, rows, share)
  }

  private func shifts(meeting extent: Envelope?) -> @Sendable (Envelope) -> [Double] {
    guard let wrap, let extent else { return { _ in [0] } }
    return { wrap.shifts(of: $0, over: extent) }
  }

  private func run(_ join: SpatialJoin, _ rows: [UInt32], _ share: WorkShare) throws -> RowPairs {
    let size = 1024
    let total = Atomic(0)
    let parts = try share.concurrently((rows.count + size - 1) / size) { part in
      let slice = rows[part * size..<min((part + 1) * size, rows.count)]
      return try join.pairs(
        slice,
        counting: { count in
          guard total.wrappingAdd(count, ordering: .relaxed).newValue <= Self.pairLimit else {
            throw QueryError.resultTooLarge(limit: Self.pairLimit)
          }
        }, checking: { try share.work?.checkCancelled() })
    }
    return RowPairs(joining: parts)
  }

  // MARK: Nearest

  private func nearest(
    _ count: Int, _ radius: Double, _ rows: [UInt32], _ joinedRows: [UInt32]?, _ share: WorkShare
  ) throws -> Answer {
    let shares = share.split(by: 1, 4)
    let isMoved = joined.reference != .wgs84
    let store = isMoved ? try joined.moved(joinedRows, to: .wgs84, transformer, shares[0]) : joined.store
    let query = NearestQuery(
      store, rows: isMoved ? nil : joinedRows.map { RowSet($0) }, count: count, radius: radius,
      checking: { try share.work?.checkCancelled() })
    let positions = PlacePositions(of: features, transformer, geodesy)
    let size = 256
    let parts = try shares[1].concurrently((rows.count + size - 1) / size) { part in
      var pairs = RowPairs()
      var distances: [Double] = []
      for row in rows[part * size..<min((part + 1) * size, rows.count)] {
        try share.work?.checkCancelled()
        guard let feature = features.store[row], let place = positions.point(of: feature, in: .wgs84) else { continue }
        for each in try query.geodetic(to: place, geodesy) {
          pairs.append(row, each.row)
          distances.append(each.distance)
        }
      }
      return (pairs, distances)
    }
    let pairs = RowPairs(joining: parts.map(\.0))
    return Answer(
      rows: rows, pairs: isMoved ? try own(pairs, of: store, shares[1]) : pairs, distances: parts.flatMap(\.1))
  }
}
