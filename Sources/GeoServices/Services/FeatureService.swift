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
    let features = try features(
      params.layer, params.overlay, params.whereClause, params.isSelected, in: world)
    let rows = try rows(
      of: features, params.envelope, params.spatialReference, params.ids, offset: params.offset, limit: params.limit,
      world)
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
    let features = try features(
      params.layer, params.overlay, params.whereClause, params.isSelected, in: world)
    let rows = try rows(
      of: features, params.envelope, params.spatialReference, params.ids, offset: params.offset, limit: params.limit,
      world)
    return .init(
      revision: world.revision, exceededLimit: rows.exceeded, ids: rows.page.compactMap { features.store[$0]?.id })
  }

  static func queryCount(
    _ params: FeatureProtocol.QueryCount.Params, in world: World
  ) throws -> FeatureProtocol.QueryCount.Result {
    let features = try features(
      params.layer, params.overlay, params.whereClause, params.isSelected, in: world)
    let area = try area(params.envelope, params.spatialReference, features, world)
    let count: Int
    if params.ids == nil, area == nil, features.wantsAll {
      count = features.store.count
    } else if params.ids == nil, features.wantsAll, let area, let own = area.own, area.reference == features.reference {
      count = features.store.count(in: own)
    } else {
      count = try allRows(of: features, params.envelope, params.spatialReference, params.ids, world).count
    }
    return .init(revision: world.revision, count: count)
  }

  static func queryExtent(
    _ params: FeatureProtocol.QueryExtent.Params, in world: World
  ) throws -> FeatureProtocol.QueryExtent.Result {
    let features = try features(
      params.layer, params.overlay, params.whereClause, params.isSelected, in: world)
    let reference = try world.canonical(params.outSpatialReference) ?? features.reference
    var extent = Envelope.none
    var count = 0
    if params.envelope == nil, params.ids == nil, features.wantsAll {
      if let all = features.store.extent { extent = all }
      count = features.store.count
    } else {
      for row in try allRows(of: features, params.envelope, params.spatialReference, params.ids, world) {
        count += 1
        if let box = features.store[row]?.envelope { extent.include(box) }
      }
    }
    let moved = extent.isNone ? nil : try world.transformer.bounds(of: extent, from: features.reference, to: reference)
    return .init(
      revision: world.revision, spatialReference: reference.definition, count: count, extent: moved.map(Wire.envelope))
  }

  // MARK: -

  private struct Features {
    let store: FeatureStore
    let reference: SpatialReference
    /// Nil for an overlay.
    let layer: LayerFeatures?

    /// What is asked for of each.
    var condition: CompiledExpression?
    var isSelected: Bool?

    /// Those that count, by what the layer shows and what is asked for.
    func wanted(_ rows: [UInt32]) -> [UInt32] {
      var rows = layer?.shown(rows) ?? rows
      if let condition { rows = condition.filter(rows, of: store) }
      if let isSelected { rows = rows.filter { store[$0]?.isSelected == isSelected } }
      return rows
    }

    var wantsAll: Bool { isSelected == nil && condition == nil && layer?.showsAll ?? true }
  }

  private static func features(
    _ layer: String?, _ overlay: String?, _ condition: String?, _ isSelected: Bool?, in world: World
  ) throws -> Features {
    var result: Features
    switch (layer, overlay) {
    case (let id?, nil):
      let layer = try world.layers.require(ID(id))
      let features = try layer.requireFeatures()
      guard let store = features.store else { throw ModelError.notLoaded(id) }
      result = Features(store: store, reference: layer.reference, layer: features)
    case (nil, let id?):
      let overlay = try world.overlays.require(ID(id))
      result = Features(store: overlay.store, reference: overlay.reference, layer: nil)
    default: throw ModelError.oneOf(["layer", "overlay"])
    }
    result.isSelected = isSelected
    if let condition {
      result.condition = try Expression.condition(condition, over: result.store.schema, at: "/params/whereClause").1
    }
    return result
  }

  /// A box to search in: in the reference it was given in, and as boxes of the features' own for the index.
  private struct Area {
    let reference: SpatialReference
    /// Two when it crosses the antimeridian.
    let given: [Envelope]
    /// Together they hold at least all that the given ones do; nil for everything.
    let own: [Envelope]?
  }

  private static func area(
    _ envelope: SessionProtocol.Envelope?, _ reference: String?, _ features: Features, _ world: World
  ) throws -> Area? {
    guard let envelope = envelope.map(Wire.envelope) else { return nil }
    guard envelope.yMin <= envelope.yMax else {
      throw RPCError(
        .invalidParams, "yMax is below yMin.", path: "/params/envelope/yMax", expected: "number not below yMin")
    }
    let given = try world.canonical(reference) ?? features.reference
    if envelope.xMin > envelope.xMax, try world.transformer.describe(given).kind != .geographic {
      throw RPCError(
        .invalidParams, "Only a box in degrees can cross the antimeridian.", path: "/params/envelope/xMax",
        expected: "number not below xMin")
    }
    let parts = envelope.split(at: 180)
    guard given != features.reference else { return Area(reference: given, given: parts, own: parts) }
    var own: [Envelope]? = []
    for part in parts {
      guard let found = try holding(part, of: given, in: features.reference, world.transformer) else {
        own = nil
        break
      }
      own?.append(contentsOf: found)
    }
    return Area(reference: given, given: parts, own: own)
  }

  /// Boxes that hold all of `box`; nil when no box is known to.
  private static func holding(
    _ box: Envelope, of source: SpatialReference, in target: SpatialReference, _ transformer: any CoordinateTransformer
  ) throws -> [Envelope]? {
    // What cannot be had is no error: the exact test that follows looks at every feature then.
    guard let bounds = try? transformer.bounds(of: box, from: source, to: target),
      let center = try? transformer.transform(box.center, from: source, to: target)
    else { return nil }
    let parts = bounds.split(at: 180)
    // A box that goes around the world more than once has bounds that leave its own middle out.
    return parts.contains { $0.contains(x: center.x, y: center.y) } ? parts : nil
  }

  /// Whether a feature's own envelope, in the reference of the area, meets it.
  private static func meets(
    _ row: FeatureRow, _ area: Area, _ features: Features, _ transformer: any CoordinateTransformer
  ) -> Bool {
    if area.reference == features.reference {
      guard let box = row.envelope else { return false }
      return area.given.contains { $0.intersects(box) }
    }
    guard let geometry = row.geometry, !geometry.isEmpty,
      let box = (try? transformer.transform(geometry, from: features.reference, to: area.reference))?.envelope
    else { return false }
    return area.given.contains { $0.intersects(box) }
  }

  private static func allRows(
    of features: Features, _ envelope: SessionProtocol.Envelope?, _ reference: String?, _ ids: [Int]?, _ world: World
  ) throws -> [UInt32] {
    let area = try area(envelope, reference, features, world)
    let store = features.store
    var rows: [UInt32]
    if let ids {
      rows = Set(ids.compactMap { store.row(of: $0) }).sorted()
    } else if let own = area?.own {
      rows = store.rows(in: own)
    } else if area != nil {
      rows = store.rowsInDrawingOrder().sorted()
    } else {
      return features.wanted(store.rowsInDrawingOrder())
    }
    // The index has answered exactly where the box is in the features' own reference.
    if let area, ids != nil || area.reference != features.reference {
      rows = rows.filter { row in store[row].map { meets($0, area, features, world.transformer) } ?? false }
    }
    return store.sortedForDrawing(features.wanted(rows))
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
    try rows.map { (row) throws -> Geometry? in
      guard let feature = store[row], let geometry = feature.geometry else { return nil }
      do throws(TransformError) { return try transformer.transform(geometry, from: source, to: target) } catch {
        throw RPCError(error).with("feature", feature.id)
      }
    }
  }
}
