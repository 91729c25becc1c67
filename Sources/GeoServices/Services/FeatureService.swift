// Questions about features, of layers and overlays alike.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Query

enum FeatureService: FeatureHandlers {
  typealias Host = GeoServices.Host

  static func query(_ params: FeatureProtocol.Query.Params, in world: World) throws -> FeatureProtocol.Query.Result {
    let features = try FeaturesAsked(params, in: world)
    let rows = try features.page(params.orderBy ?? [], offset: params.offset, limit: params.limit)
    let store = features.store
    let schema = store.schema
    var selection = FeatureWriter.Selection()
    selection.geometry = params.returnGeometry
    selection.nulls = features.layer != nil
    if let names = params.properties {
      selection.columns = try names.map { name in
        guard let column = schema.column(named: name) else {
          throw ModelError.unknownField(name, available: store.fields.map(\.name))
        }
        return column
      }
    }
    let reference = try world.canonical(params.outSpatialReference) ?? features.reference
    let page = rows.page
    let moved =
      reference == features.reference || !params.returnGeometry
      ? nil : try transformed(page, of: store, from: features.reference, to: reference, world.transformer)
    // One member that writes them all; a wire type for each would cost more than the rest.
    let chosen = selection
    let written = JSONOpaque.written { writer in
      writer.beginArray()
      for (place, row) in page.enumerated() {
        guard let feature = store[row] else { continue }
        FeatureWriter.writeFeature(feature, schema, chosen, moved: moved?[place], to: &writer)
      }
      writer.endArray()
    }
    return .init(
      type: .featureCollection, revision: world.revision, spatialReference: reference.definition,
      exceededLimit: rows.exceeded, features: written)
  }

  static func queryIds(_ params: FeatureProtocol.QueryIds.Params, in world: World) throws
    -> FeatureProtocol.QueryIds.Result
  {
    let features = try FeaturesAsked(params, in: world)
    let rows = try features.page(params.orderBy ?? [], offset: params.offset, limit: params.limit)
    return .init(
      revision: world.revision, exceededLimit: rows.exceeded, ids: rows.page.compactMap { features.store[$0]?.id })
  }

  static func queryCount(
    _ params: FeatureProtocol.QueryCount.Params, in world: World
  ) throws -> FeatureProtocol.QueryCount.Result {
    let features = try FeaturesAsked(params, in: world)
    return .init(revision: world.revision, count: features.count)
  }

  static func queryExtent(
    _ params: FeatureProtocol.QueryExtent.Params, in world: World
  ) throws -> FeatureProtocol.QueryExtent.Result {
    let features = try FeaturesAsked(params, in: world)
    let reference = try world.canonical(params.outSpatialReference) ?? features.reference
    var extent = Envelope.none
    var count = 0
    if features.isAll {
      if let all = features.store.extent { extent = all }
      count = features.store.count
    } else {
      for row in features.rows() {
        count += 1
        if let box = features.store[row]?.envelope { extent.include(box) }
      }
    }
    let moved = extent.isNone ? nil : try world.bounds(of: extent, from: features.reference, to: reference)
    return .init(
      revision: world.revision, spatialReference: reference.definition, count: count, extent: moved.map(Wire.envelope))
  }

  // MARK: -

  /// The geometries of a page in another reference, made before anything is written, so that a failure is an error.
  private static func transformed(
    _ rows: ArraySlice<UInt32>, of store: FeatureStore, from source: SpatialReference, to target: SpatialReference,
    _ transformer: any CoordinateTransformer
  ) throws -> [Geometry?] {
    try rows.map { (row) throws -> Geometry? in
      guard let feature = store[row], let geometry = feature.geometry else { return nil }
      do throws(TransformError) { return try transformer.transform(geometry, from: source, to: target) } catch {
        throw RPCError(error).with("feature", feature.id)
      }
    }
  }
}
