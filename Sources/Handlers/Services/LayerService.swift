// Handlers of `layer/*` that read, update and select.

import FeatureStore
import Filtering
import GeoModel
import GeoProtocol
import Geometry
import JSON
import WireCoding

package enum LayerService: LayerHandlers {
  package static func list(_ params: List.Params, in world: World) throws -> List.Result {
    let containers: [ViewContent]
    if params.map == nil, params.scene == nil {
      containers = world.maps.ids.map { .map($0) } + world.scenes.ids.map { .scene($0) }
    } else {
      let content = try Wire.content(params.map, params.scene)
      _ = try world.content(of: content)
      containers = [content]
    }
    return .init(
      revision: world.revision, layers: containers.flatMap(world.allLayers).map { Wire.object($0, world) })
  }

  package static func update(_ params: Update.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.updateLayer(ID(params.layer), try Wire.changes(params.members))
    return { try Wire.object(LayerID(params.layer), in: $0) }
  }

  package static func select(_ params: Select.Params, in world: inout World) throws -> Answer<Select.Result> {
    let ids = try chosen(params, in: world)
    let count = try world.selectFeatures(ids, .init(params.mode), of: ID(params.layer))
    return { .init(revision: $0.revision, selectedCount: count) }
  }

  /// The ids to select: the given ones, restricted by `timeExtent`; or those of the visible features that match the criteria.
  private static func chosen(_ params: Select.Params, in world: World) throws -> [Int] {
    guard params.whereClause != nil || params.timeExtent != nil else { return params.ids ?? [] }
    guard params.ids == nil || params.whereClause == nil else { throw ModelError.oneOf(["ids", "whereClause"]) }
    let layer = try world.layers.require(ID(params.layer))
    let features = try layer.requireFeatures()
    guard let store = features.store else { throw ModelError.notLoaded(params.layer) }
    /// The ids of the rows within `timeExtent`, if given.
    func meeting(_ rows: [UInt32]) throws -> [Int] {
      var rows = rows
      if let given = params.timeExtent {
        guard let time = features.time else { throw ModelError.noTime(params.layer) }
        rows = features.rows(rows, meeting: try Wire.timeExtent(given, at: "/params/timeExtent"), by: time)
      }
      return rows.compactMap { store[$0]?.id }
    }
    if let ids = params.ids {
      let kept = Set(try meeting(store.rows(of: ids)))
      // Unknown ids are kept, so that selecting them is refused.
      return ids.filter { kept.contains($0) || !store.contains(id: $0) }
    }
    guard let given = params.whereClause else { return try meeting(features.shown(store.rowsInDrawingOrder())) }
    let condition = try world.condition(
      try Wire.parsed(given, at: "/params/whereClause"), over: store.schema, in: layer.reference, extent: store.extent,
      at: "/whereClause")
    return try meeting(features.shown(store.rows(where: condition)))
  }
}
