// Handlers of `feature/queryStatistics` and `feature/queryDistinctValues`.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import Statistics
import WireCoding

extension FeatureService {
  package static func queryStatistics(
    _ params: QueryStatistics.Params, in world: inout World
  ) throws -> Plan<QueryStatistics.Result> {
    let query = try statistics(params, in: world)
    let (revision, offset, limit) = (world.revision, params.offset, params.limit)
    return try plan(effort: query.effort) { share in
      let shares = share.split(by: 9, 1)
      let page = try query.page(offset: offset, limit: limit, shares[0])
      var result = QueryStatistics.Result(
        revision: revision, exceededLimit: page.exceeded, records: .written { $0.raw("[]") })
      let budget = ListBudget(params.maxBytes, around: result)
      let records = try query.records(of: page, budget, shares[1]) { group, writer in
        writer.key("group")
        query.writeValues(of: group, to: &writer)
        writer.key("statistics")
        query.writeFigures(of: group, to: &writer)
      }
      result.records = records.list
      result.exceededLimit = page.exceeded || records.count < page.numbers.count
      if result.exceededLimit { result.nextOffset = offset + records.count }
      return result
    }
  }

  static func statistics(
    _ params: some FeatureProtocol.FeatureFilter & FeatureProtocol.ComputedFields & FeatureProtocol.StatisticsOptions,
    in world: World
  ) throws -> StatisticsQuery {
    try StatisticsQuery(
      FeatureQuery(params, in: world), groupBy: params.groupBy ?? [], at: "groupBy",
      params.statistics.map(Wire.statistic),
      having: try params.having.map { try Wire.parsed($0, at: "/params/having") },
      order: (params.orderBy ?? []).map(FeatureOrder.init))
  }

  package static func queryDistinctValues(
    _ params: QueryDistinctValues.Params, in world: inout World
  ) throws -> Plan<QueryDistinctValues.Result> {
    let query = try StatisticsQuery(
      FeatureQuery(params, in: world), groupBy: params.fields, at: "fields",
      order: (params.orderBy ?? []).map(FeatureOrder.init))
    let (revision, offset, limit) = (world.revision, params.offset, params.limit)
    return try plan(effort: query.effort) { share in
      let shares = share.split(by: 9, 1)
      let page = try query.page(offset: offset, limit: limit, shares[0])
      var result = QueryDistinctValues.Result(
        revision: revision, exceededLimit: page.exceeded, records: .written { $0.raw("[]") })
      let budget = ListBudget(params.maxBytes, around: result)
      let records = try query.records(of: page, budget, shares[1]) { group, writer in
        writer.key("values")
        query.writeValues(of: group, to: &writer)
        writer.member("count", group.count)
      }
      result.records = records.list
      result.exceededLimit = page.exceeded || records.count < page.numbers.count
      if result.exceededLimit { result.nextOffset = offset + records.count }
      return result
    }
  }
}

extension StatisticsQuery {
  /// The JSON array of the groups, as far as the budget allows. `write` writes the members of each group's object.
  fileprivate func records(
    of page: Page, _ budget: ListBudget?, _ share: WorkShare, _ write: (FeatureGroup, inout JSONWriter) -> Void
  ) throws -> (list: JSONOpaque, count: Int) {
    var count = 0
    let list = try JSONOpaque.made { writer in
      writer.beginArray()
      for number in page.numbers {
        if count & 0x3f == 0x3f { try share.checkpoint(count, of: page.numbers.count) }
        let end = writer.count
        writer.beginObject()
        write(page.groups[number], &writer)
        writer.endObject()
        if let budget, writer.count > budget.bytes {
          count = try budget.require(count, writer.count)
          writer.truncate(to: end)
          break
        }
        count += 1
        if let limit = share.work?.resultBytes, writer.count > limit { throw RPCError.resultTooLarge(limit: limit) }
      }
      writer.endArray()
    }
    return (list, count)
  }

  /// Writes the values that the features of a group share, as an object.
  fileprivate func writeValues(of group: FeatureGroup, to writer: inout JSONWriter) {
    write(group.values, names[..<columns.count], to: &writer)
  }

  /// Writes the statistics of a group, as an object.
  fileprivate func writeFigures(of group: FeatureGroup, to writer: inout JSONWriter) {
    write(group.results, names[columns.count...], to: &writer)
  }

  private func write(_ values: [AttributeValue], _ names: ArraySlice<String>, to writer: inout JSONWriter) {
    writer.object(zip(names, values).lazy.map { (name: $0, value: $1) })
  }
}
