// Handlers of `feature/*`: queries of the features of layers and overlays.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import GeometryEngine
import JSON
import JSONRPC
import Planning
import WireCoding

package enum FeatureService: FeatureHandlers {
  package static func query(
    _ params: FeatureProtocol.Query.Params, in world: inout World
  ) throws -> Plan<FeatureProtocol.Query.Result> {
    let features = try FeatureQuery(params, in: world)
    let reference = try world.canonical(params.outSpatialReference) ?? features.reference
    let output = try FeatureOutput(params, features, measures: params.returnM, in: reference, world)
    let terms = try features.terms(params.orderBy)
    let limit = try limit(
      params.limit, params.maxBytes, isStreamed: params.wantsParts, upTo: 100_000, else: 1000)
    let (format, offset, revision) = (params.format, params.offset, world.revision)
    let searchEffort = features.effort * (terms.isEmpty ? 1 : 1 + FeatureQuery.orderCost)
    let maxCount = min(limit, features.effort)
    let changeEffort = maxCount * output.changeCost
    @Sendable func result(_ exceeded: Bool) -> FeatureProtocol.Query.Result {
      .init(revision: revision, spatialReference: output.reference.definition, exceededLimit: exceeded)
    }
    if params.wantsParts {
      return TaskPlan(parts: { worker in
        let shares = WorkShare(worker.work).split(by: searchEffort, changeEffort + maxCount * FeatureQuery.writeCost)
        let rows = try output.page(terms, offset: offset, limit: limit, shares[0])
        let parts = FeatureParts(output: rows.output, format: format, revision: revision)
        return try parts.next(rows.page, of: rows.page.count, shares[1]) { _ in
          var result = result(rows.exceeded)
          if format == .columns { result.fields = rows.output.fields } else { result.setFeatures(.written { $0.raw("[]") }) }
          return result
        }
      })
    }
    return try plan(effort: searchEffort + maxCount * max(output.changeCost, FeatureQuery.writeCost)) { share in
      let shares = share.split(by: searchEffort, changeEffort, maxCount * FeatureQuery.writeCost)
      let rows = try output.page(terms, offset: offset, limit: limit, shares[0])
      let (output, features) = (rows.output, rows.output.features)
      try features.checkWeight(of: rows.page, transforms: output.changesGeometries, share)
      var result = result(rows.exceeded)
      var count = rows.page.count
      if let budget = ListBudget(params.maxBytes, around: result) {
        let parts = FeatureParts(output: output, format: format, revision: revision, bytes: budget.bytes)
        count = try setPart(of: &result, try parts.part(rows.page, of: count, share), budget)
      } else {
        let changed = try output.shapes(of: rows.page, shares[1])
        switch format {
        case .geojson: result.setFeatures(try output.written(rows.page, changed?.geometries, shares[2]))
        case .columns: count = try setColumns(of: &result, rows.page, changed?.geometries, output, shares[2])
        }
        let failed = changed?.failed.filter { $0.index < count }.map(\.feature) ?? []
        if !failed.isEmpty { result.failed = failed }
      }
      result.exceededLimit = rows.exceeded || count < rows.page.count
      if result.exceededLimit { result.nextOffset = offset + count }
      return result
    }
  }

  package static func queryIds(_ params: QueryIds.Params, in world: inout World) throws -> Plan<QueryIds.Result> {
    let features = try FeatureQuery(params, in: world)
    let terms = try features.terms(params.orderBy)
    let limit = try limit(
      params.limit, params.maxBytes, isStreamed: params.wantsParts, upTo: 1_000_000, else: 100_000)
    let revision = world.revision
    let effort = features.effort * (terms.isEmpty ? 1 : 1 + FeatureQuery.orderCost)
    @Sendable func found(_ share: WorkShare) throws -> QueryIds.Result {
      let shares = share.split(by: effort, features.effort)
      let rows = try features.computedPage(terms, offset: params.offset, limit: limit, shares[0])
      let ids = try features.store.ids(of: Array(rows.page), checking: shares[1].checkpoint)
      return try .cut(params.maxBytes, ids.count, after: params.offset, hasMore: rows.exceeded) { count in
        QueryIds.Result(revision: revision, exceededLimit: false, ids: Array(ids.prefix(count)))
      }
    }
    guard params.wantsParts else { return try plan(effort: effort, found) }
    return TaskPlan(parts: { worker in
      var result = try found(WorkShare(worker.work))
      let ids = result.ids
      result.ids = []
      return Self.part(ids[...], of: result)
    })
  }

  /// Sets what a part has.
  ///
  /// - Returns: the number of rows in it.
  private static func setPart(
    of result: inout FeatureProtocol.Query.Result, _ made: (part: FeatureProtocol.Query.Part, count: Int),
    _ budget: ListBudget
  ) throws -> Int {
    let size = made.part.text.count
    if size > budget.bytes, made.count > 0 { _ = try budget.require(made.count - 1, size) }
    if let features = made.part.features { result.setFeatures(features) }
    result.columns = made.part.columns
    result.fields = made.part.fields
    result.failed = made.part.failed
    return made.count
  }

  /// Number of ids per part. Ids have at most 14 digits, so a part is less than 1 MiB of text.
  private static let idsInPart = 65_536

  /// The step that sends the next ids.
  private static func part(_ ids: ArraySlice<Int>, of result: QueryIds.Result) -> Plan<QueryIds.Result>.Step {
    guard !ids.isEmpty else { return .answer(result) }
    let part = QueryIds.Part(revision: result.revision, ids: Array(ids.prefix(idsInPart)))
    return .part(part.made()) { _ in Self.part(ids.dropFirst(idsInPart), of: result) }
  }

  /// The maximum number of features.
  ///
  /// - Throws: if it exceeds `most`, unless the result is sent in parts.
  private static func limit(
    _ given: Int?, _ maxBytes: Int?, isStreamed: Bool, upTo most: Int, else standard: Int
  ) throws -> Int {
    if isStreamed {
      guard maxBytes == nil else {
        throw RPCError(
          .invalidParams, "A result in parts has all that is asked for.", path: "/params/maxBytes",
          expected: "absent, or no partialResultToken")
      }
      return given ?? .max
    }
    guard given ?? 0 <= most else {
      throw RPCError(
        .invalidParams, "So many features are sent in parts only.", path: "/params/limit",
        expected: "integer in 0...\(most), or meta.partialResultToken")
    }
    return given ?? standard
  }

  package static func queryCount(_ params: QueryCount.Params, in world: inout World) throws -> Plan<QueryCount.Result> {
    let features = try FeatureQuery(params, in: world)
    let revision = world.revision
    if let count = features.quickCount { return TaskPlan(answer: .init(revision: revision, count: count)) }
    return try plan(effort: features.effort) { .init(revision: revision, count: try features.count($0)) }
  }

  package static func queryExtent(
    _ params: QueryExtent.Params, in world: inout World
  ) throws -> Plan<QueryExtent.Result> {
    let features = try FeatureQuery(params, in: world)
    let reference = try world.canonical(params.outSpatialReference) ?? features.reference
    let (revision, transformer) = (world.revision, world.transformer)
    let isMoved = reference != features.reference
    let isKnown = features.isAll && !features.store.isToBeIndexed && !isMoved && !params.acrossAntimeridian
    let effort = isKnown ? 0 : features.effort * (isMoved ? 1 + FeatureQuery.transformCost : 1)
    return try plan(effort: effort) { share in
      let extent = try features.extent(in: reference, isNarrowest: params.acrossAntimeridian, transformer, share)
      return .init(
        revision: revision, spatialReference: reference.definition, count: extent.count,
        extent: extent.box.map(Wire.envelope),
        failed: extent.failed.isEmpty ? nil : try extent.failed.map(FeatureProtocol.FailedFeature.init))
    }
  }

  // MARK: -

  /// Runs a cheap query on the loop, since a worker's overhead would exceed its cost; other queries on a worker.
  static func plan<R: Sendable>(
    effort: Int, _ answer: @escaping @Sendable (WorkShare) throws -> R
  ) throws -> Plan<R> {
    if effort <= FeatureQuery.maxInlineEffort {
      do {
        if let result = try RelationAllowance.attempt({ try answer(WorkShare(nil)) }) {
          return TaskPlan(answer: result)
        }
      } catch is FeatureQuery.NeedsWorker {}
    }
    return TaskPlan(result: { worker in try answer(WorkShare(worker.work)) })
  }
}

extension FeatureProtocol.Query.Result {
  fileprivate mutating func setFeatures(_ features: JSONOpaque) {
    type = .featureCollection
    self.features = features
  }
}
