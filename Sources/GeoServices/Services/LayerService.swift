// Layers on the wire, and their loading.

import FeatureFormats
import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Query

enum LayerService: LayerHandlers {
  typealias Host = GeoServices.Host

  /// The key of the one task that loads a layer. No client's key has a NUL at its start by chance.
  static let loadKey = "\u{0}load"

  static func get(_ params: LayerProtocol.Get.Params, in world: World) throws -> LayerProtocol.Layer {
    Wire.layer(try world.layers.require(ID(params.layer)))
  }

  static func list(_ params: LayerProtocol.List.Params, in world: World) throws -> LayerProtocol.List.Result {
    let maps = try params.map.map { [try world.maps.require(ID($0))] } ?? world.maps.values
    return .init(
      revision: world.revision,
      layers: maps.flatMap(\.operationalLayers).compactMap { world.layers[$0] }.map(Wire.layer))
  }

  static func update(_ params: LayerProtocol.Update.Params, in world: inout World) throws -> LayerProtocol.Layer {
    try world.updateLayer(
      ID(params.layer),
      AppearanceUpdate(
        name: params.name, isVisible: params.isVisible, opacity: params.opacity, minScale: params.minScale,
        maxScale: params.maxScale, clear: params.clear ?? []),
      try Wire.portrayal(params.renderer, params.labels, params.labelsEnabled, params.popup, params.isPopupEnabled))
    return Wire.layer(try world.layers.require(ID(params.layer)))
  }

  static func cancelLoad(_ params: LayerProtocol.CancelLoad.Params, on host: Host) throws
    -> LayerProtocol.CancelLoad.Result
  {
    let layer = try host.world.layers.require(ID(params.layer))
    if let task = host.tasks.with(scope: ObjectReference(.layers, layer.id.rawValue), key: loadKey) {
      host.end(task, with: .cancelled)
    }
    return .init(revision: host.world.revision)
  }

  static func load(
    _ params: LayerProtocol.Load.Params, in world: inout World
  ) throws -> TaskPlan<Host, LayerProtocol.Load.Result> {
    try plan(ID(params.layer), retry: false, in: &world) {
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
        let store = try FeatureLoading.store(of: layer, worker)
        return { world in
          let layer = try world.finishLoad(id, store: store)
          return result(world, layer)
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
