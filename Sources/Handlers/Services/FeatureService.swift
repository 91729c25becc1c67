// Handlers of `feature/*`: queries of the features of layers and overlays.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Query
import WireCoding

package enum FeatureService: FeatureHandlers {
  package static func query(
    _ params: FeatureProtocol.Query.Params, in world: inout World
  ) throws -> Plan<FeatureProtocol.Query.Result> {
    let features = try FeatureQuery(params, in: world)
    let terms = try features.terms(params.orderBy ?? [])
    let schema = features.store.schema
    var selection = FeatureWriter.Selection()
    selection.geometry = params.returnGeometry
    selection.measures = params.returnM
    selection.nulls = features.layer != nil
    if let names = params.properties {
      selection.columns = try names.enumerated().map { index, name in
        guard let column = schema.column(named: name) else {
          throw ModelError.unknownField(
            name, available: features.store.fields.map(\.name.string), path: "/properties/\(index)")
        }
        return column
      }
    }
    let finalSelection = selection
    let format = params.format
    let reference = try world.canonical(params.outSpatialReference) ?? features.reference
    let (revision, transformer) = (world.revision, world.transformer)
    let isMoved = reference != features.reference && params.returnGeometry
    let costOfEach = isMoved ? FeatureQuery.transformCost : FeatureQuery.writeCost
    let searchEffort = features.effort * (terms.isEmpty ? 1 : 1 + FeatureQuery.orderCost)
    let maxCount = min(params.limit, features.effort)
    return try plan(effort: searchEffort + maxCount * costOfEach) { share in
      let shares = share.split(
        by: searchEffort, isMoved ? maxCount * FeatureQuery.transformCost : 0, maxCount * FeatureQuery.writeCost)
      let rows = try features.page(terms, offset: params.offset, limit: params.limit, shares[0])
      try features.checkWeight(of: rows.page, transforms: isMoved, share)
      let moved = isMoved ? try transformed(rows.page, features, to: reference, transformer, shares[1]) : nil
      var result = FeatureProtocol.Query.Result(
        revision: revision, spatialReference: reference.definition, exceededLimit: rows.exceeded)
      var count = rows.page.count
      switch format {
      case .geojson:
        result.type = .featureCollection
        result.features = try written(rows.page, moved?.geometries, features, finalSelection, shares[2])
      case .columns:
        count = try setColumns(of: &result, rows.page, moved?.geometries, features, finalSelection, shares[2])
      }
      let failed = moved?.failed.filter { $0.index < count }.map(\.feature) ?? []
      if !failed.isEmpty { result.failed = failed }
      return result
    }
  }

  package static func queryIds(_ params: QueryIds.Params, in world: inout World) throws -> Plan<QueryIds.Result> {
    let features = try FeatureQuery(params, in: world)
    let terms = try features.terms(params.orderBy ?? [])
    let revision = world.revision
    let effort = features.effort * (terms.isEmpty ? 1 : 1 + FeatureQuery.orderCost)
    return try plan(effort: effort) { share in
      let shares = share.split(by: effort, features.effort)
      let rows = try features.page(terms, offset: params.offset, limit: params.limit, shares[0])
      return .init(
        revision: revision, exceededLimit: rows.exceeded,
        ids: try features.store.ids(of: Array(rows.page), checking: shares[1].checkpoint))
    }
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
    let effort =
      features.isAll && !isMoved ? 0 : features.effort * (isMoved ? 1 + FeatureQuery.transformCost : 1)
    return try plan(effort: effort) { share in
      let extent = try features.extent(in: reference, transformer, share)
      return .init(
        revision: revision, spatialReference: reference.definition, count: extent.count,
        extent: extent.box.map(Wire.envelope), failed: extent.failed.isEmpty ? nil : extent.failed)
    }
  }

  // MARK: -

  /// Runs a query on the loop when it is cheap, since handing it to a worker and back would take longer; otherwise on a worker.
  static func plan<R: Sendable>(
    effort: Int, _ answer: @escaping @Sendable (WorkShare) throws -> R
  ) throws -> Plan<R> {
    if effort <= FeatureQuery.maxInlineEffort {
      do { return TaskPlan(answer: try answer(WorkShare(nil))) } catch is FeatureQuery.NeedsWorker {}
    }
    return TaskPlan { worker in
      let result = try answer(WorkShare(worker))
      return { _ in result }
    }
  }

  /// The JSON array of the features, written directly: a wire value for each would cost more than all the rest. On the loop the
  /// array is written when the response is; on a worker at once, so that the loop only copies bytes.
  private static func written(
    _ page: ArraySlice<UInt32>, _ geometries: [FeatureWriter.Shape]?, _ features: FeatureQuery,
    _ selection: FeatureWriter.Selection, _ share: WorkShare
  ) throws -> JSONOpaque {
    let (store, schema) = (features.store, features.store.schema)
    guard let worker = share.worker else {
      return .written { writer in
        writer.beginArray()
        for (index, row) in page.enumerated() {
          guard let feature = store[row] else { continue }
          FeatureWriter.writeFeature(feature, schema, selection, geometries?[index] ?? .own, to: &writer) {}
        }
        writer.endArray()
      }
    }
    var writer = JSONWriter(capacity: 1 << 16)
    writer.beginArray()
    for (index, row) in page.enumerated() {
      try share.checkpoint(index, of: page.count)
      guard let feature = store[row] else { continue }
      try FeatureWriter.writeFeature(
        feature, schema, selection, geometries?[index] ?? .own, to: &writer, checkpoint: worker.checkCancelled)
      // Ends as soon as the result is too large, instead of building all of it.
      guard writer.count <= worker.resultBytes else { throw RPCError.resultTooLarge(limit: worker.resultBytes) }
    }
    writer.endArray()
    let bytes = [UInt8](writer.bytes)
    return .written { writer in bytes.withUnsafeBytes { writer.raw($0) } }
  }

  /// The geometries of a page in another spatial reference, none for features that have no coordinates there. Computed before
  /// anything is written, so that `failed` and errors are known.
  private static func transformed(
    _ rows: ArraySlice<UInt32>, _ features: FeatureQuery, to target: SpatialReference,
    _ transformer: any CoordinateTransformer, _ share: WorkShare
  ) throws -> (geometries: [FeatureWriter.Shape], failed: [(index: Int, feature: FeatureProtocol.FailedFeature)]) {
    var failed: [(index: Int, feature: FeatureProtocol.FailedFeature)] = []
    let geometries = try rows.enumerated().map { (index, row) throws -> FeatureWriter.Shape in
      guard let feature = features.store[row], let geometry = feature.geometry else { return .given(nil) }
      do {
        let moved = try transformer.transform(geometry, from: features.reference, to: target) {
          try share.checkpoint(index, of: rows.count)
        }
        return .given(moved)
      } catch let error as TransformError {
        failed.append((index, try FeatureProtocol.FailedFeature(feature.id, error)))
        return .given(nil)
      }
    }
    return (geometries, failed)
  }
}
