// The handler of `feature/join`: pairs, or counts and statistics, in columns.

import FeatureStore
import Filtering
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import Statistics
import WireCoding

extension FeatureService {
  package static func join(_ params: Join.Params, in world: inout World) throws -> Plan<Join.Result> {
    let made = try JoinPlan(params, in: world)
    let (join, page) = (made.join, JoinPlan.Page(offset: params.offset, limit: params.limit))
    let revision = world.revision
    return try plan(effort: join.effort) { share in
      let shares = share.split(by: 8, 1)
      func result(_ rows: [UInt32], _ pairCount: Int) throws -> Join.Result {
        let ids = try ids(rows, join.features, shares[1])
        return Join.Result(revision: revision, exceededLimit: false, pairCount: pairCount, ids: ids)
      }
      switch made.output {
      case .pairs:
        var found = RowPairs()
        var distances: [Double] = []
        let pairs = try made.forEachPair(on: page, shares[0]) { left, right, distance in
          found.append(left, right)
          if let distance { distances.append(distance) }
        }
        return try .cut(params.maxBytes, found.count, after: page.start, hasMore: page.end < pairs) { count in
          var result = try result(Array(found.left.prefix(count)), pairs)
          let right = Array(found.right.prefix(count))
          result.joinedIds = try ids(right, join.joined, shares[1])
          if made.isByDistance { result.distances = PackedColumn.doubles(Array(distances.prefix(count))) }
          if let columns = made.columns {
            let store = join.joined.store
            result.joinedColumns = try attributes(columns, of: right.lazy.map { store[$0] }, store, share)
          }
          return result
        }
      case .counts:
        var (rows, counts) = ([UInt32](), [Int64]())
        var columns = made.statistics.map { _ in AttributeColumn(joinsNumbers: true) }
        var figures = columns.map { _ in [AttributeValue]() }
        let all = try made.forEachCount(on: page, shares[0]) { row, count, totals in
          rows.append(row)
          counts.append(Int64(count))
          for index in columns.indices {
            columns[index].append(totals.figure(index, of: 0))
            if params.maxBytes != nil { figures[index].append(totals.figure(index, of: 0)) }
          }
          // The same text may be the statistic of many features.
          if !columns.isEmpty { try share.checkSize(columns.reduce(0) { $0 + $1.byteCount }) }
        }
        return try .cut(params.maxBytes, rows.count, after: page.start, hasMore: page.end < all.features) { count in
          var result = try result(Array(rows.prefix(count)), all.pairs)
          result.counts = PackedColumn.integers(Array(counts.prefix(count)))
          if !made.aggregates.isEmpty {
            let shown = count == rows.count ? columns : figures.map { AttributeColumn($0.prefix(count), joinsNumbers: true) }
            result.aggregates = Dictionary(
              uniqueKeysWithValues: zip(made.aggregates.map(\.name.string), shown.map(\.column)))
          }
          return result
        }
      }
    }
  }

  private static func ids(_ rows: [UInt32], _ features: FeatureQuery, _ share: WorkShare) throws -> JSONOpaque {
    PackedColumn.integers(try features.store.ids(of: rows, checking: share.checkpoint).map(Int64.init))
  }

  /// The joined features, selected in the same way as those of a query.
  static func joined(_ source: FeatureProtocol.JoinSource, named name: String = "join", in world: World) throws -> FeatureQuery {
    let filter = FeatureProtocol.QueryIds.Params(
      layer: source.layer, overlay: source.overlay, entitySource: source.entitySource, entityFeatures: source.entityFeatures,
      ids: source.ids, whereClause: source.whereClause)
    do { return try FeatureQuery(filter, in: world) } catch { throw NestedError(error, in: name) }
  }

  fileprivate static func relationship(_ params: some FeatureProtocol.JoinOptions) throws -> FeatureJoin.Relationship {
    func refused(_ name: String, _ message: String, _ expected: String) -> RPCError {
      RPCError(.invalidParams, "\(name) \(message).", path: "/params/\(name)", expected: expected)
    }
    let relation: SpatialRelation
    switch params.relationship {
    case .nearest:
      return .near(count: params.nearestCount ?? 1, radius: params.maxDistance ?? .infinity, planar: params.planar)
    case .withinDistance:
      guard params.nearestCount == nil else {
        throw refused("nearestCount", "belongs to the relationship nearest", "absent, or the relationship nearest")
      }
      guard let radius = params.maxDistance else {
        throw refused("maxDistance", "is needed by the relationship withinDistance", "number not below 0")
      }
      return .near(count: nil, radius: radius, planar: params.planar)
    case .intersects: relation = .intersects
    case .within: relation = .within
    case .contains: relation = .contains
    case .crosses: relation = .crosses
    case .overlaps: relation = .overlaps
    case .touches: relation = .touches
    case .equals: relation = .equals
    case .envelopeIntersects: relation = .envelopeIntersects
    }
    let given = [
      ("nearestCount", params.nearestCount != nil), ("maxDistance", params.maxDistance != nil), ("planar", params.planar),
    ]
    guard let name = given.first(where: \.1)?.0 else { return .related(relation) }
    throw refused(
      name, "belongs to the relationships by distance",
      name == "nearestCount" ? "absent, or the relationship nearest" : "absent, or the relationship nearest or withinDistance")
  }
}

/// A join with what is wanted of it, checked.
struct JoinPlan: Sendable {
  let join: FeatureJoin
  let aggregates: [NamedStatistic]
  let statistics: [Statistic]
  /// The attributes of joined features; nil for none.
  let columns: [Int]?
  let output: FeatureProtocol.JoinOutput
  let isByDistance: Bool

  init(_ params: some FeatureProtocol.FeatureFilter & FeatureProtocol.JoinOptions, in world: World) throws {
    let join = try FeatureJoin(
      FeatureQuery(params, in: world), with: FeatureService.joined(params.join, in: world),
      FeatureService.relationship(params), in: world)
    self.join = join
    aggregates = (params.aggregates ?? []).map(Wire.statistic)
    statistics = try join.joined.store.schema.statistics(aggregates, at: "aggregates")
    // The result has columns by name, where names that differ only in how their accents are written are one.
    try QueryError.checkNames(aggregates.map(\.name.string), as: { $0 }) { "/aggregates/\($0)" }
    columns = try params.joinProperties.map { try join.joined.columns($0, at: "joinProperties") }
    output = params.output
    isByDistance = params.relationship == .nearest || params.relationship == .withinDistance
    if output == .pairs, !aggregates.isEmpty {
      throw RPCError(
        .invalidParams, "Figures are about all that a feature is joined with.", path: "/params/aggregates",
        expected: "absent, or the output counts")
    }
    if output == .counts, columns != nil {
      throw RPCError(
        .invalidParams, "Attributes belong to pairs.", path: "/params/joinProperties",
        expected: "absent, or the output pairs")
    }
  }

  /// The part of the results to return.
  struct Page {
    let start: Int
    let end: Int

    init(offset: Int, limit: Int) {
      let sum = offset.addingReportingOverflow(limit)
      (start, end) = (offset, sum.overflow ? .max : sum.partialValue)
    }

    /// The part of `count` items, of which `before` precede them all.
    func range(of count: Int, after before: Int) -> Range<Int> {
      let first = min(max(start - before, 0), count)
      return first..<max(first, min(end - before, count))
    }
  }

  /// Calls `body` with each pair on a page, and its distance if the join is by distance.
  ///
  /// - Returns: the number of all pairs.
  func forEachPair(
    on page: Page, _ share: WorkShare, _ body: (UInt32, UInt32, Double?) throws -> Void
  ) throws -> Int {
    var count = 0
    try join.forEachBlock(share) { block in
      for index in page.range(of: block.pairs.count, after: count) {
        let distance = block.distances.isEmpty ? nil : block.distances[index]
        try body(block.pairs.left[index], block.pairs.right[index], distance)
      }
      count += block.pairs.count
    }
    return count
  }

  /// Calls `body` with each feature on a page, the number of features that it is joined with, and their statistics.
  ///
  /// - Returns: the numbers of all features and pairs.
  func forEachCount(
    on page: Page, _ share: WorkShare, _ body: (UInt32, Int, StatisticTotals) throws -> Void
  ) throws -> (features: Int, pairs: Int) {
    let store = join.joined.store
    var totals = StatisticTotals(statistics, in: store.schema)
    var all = (features: 0, pairs: 0)
    try join.forEachBlock(share) { block in
      let wanted = Array(block.rows)[page.range(of: block.rows.count, after: all.features)]
      all = (all.features + block.rows.count, all.pairs + block.pairs.count)
      let ranges = wanted.isEmpty ? [:] : block.pairs.ranges
      for (number, row) in wanted.enumerated() {
        if number & 255 == 0 { try share.work?.checkCancelled() }
        let joined = block.pairs.right[ranges[row] ?? 0..<0]
        if !statistics.isEmpty {
          totals.removeAll()
          totals.reserve(1)
          for (number, row) in joined.enumerated() {
            if number & 0x3ff == 0x3ff { try share.work?.checkCancelled() }
            if let feature = store[row] { totals.add(feature, to: 0) }
          }
        }
        try body(row, joined.count, totals)
      }
    }
    return all
  }

  // MARK: Tables

  /// The columns of the result as a table.
  var fields: [(String, FieldType?)] {
    let schema = join.joined.store.schema
    switch output {
    case .pairs:
      return [("id", .integer), ("joinedId", .integer)] + (isByDistance ? [("distance", .double)] : [])
        + (columns ?? []).map { (schema.name(of: $0), schema.declaredType(of: $0)) }
    case .counts:
      return [("id", .integer), ("count", .integer)]
        + zip(aggregates, statistics).map { ($0.name.string, schema.resultType(of: $1)) }
    }
  }

  /// The result as a table, and whether there are more rows.
  func table(_ page: Page, _ share: WorkShare) throws -> (store: FeatureStore, exceeded: Bool) {
    let (left, right) = (join.features.store, join.joined.store)
    func id(_ row: UInt32, _ store: FeatureStore) -> AttributeValue { store[row].map { .integer(Int64($0.id)) } ?? .null }
    var rows = TableRows(fields)
    let count: Int
    switch output {
    case .pairs:
      count = try forEachPair(on: page, share) { first, second, distance in
        let joined = right[second]
        let attributes = (columns ?? []).map { joined?.value($0) ?? .null }
        try rows.append([id(first, left), id(second, right)] + (distance.map { [.double($0)] } ?? []) + attributes)
      }
    case .counts:
      count = try forEachCount(on: page, share) { row, count, totals in
        try rows.append([id(row, left), .integer(Int64(count))] + (statistics.isEmpty ? [] : totals.figures(of: 0)))
      }.features
    }
    return (try rows.store(), page.end < count)
  }
}
