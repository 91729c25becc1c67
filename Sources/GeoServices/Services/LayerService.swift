// Layers on the wire, and their loading.

import FeatureFormats
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Query

enum LayerService: LayerHandlers {
  typealias Host = GeoServices.Host

  /// The key of the one task that loads a layer. No client's key has a NUL at its start by chance.
  static let loadKey = "\u{0}load"

  static func get(_ params: LayerProtocol.Get.Params, in world: World) throws -> JSONOpaque {
    Wire.object(try world.layers.require(ID(params.layer)), world)
  }

  static func list(_ params: LayerProtocol.List.Params, in world: World) throws -> LayerProtocol.List.Result {
    let containers: [ViewContent]
    switch (params.map, params.scene) {
    case (let map?, nil): containers = [.map(try world.maps.require(ID(map)).id)]
    case (nil, let scene?): containers = [.scene(try world.scenes.require(ID(scene)).id)]
    case (nil, nil): containers = world.maps.ids.map { .map($0) } + world.scenes.ids.map { .scene($0) }
    case (_?, _?): throw ModelError.oneOf(["map", "scene"])
    }
    return .init(
      revision: world.revision, layers: containers.flatMap(world.allLayers).map { Wire.object($0, world) })
  }

  static func update(_ params: LayerProtocol.Update.Params, in world: inout World) throws -> JSONOpaque {
    try world.updateLayer(ID(params.layer), try Wire.changes(params.members))
    return Wire.object(try world.layers.require(ID(params.layer)), world)
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

  /// The ids that a selection names, or those of the features that count which it describes.
  private static func chosen(_ params: LayerProtocol.Select.Params, in world: World) throws -> [Int] {
    guard params.whereClause != nil || params.timeExtent != nil else { return params.ids ?? [] }
    guard params.ids == nil || params.whereClause == nil else { throw ModelError.oneOf(["ids", "whereClause"]) }
    let features = try world.layers.require(ID(params.layer)).requireFeatures()
    guard let store = features.store else { throw ModelError.notLoaded(params.layer) }
    /// Those of the rows that meet the span, where there is one.
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
      // Ids of nobody stay among them, to be refused.
      return ids.filter { kept.contains($0) || !store.contains(id: $0) }
    }
    guard let text = params.whereClause else { return try meeting(features.shown(store.rowsInDrawingOrder())) }
    let condition = try Expression.condition(text, over: store.schema, at: "/params/whereClause").1
    return try meeting(features.shown(store.rows(where: condition)))
  }

  static func cancelLoad(_ params: LayerProtocol.CancelLoad.Params, on host: Host) throws
    -> LayerProtocol.CancelLoad.Result
  {
    let layer = try host.world.layers.require(ID(params.layer))
    if let task = host.tasks.load(of: layer.id) { host.end(task, with: .cancelled) }
    return .init(revision: host.world.revision)
  }

  static func load(
    _ params: LayerProtocol.Load.Params, in world: inout World
  ) throws -> TaskPlan<Host, LayerProtocol.Load.Result> {
    try plan(ID(params.layer), retry: false, in: &world)
  }

  /// What loads a layer, as `layer/load` answers it.
  static func plan(
    _ id: LayerID, retry: Bool, in world: inout World
  ) throws -> TaskPlan<Host, LayerProtocol.Load.Result> {
    try plan(id, retry: retry, in: &world) {
      .init(
        revision: $0.revision, layer: $1.id.rawValue, featureCount: $1.featureCount ?? 0,
        extent: $1.extent.map(Wire.envelope))
    }
  }

  static func retryLoad(
    _ params: LayerProtocol.RetryLoad.Params, in world: inout World
  ) throws -> TaskPlan<Host, LayerProtocol.RetryLoad.Result> {
    try plan(ID(params.layer), retry: true, in: &world) {
      .init(
        revision: $0.revision, layer: $1.id.rawValue, featureCount: $1.featureCount ?? 0,
        extent: $1.extent.map(Wire.envelope))
    }
  }

  private static func plan<R>(
    _ id: LayerID, retry: Bool, in world: inout World, _ result: @escaping @Sendable (World, Layer) -> R
  ) throws -> TaskPlan<Host, R> {
    guard case .read(let layer) = try world.beginLoad(id, retry: retry) else {
      return TaskPlan { _ in { result($0, try $0.layers.require(id)) } }
    }
    return TaskPlan(abandon: { $0.abandonLoad(id) }) { worker in
      do {
        let (store, schema) = try FeatureLoading.store(of: try layer.requireFeatures(), worker)
        return { world in
          do throws(ModelError) {
            if let fault = world.fault(of: id, with: schema) { throw fault }
            let layer = try world.finishLoad(id, store: store, schema: schema)
            return result(world, layer)
          } catch {
            let error = RPCError(error, ofLayer: id)
            world.failLoad(id, error.failure)
            throw error
          }
        }
      } catch FormatError.cancelled {
        throw CancellationError()
      } catch let error as FormatError {
        let error = RPCError(error)
        return { world in
          world.failLoad(id, error.failure)
          throw error
        }
      }
    }
  }
}
