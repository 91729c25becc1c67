// The handler of `feature/queryRelated`.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import Planning
import WireCoding

extension FeatureService {
  package static func queryRelated(
    _ params: QueryRelated.Params, in world: inout World
  ) throws -> Plan<QueryRelated.Result> {
    let origin = try FeatureQuery(params, in: world)
    guard (params.relatedLayer == nil) != (params.relatedOverlay == nil) else {
      throw ModelError.oneOf(["relatedLayer", "relatedOverlay"])
    }
    let query = FeatureProtocol.Query.Params(
      layer: params.relatedLayer, overlay: params.relatedOverlay, whereClause: params.relatedWhereClause,
      orderBy: params.orderBy, properties: params.properties, returnGeometry: params.returnGeometry)
    let related = try FeatureQuery(query, in: world, conditionAt: "/relatedWhereClause")
    let reference = try world.canonical(params.outSpatialReference) ?? related.reference
    let output = try FeatureOutput(query, related, measures: query.returnM, in: reference, world)
    let terms = try related.terms(params.orderBy)
    let keyColumn = try origin.column(params.keyField, at: "/keyField")
    let relatedColumn = try related.column(params.relatedField, at: "/relatedField")
    let (offset, limit, revision) = (params.offset, params.limit, world.revision)
    let searchEffort = related.effort * (terms.isEmpty ? 1 : 1 + FeatureQuery.orderCost)
    // Looking up a key costs about as much as ten tests.
    let groupEffort = 10 * (origin.effort + related.effort)
    let count = min(limit, related.effort)
    let writeEffort = count * (output.changeCost + FeatureQuery.writeCost)
    return try plan(effort: origin.effort + searchEffort + groupEffort + writeEffort) { share in
      let shares = share.split(by: origin.effort, searchEffort, groupEffort, writeEffort)
      let rows = try origin.rows(shares[0])
      let candidates = try related.page(terms, offset: 0, limit: .max, shares[1]).page
      let found = try RelatedFeatures.groups(
        (origin.store, rows, keyColumn), (related.store, Array(candidates), relatedColumn), offset: offset, limit: limit,
        shares[2])
      let count = found.groups.reduce(0) { $0 + $1.rows.count }
      return try .cut(params.maxBytes, count, after: offset, hasMore: found.exceeded) { count in
        try result(found.groups, first: count, output, revision: revision, shares[3])
      }
    }
  }

  /// The result with the first features of the groups.
  private static func result(
    _ groups: [RelatedFeatures.Group], first count: Int, _ output: FeatureOutput, revision: Int, _ share: WorkShare
  ) throws -> QueryRelated.Result {
    var failed: [FeatureProtocol.FailedFeature] = []
    var written: [FeatureProtocol.RelatedGroup] = []
    var left = count
    let shares = share.split(by: groups.map(\.rows.count))
    for (group, share) in zip(groups, shares) where left > 0 {
      let rows = group.rows.prefix(left)
      left -= rows.count
      try output.features.checkWeight(of: rows, transforms: output.changesGeometries, share)
      let changed = try output.shapes(of: rows, share)
      failed += changed?.failed.map(\.feature) ?? []
      let features = try output.written(rows, changed?.geometries, share)
      written.append(FeatureProtocol.RelatedGroup(id: group.id, count: group.count, features: features))
    }
    return QueryRelated.Result(
      revision: revision, spatialReference: output.reference.definition, exceededLimit: false, groups: written,
      failed: failed.isEmpty ? nil : failed)
  }
}
