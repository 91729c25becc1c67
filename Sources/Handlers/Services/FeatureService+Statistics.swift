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
    let query = try StatisticsQuery(
      FeatureQuery(params, in: world), groupBy: params.groupBy ?? [], at: "groupBy",
      params.statistics.map(Wire.statistic),
      having: try params.having.map { try Wire.parsed($0, at: "/params/having") },
      order: (params.orderBy ?? []).map(FeatureOrder.init))
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
      FeatureQuery(params, in: world), groupBy: params.fields, at: "fields",
      order: (params.orderBy ?? []).map(FeatureOrder.init))
    let (revision, offset, limit) = (world.revision, params.offset, params.limit)
    return try plan(effort: query.effort) { share in
      let shares = share.split(by: 9, 1)
      let page = try query.page(offset: offset, limit: limit, shares[0])
      let records = try query.records(of: page, shares[1]) { group, writer in
        writer.key("values")
        query.writeValues(of: group, to: &writer)
        writer.member("count", group.count)
      }
      return .init(revision: revision, exceededLimit: page.exceeded, records: records)
    }
  }
}

extension StatisticsQuery {
  /// The JSON array of the groups. `write` writes the members of each group's object.
  fileprivate func records(
    of page: Page, _ share: WorkShare, _ write: (FeatureGroup, inout JSONWriter) -> Void
  ) throws -> JSONOpaque {
    var count = 0
    return try .made { writer in
      writer.beginArray()
      for number in page.numbers {
        count += 1
        if count & 0x3f == 0 { try share.checkpoint(count, of: page.numbers.count) }
        writer.beginObject()
        write(page.groups[number], &writer)
        writer.endObject()
        if let limit = share.work?.resultBytes, writer.count > limit { throw RPCError.resultTooLarge(limit: limit) }
      }
      writer.endArray()
    }
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
