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
    let columns = try params.joinProperties?.enumerated().map { index, name in
      try join.joined.column(name, at: "/joinProperties/\(index)")
    }
    if params.output == .pairs, !aggregates.isEmpty {
      throw RPCError(
        .invalidParams, "Figures are about all that a feature is joined with.", path: "/params/aggregates",
        expected: "absent, or the output counts")
    }
    if params.output == .counts, columns != nil {
      throw RPCError(
        .invalidParams, "Attributes belong to pairs.", path: "/params/joinProperties",
        expected: "absent, or the output pairs")
    }
    let isByDistance = params.relationship == .nearest || params.relationship == .withinDistance
    let (revision, output, page) = (world.revision, params.output, Page(offset: params.offset, limit: params.limit))
    return try plan(effort: join.effort) { share in
      let shares = share.split(by: 8, 1)
      var result = Join.Result(
        revision: revision, exceededLimit: false, pairCount: 0, ids: PackedColumn.integers([]))
      switch output {
      case .pairs:
        var found = PairPage(page: page)
        try join.forEachBlock(shares[0]) { found.add($0) }
        (result.pairCount, result.exceededLimit) = (found.count, page.end < found.count)
        result.ids = try ids(found.pairs.left[...], join.features, shares[1])
        result.joinedIds = try ids(found.pairs.right[...], join.joined, shares[1])
        if isByDistance { result.distances = PackedColumn.doubles(found.distances) }
        if let columns {
          let store = join.joined.store
          result.joinedColumns = try attributes(columns, of: found.pairs.right.lazy.map { store[$0] }, store, share)
        }
      case .counts:
        var counted = CountPage(page: page, statistics, join.joined.store)
        try join.forEachBlock(shares[0]) { try counted.add($0, share) }
        (result.pairCount, result.exceededLimit) = (counted.pairCount, page.end < counted.count)
        result.ids = try ids(counted.rows[...], join.features, shares[1])
        result.counts = PackedColumn.integers(counted.counts)
        if !aggregates.isEmpty {
          result.aggregates = Dictionary(
            uniqueKeysWithValues: zip(aggregates.map(\.name.string), counted.columns.map(\.column)))
        }
      }
      return result
    }
  }

  private static func ids(_ rows: ArraySlice<UInt32>, _ features: FeatureQuery, _ share: WorkShare) throws -> JSONOpaque {
    PackedColumn.integers(try features.store.ids(of: Array(rows), checking: share.checkpoint).map(Int64.init))
  }

  /// The joined features, selected in the same way as those of a query.
  private static func joined(_ source: FeatureProtocol.JoinSource, in world: World) throws -> FeatureQuery {
    let filter = FeatureProtocol.QueryIds.Params(
      layer: source.layer, overlay: source.overlay, ids: source.ids, whereClause: source.whereClause)
    do { return try FeatureQuery(filter, in: world) } catch { throw NestedError(error, in: "join") }
  }

  private static func relationship(_ params: Join.Params) throws -> FeatureJoin.Relationship {
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

  /// The part of the results to return.
  private struct Page {
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

  /// Collects the pairs on a page.
  private struct PairPage {
    let page: Page
    var count = 0
    var pairs = RowPairs()
    var distances: [Double] = []

    mutating func add(_ block: FeatureJoin.Block) {
      for index in page.range(of: block.pairs.count, after: count) {
        pairs.append(block.pairs.left[index], block.pairs.right[index])
        if !block.distances.isEmpty { distances.append(block.distances[index]) }
      }
      count += block.pairs.count
    }
  }

  /// Counts what features are joined with, and computes statistics for those on a page.
  private struct CountPage {
    let page: Page
    private let store: FeatureStore
    private let statistics: [Statistic]
    private var totals: StatisticTotals
    var columns: [AttributeColumn]
    var count = 0
    var pairCount = 0
    var rows: [UInt32] = []
    var counts: [Int64] = []

    init(page: Page, _ statistics: [Statistic], _ store: FeatureStore) {
      (self.page, self.statistics, self.store) = (page, statistics, store)
      totals = StatisticTotals(statistics, in: store.schema)
      columns = statistics.map { _ in AttributeColumn(joinsNumbers: true) }
    }

    mutating func add(_ block: FeatureJoin.Block, _ share: WorkShare) throws {
      let wanted = Array(block.rows)[page.range(of: block.rows.count, after: count)]
      count += block.rows.count
      pairCount += block.pairs.count
      guard !wanted.isEmpty else { return }
      let ranges = block.pairs.ranges
      rows += wanted
      counts += wanted.map { Int64(ranges[$0]?.count ?? 0) }
      guard !statistics.isEmpty else { return }
      for (number, row) in wanted.enumerated() {
        if number & 255 == 0 { try share.work?.checkCancelled() }
        try add(block.pairs.right[ranges[row] ?? 0..<0], share)
      }
    }

    private mutating func add(_ joined: ArraySlice<UInt32>, _ share: WorkShare) throws {
      totals.removeAll()
      totals.reserve(1)
      for (number, row) in joined.enumerated() {
        if number & 0x3ff == 0x3ff { try share.work?.checkCancelled() }
        if let feature = store[row] { totals.add(feature, to: 0) }
      }
      for index in columns.indices { columns[index].append(totals.figure(index, of: 0)) }
      // The same text may be the statistic of many features.
      try share.checkSize(columns.reduce(0) { $0 + $1.byteCount })
    }
  }
}
