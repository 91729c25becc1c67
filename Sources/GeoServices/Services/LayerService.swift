// Handlers of `layer/*` that read, update and select.

import GeoModel
import GeoProtocol
import Geometry
import Query

enum LayerService: LayerHandlers {
  typealias Types = Server

  static func get(_ params: LayerProtocol.Get.Params, in world: World) throws -> LayerProtocol.Layer {
    Wire.layer(try world.layers.require(ID(params.layer)), world)
  }

  static func list(_ params: LayerProtocol.List.Params, in world: World) throws -> LayerProtocol.List.Result {
    let containers: [ViewContent]
    if params.map == nil, params.scene == nil {
      containers = world.maps.ids.map { .map($0) } + world.scenes.ids.map { .scene($0) }
    } else {
      let content = try Wire.content(params.map, params.scene)
      _ = try world.content(of: content)
      containers = [content]
    }
    return .init(
      revision: world.revision, layers: containers.flatMap(world.allLayers).map { Wire.layer($0, world) })
  }

  static func update(_ params: LayerProtocol.Update.Params, in world: inout World) throws -> LayerProtocol.Layer {
    try world.updateLayer(ID(params.layer), try changes(params))
    return Wire.layer(try world.layers.require(ID(params.layer)), world)
  }

  static func changes(_ params: LayerProtocol.Update.Params) throws -> LayerUpdate {
    LayerUpdate(
      AppearanceUpdate(
        name: params.name, isVisible: params.isVisible, opacity: params.opacity, minScale: params.minScale,
        maxScale: params.maxScale, clear: params.clear ?? []),
      portrayal: try portrayal(params), visibilityMode: params.visibilityMode.map(Wire.visibilityMode),
      definitionExpression: params.definitionExpression, time: try params.time.map(time),
      isTimeFilterEnabled: params.isTimeFilterEnabled)
  }

  private static func portrayal(_ params: LayerProtocol.Update.Params) throws -> PortrayalUpdate? {
    guard
      params.renderer != nil || params.labels != nil || params.labelsEnabled != nil || params.popup != nil
        || params.isPopupEnabled != nil
    else { return nil }
    return try Wire.portrayal(
      params.renderer, params.labels, params.labelsEnabled, params.popup, params.isPopupEnabled)
  }

  private static func time(_ time: LayerProtocol.LayerTime) throws -> LayerTime {
    LayerTime(
      startField: time.startField, endField: time.endField,
      extent: try time.extent.map { try Wire.timeExtent($0, at: "/params/time/extent") })
  }

  static func select(
    _ params: LayerProtocol.Select.Params, in world: inout World
  ) throws -> LayerProtocol.Select.Result {
    let mode: SelectionMode =
      switch params.mode {
      case .replace: .replace
      case .add: .add
      case .remove: .remove
      }
    let id = LayerID(params.layer)
    let ids = try chosen(params, in: world)
    let count = try world.selectFeatures(ids, mode, of: id)
    return .init(revision: world.revision, selectedCount: count)
  }

  /// The ids to select: those given, restricted by `timeExtent`; or those of the visible features that match the criteria.
  private static func chosen(_ params: LayerProtocol.Select.Params, in world: World) throws -> [Int] {
    guard params.whereClause != nil || params.timeExtent != nil else { return params.ids ?? [] }
    guard params.ids == nil || params.whereClause == nil else { throw ModelError.oneOf(["ids", "whereClause"]) }
    let features = try world.layers.require(ID(params.layer)).requireFeatures()
    guard let store = features.store else { throw ModelError.notLoaded(params.layer) }
    /// The ids of the rows that `timeExtent`, if given, includes.
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
    guard let text = params.whereClause else { return try meeting(features.shown(store.rowsInDrawingOrder())) }
    let condition = try Expression.condition(text, over: store.schema, at: "/params/whereClause").1
    return try meeting(features.shown(store.rows(where: condition)))
  }
}
