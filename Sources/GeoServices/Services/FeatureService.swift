// Questions about features, of layers and overlays alike.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Query

enum FeatureService: FeatureHandlers {
  typealias Types = Server

  static func query(
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
      selection.columns = try names.map { name in
        guard let column = schema.column(named: name) else {
          throw ModelError.unknownField(name, available: features.store.fields.map(\.name.string))
        }
        return column
      }
    }
    let chosen = selection
    let reference = try world.canonical(params.outSpatialReference) ?? features.reference
    let (revision, transformer) = (world.revision, world.transformer)
    let isMoved = reference != features.reference && params.returnGeometry
    let found = features.effort
    let each = isMoved ? FeatureQuery.transforming : FeatureQuery.writing
    let finding = found * (terms.isEmpty ? 1 : 1 + FeatureQuery.ordering)
    let atMost = min(params.limit, found)
    return try plan(effort: finding + atMost * each) { part in
      let parts = part.divided(
        by: finding, isMoved ? atMost * FeatureQuery.transforming : 0, atMost * FeatureQuery.writing)
      let rows = try features.page(terms, offset: params.offset, limit: params.limit, parts[0])
      try features.checkWeight(of: rows.page, moved: isMoved, part)
      let moved =
        isMoved ? try transformed(rows.page, features, to: reference, transformer, parts[1]) : nil
      return .init(
        type: .featureCollection, revision: revision, spatialReference: reference.definition,
        exceededLimit: rows.exceeded, features: try written(rows.page, moved, features, chosen, parts[2]))
    }
  }

  static func queryIds(
    _ params: FeatureProtocol.QueryIds.Params, in world: inout World
  ) throws -> Plan<FeatureProtocol.QueryIds.Result> {
    let features = try FeatureQuery(params, in: world)
    let terms = try features.terms(params.orderBy ?? [])
    let revision = world.revision
    let effort = features.effort * (terms.isEmpty ? 1 : 1 + FeatureQuery.ordering)
    return try plan(effort: effort) { part in
      let parts = part.divided(by: effort, features.effort)
      let rows = try features.page(terms, offset: params.offset, limit: params.limit, parts[0])
      return .init(
        revision: revision, exceededLimit: rows.exceeded,
        ids: try features.store.ids(of: Array(rows.page), checking: parts[1].check))
    }
  }

  static func queryCount(
    _ params: FeatureProtocol.QueryCount.Params, in world: inout World
  ) throws -> Plan<FeatureProtocol.QueryCount.Result> {
    let features = try FeatureQuery(params, in: world)
    let revision = world.revision
    if let count = features.quickCount { return TaskPlan(answer: .init(revision: revision, count: count)) }
    return try plan(effort: features.effort) { .init(revision: revision, count: try features.rows($0).count) }
  }

  static func queryExtent(
    _ params: FeatureProtocol.QueryExtent.Params, in world: inout World
  ) throws -> Plan<FeatureProtocol.QueryExtent.Result> {
    let features = try FeatureQuery(params, in: world)
    let reference = try world.canonical(params.outSpatialReference) ?? features.reference
    let (revision, transformer) = (world.revision, world.transformer)
    let isMoved = reference != features.reference
    let effort =
      features.isAll && !isMoved ? 0 : features.effort * (isMoved ? 1 + FeatureQuery.transforming : 1)
    return try plan(effort: effort) { part in
      let extent = try features.extent(in: reference, transformer, part)
      return .init(
        revision: revision, spatialReference: reference.definition, count: extent.count,
        extent: extent.box.map(Wire.envelope))
    }
  }

  // MARK: -

  /// Answers at once what takes next to no time, as what comes in between would take longer; leaves the rest to a worker.
  private static func plan<R: Sendable>(
    effort: Int, _ answer: @escaping @Sendable (WorkShare) throws -> R
  ) throws -> Plan<R> {
    if effort <= FeatureQuery.smallEffort {
      do { return TaskPlan(answer: try answer(WorkShare(nil))) } catch is FeatureQuery.Aside {}
    }
    return TaskPlan { worker in
      let result = try answer(WorkShare(worker))
      return { _ in result }
    }
  }

  /// The features as one member that writes them all; a wire type for each would cost more than the rest. A worker writes them itself.
  private static func written(
    _ page: ArraySlice<UInt32>, _ moved: [Geometry?]?, _ features: FeatureQuery, _ selection: FeatureWriter.Selection,
    _ part: WorkShare
  ) throws -> JSONOpaque {
    let (store, schema) = (features.store, features.store.schema)
    guard let worker = part.worker else {
      return .written { writer in
        writer.beginArray()
        for (place, row) in page.enumerated() {
          guard let feature = store[row] else { continue }
          FeatureWriter.writeFeature(feature, schema, selection, moved: moved?[place], to: &writer) {}
        }
        writer.endArray()
      }
    }
    var writer = JSONWriter(capacity: 1 << 16)
    writer.beginArray()
    for (place, row) in page.enumerated() {
      try part.check(place, of: page.count)
      guard let feature = store[row] else { continue }
      try FeatureWriter.writeFeature(
        feature, schema, selection, moved: moved?[place], to: &writer, checking: worker.checkCancelled)
      // What will be refused is not made first.
      guard writer.count <= worker.resultBytes else { throw RPCError.resultTooLarge(limit: worker.resultBytes) }
    }
    writer.endArray()
    let bytes = [UInt8](writer.bytes)
    return .written { writer in bytes.withUnsafeBytes { writer.raw($0) } }
  }

  /// The geometries of a page in another reference, made before anything is written, so that a failure is an error.
  private static func transformed(
    _ rows: ArraySlice<UInt32>, _ features: FeatureQuery, to target: SpatialReference,
    _ transformer: any CoordinateTransformer, _ part: WorkShare
  ) throws -> [Geometry?] {
    try rows.enumerated().map { (place, row) throws -> Geometry? in
      guard let feature = features.store[row], let geometry = feature.geometry else { return nil }
      do {
        return try transformer.transform(geometry, from: features.reference, to: target) {
          try part.check(place, of: rows.count)
        }
      } catch let error as TransformError {
        throw RPCError(error).with("feature", feature.id)
      }
    }
  }
}
