// Handlers of `feature/queryStatistics` and `feature/queryDistinctValues`.

import GeoModel
import GeoProtocol
import JSON
import Statistics

extension FeatureService {
  package static func queryStatistics(
    _ params: QueryStatistics.Params, in world: inout World
  ) throws -> Plan<QueryStatistics.Result> {
    let query = try StatisticsQuery(
      FeatureQuery(params, in: world), groupBy: params.groupBy ?? [], at: "groupBy", params.statistics,
      having: params.having, orderBy: params.orderBy ?? [])
    let (revision, offset, limit) = (world.revision, params.offset, params.limit)
    return try plan(effort: query.effort) { share in
      let shares = share.split(by: 9, 1)
      let page = try query.page(offset: offset, limit: limit, shares[0])
      let records = try query.records(of: page, shares[1]) { group, writer in
        writer.key("group")
        query.writeValues(of: group, to: &writer)
        writer.key("statistics")
        query.writeFigures(of: group, to: &writer)
      }
      return .init(revision: revision, exceededLimit: page.exceeded, records: records)
    }
  }

  package static func queryDistinctValues(
    _ params: QueryDistinctValues.Params, in world: inout World
  ) throws -> Plan<QueryDistinctValues.Result> {
    let query = try StatisticsQuery(
      FeatureQuery(params, in: world), groupBy: params.fields, at: "fields", orderBy: params.orderBy ?? [])
    let (revision, offset, limit) = (world.revision, params.offset, params.limit)
    return try plan(effort: query.effort) { share in
      let shares = share.split(by: 9, 1)
      let page = try query.page(offset: offset, limit: limit, shares[0])
      let records = try query.records(of: page, shares[1]) { group, writer in
        writer.key("values")
        query.writeValues(of: group, to: &writer)
        writer.key("count")
        writer.value(group.count)
      }
      return .init(revision: revision, exceededLimit: page.exceeded, records: records)
    }
  }
}
