// The handler of `feature/join`: pairs, or counts and figures, in columns.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Query
import WireCoding

extension FeatureService {
  package static func join(_ params: Join.Params, in world: inout World) throws -> Plan<Join.Result> {
    let join = try FeatureJoin(params, in: world)
    let aggregates = try (params.aggregates ?? []).enumerated().map { index, each in
      (each.type, try join.joined.column(each.field, at: "/aggregates/\(index)/field"))
    }
    if params.output == .pairs, !aggregates.isEmpty {
      throw RPCError(
        .invalidParams, "Figures are about all that a feature is joined with.", path: "/params/aggregates",
        expected: "absent, or the output counts")
    }
    let (revision, isNearest) = (world.revision, params.relationship == .nearest)
    let (output, offset, limit) = (params.output, params.offset, params.limit)
    return try plan(effort: join.effort) { share in
      let shares = share.split(by: 8, 1)
      let answer = try join.answer(shares[0])
      let page = Page(offset: offset, limit: limit)
      var result = Join.Result(
        revision: revision, exceededLimit: false, pairCount: answer.pairs.count, ids: PackedColumn.integers([]))
      switch output {
      case .pairs: try setPairs(of: &result, answer, join, page, isNearest, shares[1])
      case .counts: try setCounts(of: &result, answer, join, page, aggregates, shares[1])
      }
      return result
    }
  }

  /// Which of the results are returned.
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
    let right = try answer.joined.ids(of: Array(answer.pairs.right[range]), checking: share.checkpoint)
    result.ids = PackedColumn.integers(left.map(Int64.init))
    result.joinedIds = PackedColumn.integers(right.map(Int64.init))
    if isNearest { result.distances = PackedColumn.doubles(Array(answer.distances[range])) }
  }

  private static func setCounts(
    of result: inout Join.Result, _ answer: FeatureJoin.Answer, _ join: FeatureJoin, _ page: Page,
    _ aggregates: [(FeatureProtocol.JoinAggregateType, Int)], _ share: WorkShare
  ) throws {
    let shares = share.split(by: 1, 4)
    let rows = try join.features.rows(shares[0])
    let range = page.range(of: rows.count)
    result.exceededLimit = range.upperBound < rows.count
    var starts: [UInt32: Int] = [:]
    let pairs = answer.pairs
    for index in pairs.left.indices where index == 0 || pairs.left[index - 1] != pairs.left[index] {
      starts[pairs.left[index]] = index
    }
    var counts: [Int64] = []
    var columns = aggregates.map { _ in [Double]() }
    for (number, row) in rows[range].enumerated() {
      if number & 255 == 0 { try shares[1].checkpoint(number, of: range.count) }
      let start = starts[row] ?? 0
      var end = start
      while end < pairs.count, pairs.left[end] == row { end += 1 }
      counts.append(Int64(end - start))
      for index in aggregates.indices {
        columns[index].append(figure(aggregates[index], of: pairs.right[start..<end], answer.joined, join.joined.store))
      }
    }
    result.ids = PackedColumn.integers(
      try join.features.store.ids(of: Array(rows[range]), checking: shares[1].checkpoint).map(Int64.init))
    result.counts = PackedColumn.integers(counts)
    if !aggregates.isEmpty { result.aggregates = columns.map(PackedColumn.doubles) }
  }

  /// NaN without numbers.
  private static func figure(
    _ aggregate: (type: FeatureProtocol.JoinAggregateType, column: Int), of rows: ArraySlice<UInt32>,
    _ joined: FeatureStore, _ store: FeatureStore
  ) -> Double {
    let numbers = rows.compactMap { row -> Double? in
      // Transformed features have their ids alone.
      let feature = joined.schema.count == 0 ? joined[row].flatMap { store.feature(id: $0.id) } : joined[row]
      switch feature?.value(aggregate.column) {
      case .integer(let number)?: return Double(number)
      case .double(let number)?: return number
      default: return nil
      }
    }
    guard !numbers.isEmpty else { return .nan }
    return switch aggregate.type {
    case .sum: numbers.reduce(0, +)
    case .mean: numbers.reduce(0, +) / Double(numbers.count)
    case .min: numbers.min() ?? .nan
    case .max: numbers.max() ?? .nan
    }
  }
}
