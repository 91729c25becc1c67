// Joins the features of two layers or overlays: what drives the search, and the references.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Query
import Synchronization
import WireCoding

/// The features that are joined are selected as those of a query are.
extension FeatureProtocol.JoinSource: FeatureProtocol.FeatureFilter {
  public var envelope: SessionProtocol.Envelope? { nil }
  public var geometry: JSONOpaque? { nil }
  public var spatialRelationship: FeatureProtocol.SpatialRelationship { .intersects }
  public var relation: String? { nil }
  public var spatialReference: String? { nil }
  public var isSelected: Bool? { nil }
  public var timeExtent: LayerProtocol.TimeExtent? { nil }
}

/// A join of features with others.
struct FeatureJoin: Sendable {
  let features: FeatureQuery
  let joined: FeatureQuery
  private let relationship: FeatureProtocol.JoinRelationship
  private let nearestCount: Int
  private let radius: Double
  private let transformer: any CoordinateTransformer
  private let geodesy: any Geodesy
  private let wrap: WorldWrap?

  /// Pairs with distances, and the store whose rows the right ones are.
  struct Answer {
    var pairs = RowPairs()
    var distances: [Double] = []
    let joined: FeatureStore
  }

  /// Bounds memory: eight bytes a pair, three times over.
  private static let pairLimit = 20_000_000

  init(_ params: FeatureProtocol.Join.Params, in world: World) throws {
    features = try FeatureQuery(params, in: world)
    joined = try Self.joined(params.join, in: world)
    (transformer, geodesy) = (world.transformer, world.geodesy)
    try Self.checkNearest(params)
    (relationship, nearestCount) = (params.relationship, params.nearestCount ?? 1)
    radius = params.maxDistance ?? .infinity
    wrap = WorldWrap(try world.transformer.describe(features.reference), world.transformer)
  }

  /// The joined features; errors have paths below `/params/join`.
  private static func joined(_ source: FeatureProtocol.JoinSource, in world: World) throws -> FeatureQuery {
    do { return try FeatureQuery(source, in: world, conditionAt: "/join/whereClause") } catch let error as ModelError {
      // The path of a condition starts from the params already.
      if case .expression = error { throw error }
      let document = try JSONDocument(FeatureProtocol.JoinSource(layer: source.layer, overlay: source.overlay).jsonText)
      throw document.read { RPCError(error, in: $0, at: "/params/join", world) } ?? error
    }
  }

  private static func checkNearest(_ params: FeatureProtocol.Join.Params) throws {
    guard params.relationship != .nearest else { return }
    let given = [("nearestCount", params.nearestCount != nil), ("maxDistance", params.maxDistance != nil)]
    guard let name = given.first(where: \.1)?.0 else { return }
    throw RPCError(
      .invalidParams, "\(name) belongs to the relationship nearest.", path: "/params/\(name)",
      expected: "absent, or the relationship nearest")
  }

  var effort: Int {
    let moving = features.reference == joined.reference ? 0 : joined.store.count * FeatureQuery.transformCost
    return features.effort + joined.effort + moving + (features.store.count + joined.store.count) * 50
  }

  func answer(_ share: WorkShare) throws -> Answer {
    let shares = share.split(by: features.effort, joined.effort * 2, effort)
    let rows = try features.rows(shares[0])
    let joinedRows = joined.isAll ? nil : try joined.rows(shares[1])
    if relationship == .nearest { return try nearest(rows, joinedRows, shares[2]) }
    guard features.reference != joined.reference else {
      return try pairs(rows, joined.store, joinedRows, shares[2])
    }
    let moved = try joined.moved(joinedRows, to: features.reference, transformer, shares[1])
    return try pairs(rows, moved, nil, shares[2])
  }

  // MARK: Relations

  private var relation: SpatialRelation {
    switch relationship {
    case .intersects, .nearest: .intersects
    case .within: .within
    case .contains: .contains
    case .crosses: .crosses
    case .overlaps: .overlaps
    case .touches: .touches
    case .equals: .equals
    case .envelopeIntersects: .envelopeIntersects
    }
  }

  /// Polygons look for points; otherwise the fewer features look for the more.
  private func drivesJoined(_ rows: Int, _ other: FeatureStore, _ otherRows: Int) -> Bool {
    if features.store.isOfPoints != other.isOfPoints { return features.store.isOfPoints }
    return otherRows <= rows
  }

  private func pairs(
    _ rows: [UInt32], _ other: FeatureStore, _ otherRows: [UInt32]?, _ share: WorkShare
  ) throws -> Answer {
    var answer = Answer(joined: other)
    let all = try otherRows ?? other.rowsAscending { _ in try share.worker?.checkCancelled() }
    if drivesJoined(rows.count, other, all.count) {
      let join = SpatialJoin(
        relation, of: features.store, rows: features.isAll ? nil : RowSet(rows), to: other,
        shifts: shifts(meeting: features.store.extent))
      answer.pairs = try run(join, all, share).exchanged()
      if features.store.drawsInOrderOfRows { return answer }
      answer.pairs = answer.pairs.ordered(by: rows)
    } else {
      let join = SpatialJoin(
        relation.converse, of: other, rows: otherRows.map { RowSet($0) }, to: features.store,
        shifts: shifts(meeting: other.extent))
      answer.pairs = try run(join, rows, share)
    }
    return answer
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
            throw RPCError.resultTooLarge(limit: Self.pairLimit)
          }
        }, checking: { try share.worker?.checkCancelled() })
    }
    return RowPairs(joining: parts)
  }

  // MARK: Nearest

  private func nearest(_ rows: [UInt32], _ joinedRows: [UInt32]?, _ share: WorkShare) throws -> Answer {
    let shares = share.split(by: 1, 4)
    let isMoved = joined.reference != .wgs84
    let store = isMoved ? try joined.moved(joinedRows, to: .wgs84, transformer, shares[0]) : joined.store
    let query = NearestQuery(
      store, rows: isMoved ? nil : joinedRows.map { RowSet($0) }, count: nearestCount, radius: radius)
    let positions = PlacePositions(of: features, transformer, geodesy)
    let size = 256
    let parts = try shares[1].concurrently((rows.count + size - 1) / size) { part in
      var pairs = RowPairs()
      var distances: [Double] = []
      for row in rows[part * size..<min((part + 1) * size, rows.count)] {
        try share.worker?.checkCancelled()
        guard let feature = features.store[row], let place = positions.point(of: feature, in: .wgs84) else { continue }
        let check = { try share.worker?.checkCancelled() ?? () }
        for each in try query.geodetic(to: place, geodesy, checking: check) {
          pairs.append(row, each.row)
          distances.append(each.distance)
        }
      }
      return (pairs, distances)
    }
    return Answer(pairs: RowPairs(joining: parts.map(\.0)), distances: parts.flatMap(\.1), joined: store)
  }
}

extension RowPairs {
  /// The same pairs in the order of rows on the left; those of one row keep theirs.
  func ordered(by rows: [UInt32]) -> RowPairs {
    var starts: [UInt32: Int] = [:]
    for index in left.indices where index == 0 || left[index - 1] != left[index] { starts[left[index]] = index }
    var result = RowPairs()
    for row in rows {
      guard var index = starts[row] else { continue }
      while index < count, left[index] == row {
        result.append(row, right[index])
        index += 1
      }
    }
    return result
  }
}
