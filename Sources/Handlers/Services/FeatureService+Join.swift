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
    let join = try FeatureJoin(
      FeatureQuery(params, in: world), with: joined(params.join, in: world), relationship(params), in: world)
    let aggregates = (params.aggregates ?? []).map(Wire.statistic)
    let statistics = try join.joined.store.schema.statistics(aggregates, at: "aggregates")
    try StatisticsQuery.checkNames(aggregates.map(\.name.string)) { "/aggregates/\($0)" }
    if params.output == .pairs, !aggregates.isEmpty {
      throw RPCError(
        .invalidParams, "Figures are about all that a feature is joined with.", path: "/params/aggregates",
        expected: "absent, or the output counts")
    }
    let (revision, isNearest) = (world.revision, params.relationship == .nearest)
    let (output, offset, limit) = (params.output, params.offset, params.limit)
    return try plan(effort: join.effort) { share in
      let shares = share.split(by: 8, 1, 1)
      let answer = try join.answer(shares[0])
      let page = Page(offset: offset, limit: limit)
      var result = Join.Result(
        revision: revision, exceededLimit: false, pairCount: answer.pairs.count, ids: PackedColumn.integers([]))
      switch output {
      case .pairs: try setPairs(of: &result, answer, join, page, isNearest, shares[1])
      case .counts:
        let range = page.range(of: answer.rows.count)
        result.exceededLimit = range.upperBound < answer.rows.count
        let counted = Counted(rows: answer.rows[range], pairs: answer.pairs, of: join)
        result.ids = try counted.ids(shares[1])
        result.counts = counted.counts
        if !aggregates.isEmpty {
          let columns = try counted.columns(of: statistics, shares[2])
          result.aggregates = Dictionary(uniqueKeysWithValues: zip(aggregates.map(\.name.string), columns))
        }
      }
      return result
    }
  }

  /// The joined features, selected in the same way as those of a query.
  private static func joined(_ source: FeatureProtocol.JoinSource, in world: World) throws -> FeatureQuery {
    let filter = FeatureProtocol.QueryIds.Params(
      layer: source.layer, overlay: source.overlay, ids: source.ids, whereClause: source.whereClause)
    do { return try FeatureQuery(filter, in: world) } catch { throw NestedError(error, in: "join") }
  }

  private static func relationship(_ params: Join.Params) throws -> FeatureJoin.Relationship {
    let relation: SpatialRelation
    switch params.relationship {
    case .nearest: return .nearest(count: params.nearestCount ?? 1, radius: params.maxDistance ?? .infinity)
    case .intersects: relation = .intersects
    case .within: relation = .within
    case .contains: relation = .contains
    case .crosses: relation = .crosses
    case .overlaps: relation = .overlaps
    case .touches: relation = .touches
    case .equals: relation = .equals
    case .envelopeIntersects: relation = .envelopeIntersects
    }
    let given = [("nearestCount", params.nearestCount != nil), ("maxDistance", params.maxDistance != nil)]
    guard let name = given.first(where: \.1)?.0 else { return .related(relation) }
    throw RPCError(
      .invalidParams, "\(name) belongs to the relationship nearest.", path: "/params/\(name)",
      expected: "absent, or the relationship nearest")
  }

  /// The part of the results to return.
  private struct Page {
    let offset: Int
    let limit: Int

    func range(of count: Int) -> Range<Int> {
      let start = min(offset, count)
      return start..<start + min(limit, count - start)
    }
  }

  private static func setPairs(
    of result: inout Join.Result, _ answer: FeatureJoin.Answer, _ join: FeatureJoin, _ page: Page, _ isNearest: Bool,
    _ share: WorkShare
  ) throws {
    let range = page.range(of: answer.pairs.count)
    result.exceededLimit = range.upperBound < answer.pairs.count
    let left = try join.features.store.ids(of: Array(answer.pairs.left[range]), checking: share.checkpoint)
    let right = try join.joined.store.ids(of: Array(answer.pairs.right[range]), checking: share.checkpoint)
    result.ids = PackedColumn.integers(left.map(Int64.init))
    result.joinedIds = PackedColumn.integers(right.map(Int64.init))
    if isNearest { result.distances = PackedColumn.doubles(Array(answer.distances[range])) }
  }

  /// Features with their joined features.
  private struct Counted {
    private let rows: ArraySlice<UInt32>
    private let pairs: RowPairs
    private let ranges: [UInt32: Range<Int>]
    private let join: FeatureJoin

    init(rows: ArraySlice<UInt32>, pairs: RowPairs, of join: FeatureJoin) {
      (self.rows, self.pairs, self.join) = (rows, pairs, join)
      ranges = pairs.ranges
    }

    func ids(_ share: WorkShare) throws -> JSONOpaque {
      PackedColumn.integers(
        try join.features.store.ids(of: Array(rows), checking: share.checkpoint).map(Int64.init))
    }

    var counts: JSONOpaque { PackedColumn.integers(rows.map { Int64(ranges[$0]?.count ?? 0) }) }

    /// One column per statistic of the joined features.
    func columns(of statistics: [Statistic], _ share: WorkShare) throws -> [JSONOpaque] {
      let store = join.joined.store
      var totals = StatisticTotals(statistics, in: store.schema)
      var columns = statistics.map { _ in AttributeColumn(joinsNumbers: true) }
      var added = 0
      for (number, row) in rows.enumerated() {
        if number & 255 == 0 { try share.checkpoint(number, of: rows.count) }
        totals.removeAll()
        totals.reserve(1)
        for joined in pairs.right[ranges[row] ?? 0..<0] {
          added += 1
          if added & 0x3ff == 0 { try share.work?.checkCancelled() }
          if let feature = store[joined] { totals.add(feature, to: 0) }
        }
        for index in columns.indices { columns[index].append(totals.figure(index, of: 0)) }
        // The same text may be the statistic of many features.
        try share.checkSize(columns.reduce(0) { $0 + $1.byteCount })
      }
      return columns.map(\.column)
    }
  }
}
