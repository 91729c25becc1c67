// Loading all of a map or a scene: one task that waits for those of its layers, which others may share.

import GeoModel
import GeoProtocol
import JSONRPC

enum ContentLoading {
  /// - Parameter result: made when all loads have ended well, from the world and the number of layers and tables.
  static func plan<R>(
    for container: ViewContent, retry: Bool, in world: inout World, _ result: @escaping @Sendable (World, Int) -> R
  ) throws -> TaskPlan<Host, R> {
    _ = try world.content(of: container)
    let layers = world.allLayers(of: container).filter { $0.features != nil }.map(\.id)
    var plans: [LayerID: TaskPlan<Host, LayerProtocol.Load.Result>] = [:]
    for id in layers {
      switch try world.layers.require(id).requireFeatures().loadStatus {
      case .loaded, .loading: break
      case .failed where !retry: break
      case .failed, .notLoaded:
        do { plans[id] = try LayerService.plan(id, retry: true, in: &world) } catch ModelError.sourceClosed {
          world.failLoad(id, RPCError(ModelError.sourceClosed).failure)
        }
      }
    }
    let begun = plans
    return TaskPlan(awaiting: { host in
      layers.compactMap { id in
        begun[id].map { host.beginLoad(of: id, $0) } ?? host.tasks.load(of: id)
      }
    }) { world in
      for id in layers {
        // A layer that was removed meanwhile is nobody's concern.
        switch world.layers[id]?.features?.loadStatus {
        case .failed(let failure): throw RPCError(failure).with("layer", id.rawValue)
        case .notLoaded, .loading: throw RPCError.cancelled
        case .loaded, nil: break
        }
      }
      return result(world, layers.count)
    }
  }

  /// Ends every load under way.
  static func cancel(_ container: ViewContent, on host: Host) throws {
    _ = try host.world.content(of: container)
    for layer in host.world.allLayers(of: container) {
      if let task = host.tasks.load(of: layer.id) { host.end(task, with: .cancelled) }
    }
  }
}

extension MapService {
  static func load(
    _ params: MapProtocol.Load.Params, in world: inout World
  ) throws -> TaskPlan<Host, MapProtocol.Load.Result> {
    try ContentLoading.plan(for: .map(ID(params.map)), retry: false, in: &world) {
      .init(revision: $0.revision, count: $1)
    }
  }

  static func retryLoad(
    _ params: MapProtocol.RetryLoad.Params, in world: inout World
  ) throws -> TaskPlan<Host, MapProtocol.RetryLoad.Result> {
    try ContentLoading.plan(for: .map(ID(params.map)), retry: true, in: &world) {
      .init(revision: $0.revision, count: $1)
    }
  }

  static func cancelLoad(
    _ params: MapProtocol.CancelLoad.Params, on host: Host
  ) throws -> MapProtocol.CancelLoad.Result {
    try ContentLoading.cancel(.map(ID(params.map)), on: host)
    return .init(revision: host.world.revision)
  }
}

extension SceneService {
  static func load(
    _ params: SceneProtocol.Load.Params, in world: inout World
  ) throws -> TaskPlan<Host, SceneProtocol.Load.Result> {
    try ContentLoading.plan(for: .scene(ID(params.scene)), retry: false, in: &world) {
      .init(revision: $0.revision, count: $1)
    }
  }

  static func retryLoad(
    _ params: SceneProtocol.RetryLoad.Params, in world: inout World
  ) throws -> TaskPlan<Host, SceneProtocol.RetryLoad.Result> {
    try ContentLoading.plan(for: .scene(ID(params.scene)), retry: true, in: &world) {
      .init(revision: $0.revision, count: $1)
    }
  }

  static func cancelLoad(
    _ params: SceneProtocol.CancelLoad.Params, on host: Host
  ) throws -> SceneProtocol.CancelLoad.Result {
    try ContentLoading.cancel(.scene(ID(params.scene)), on: host)
    return .init(revision: host.world.revision)
  }
}
