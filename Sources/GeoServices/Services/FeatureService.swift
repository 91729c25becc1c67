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
    let features = try features(params.layer, params.overlay, in: world)
    let rows = try rows(
      of: features, params.envelope, params.spatialReference, params.ids, offset: params.offset, limit: params.limit, world)
    let store = features.store, schema = store.schema
    var selection = FeatureWriter.Selection()
    selection.geometry = params.returnGeometry
    selection.nulls = features.isLayer
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
    let moved = reference == features.reference || !params.returnGeometry
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

  static func queryIds(_ params: FeatureProtocol.QueryIds.Params, in world: World) throws -> FeatureProtocol.QueryIds.Result {
    let features = try features(params.layer, params.overlay, in: world)
    let rows = try rows(
      of: features, params.envelope, params.spatialReference, params.ids, offset: params.offset, limit: params.limit, world)
    return .init(
      revision: world.revision, exceededLimit: rows.exceeded, ids: rows.page.compactMap { features.store[$0]?.id })
  }

  static func queryCount(
    _ params: FeatureProtocol.QueryCount.Params, in world: World
  ) throws -> FeatureProtocol.QueryCount.Result {
    let features = try features(params.layer, params.overlay, in: world)
    guard params.ids == nil else {
      return .init(
        revision: world.revision,
        count: try allRows(of: features, params.envelope, params.spatialReference, params.ids, world).count)
    }
    let count = try boxes(params.envelope, params.spatialReference, features, world).map { features.store.count(in: $0) }
    return .init(revision: world.revision, count: count ?? features.store.count)
  }

  static func queryExtent(
    _ params: FeatureProtocol.QueryExtent.Params, in world: World
  ) throws -> FeatureProtocol.QueryExtent.Result {
    let features = try features(params.layer, params.overlay, in: world)
    let reference = try world.canonical(params.outSpatialReference) ?? features.reference
    var extent = Envelope.none
    var count = 0
    if params.envelope == nil, params.ids == nil {
      if let all = features.store.extent { extent = all }
      count = features.store.count
    } else {
      for row in try allRows(of: features, params.envelope, params.spatialReference, params.ids, world) {
        count += 1
        if let box = features.store[row]?.envelope { extent.include(box) }
      }
    }
    let moved = extent.isNone ? nil : try world.transformer.transform(extent, from: features.reference, to: reference)
    return .init(
      revision: world.revision, spatialReference: reference.definition, count: count, extent: moved.map(Wire.envelope))
  }

  // MARK: -

  private struct Features {
    let store: FeatureStore
    let reference: SpatialReference
    let isLayer: Bool
  }

  private static func features(_ layer: String?, _ overlay: String?, in world: World) throws -> Features {
    switch (layer, overlay) {
    case (let id?, nil):
      let layer = try world.layers.require(ID(id))
      guard let store = layer.store else { throw ModelError.notLoaded(id) }
      return Features(store: store, reference: layer.reference, isLayer: true)
    case (nil, let id?):
      let overlay = try world.overlays.require(ID(id))
      return Features(store: overlay.store, reference: overlay.reference, isLayer: false)
    default: throw ModelError.oneOf(["layer", "overlay"])
    }
  }

  /// The boxes to search, in the features' reference: two when they cross the antimeridian. Nil searches everything.
  private static func boxes(
    _ envelope: SessionProtocol.Envelope?, _ reference: String?, _ features: Features, _ world: World
  ) throws -> [Envelope]? {
    guard let envelope = envelope.map(Wire.envelope) else { return nil }
    guard envelope.yMin <= envelope.yMax else {
      throw RPCError(
        .invalidParams, "yMax is below yMin.", path: "/params/envelope/yMax", expected: "number not below yMin")
    }
    let own = try world.canonical(reference) ?? features.reference
    if envelope.xMin > envelope.xMax, try world.transformer.describe(own).kind != .geographic {
      throw RPCError(
        .invalidParams, "Only a box in degrees can cross the antimeridian.", path: "/params/envelope/xMax",
        expected: "number not below xMin")
    }
    let parts = envelope.split(at: 180)
    guard own != features.reference else { return parts }
    return try parts.map { try world.transformer.transform($0, from: own, to: features.reference) }
  }

  private static func allRows(
    of features: Features, _ envelope: SessionProtocol.Envelope?, _ reference: String?, _ ids: [Int]?, _ world: World
  ) throws -> [UInt32] {
    let boxes = try boxes(envelope, reference, features, world)
    let store = features.store
    guard let ids else {
      return boxes.map { store.sortedForDrawing(store.rows(in: $0)) } ?? store.rowsInDrawingOrder()
    }
    let rows = Set(ids.compactMap { store.row(of: $0) }).sorted().filter { row in
      guard let boxes else { return true }
      guard let box = store[row]?.envelope else { return false }
      return boxes.contains { $0.intersects(box) }
    }
    return store.sortedForDrawing(rows)
  }

  private static func rows(
    of features: Features, _ envelope: SessionProtocol.Envelope?, _ reference: String?, _ ids: [Int]?, offset: Int,
    limit: Int, _ world: World
  ) throws -> (page: ArraySlice<UInt32>, exceeded: Bool) {
    let rows = try allRows(of: features, envelope, reference, ids, world)
    let page = rows.dropFirst(offset).prefix(limit)
    return (page, page.endIndex < rows.endIndex)
  }

  /// The geometries of a page in another reference, made before anything is written, so that a failure is an error.
  private static func transformed(
    _ rows: ArraySlice<UInt32>, of store: FeatureStore, from source: SpatialReference, to target: SpatialReference,
    _ transformer: any CoordinateTransformer
  ) throws -> [Geometry?] {
    try rows.map { row in
      try store[row]?.geometry.map { try transformer.transform($0, from: source, to: target) }
    }
  }
}
