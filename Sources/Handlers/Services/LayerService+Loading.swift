// Handlers of `layer/*Load`. Requests for one layer share an attempt; loading a map or a scene waits for the attempts of its layers.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Readers
import Reading
import WireCoding

extension LayerService {
  package typealias LoadPlan = Plan<LayerProtocol.LoadResult>

  package static func load(_ params: Load.Params, in world: inout World) throws -> LoadPlan {
    let target = try LoadTarget(params.layer, params.map, params.scene)
    guard params.reload else { return try plan(target, retry: false, in: &world) }
    guard case .layer(let id) = target else {
      throw RPCError(.invalidParams, "`reload` is for a layer.", path: "/params/reload", expected: "false, or `layer`")
    }
    return try plan(id, retry: false, again: true, nil, in: &world)
  }

  package static func retryLoad(_ params: RetryLoad.Params, in world: inout World) throws -> LoadPlan {
    try plan(try LoadTarget(params.layer, params.map, params.scene), retry: true, params.credentials, in: &world)
  }

  package static func cancelLoad(
    _ params: CancelLoad.Params, on client: any HandlerClient
  ) throws -> CancelLoad.Result {
    let layers: [LayerID]
    switch try LoadTarget(params.layer, params.map, params.scene) {
    case .layer(let id): layers = [try client.world.layers.require(id).id]
    case .content(let content):
      _ = try client.world.content(of: content)
      layers = client.world.allLayers(of: content).map(\.id)
    }
    for layer in layers {
      if let task = client.tasks.find(.load(layer)) { client.end(task, with: .cancelled) }
    }
    return .init(revision: client.world.revision)
  }

  /// The target of a request: a layer, or all layers of a map or a scene.
  private enum LoadTarget {
    case layer(LayerID)
    case content(ViewContent)

    init(_ layer: String?, _ map: String?, _ scene: String?) throws(ModelError) {
      switch (layer, map, scene) {
      case (let layer?, nil, nil): self = .layer(ID(layer))
      case (nil, let map?, nil): self = .content(.map(ID(map)))
      case (nil, nil, let scene?): self = .content(.scene(ID(scene)))
      default: throw .oneOf(["layer", "map", "scene"])
      }
    }
  }

  private typealias Credentials = SourceProtocol.Credentials

  private static func plan(
    _ target: LoadTarget, retry: Bool, _ credentials: Credentials? = nil, in world: inout World
  ) throws -> LoadPlan {
    switch target {
    case .layer(let id): try plan(id, retry: retry, credentials, in: &world)
    case .content(let content): try plan(content, retry: retry, credentials, in: &world)
    }
  }

  // MARK: Maps and scenes

  private static func plan(
    _ content: ViewContent, retry: Bool, _ credentials: Credentials?, in world: inout World
  ) throws -> LoadPlan {
    _ = try world.content(of: content)
    let layers = world.allLayers(of: content).filter { $0.ownLoadStatus != nil }.map(\.id)
    var loads: [Prerequisite] = []
    for id in layers {
      let layer = try world.layers.require(id)
      var own = try openedOrigin(of: layer).lacksSecret ? credentials : nil
      if case .failed(let failure) = layer.ownLoadStatus, failure.kind.string == ErrorKind.credentialsNeeded.rawValue {
        own = credentials
      }
      switch layer.ownLoadStatus {
      case .loaded, nil: break
      case .failed where !retry: break
      case .failed, .notLoaded, .loading:
        do { loads.append(.load(id, try plan(id, retry: true, own, in: &world))) } catch ModelError.sourceClosed {
          world.failLoad(id, RPCError(ModelError.sourceClosed).failure)
        }
      }
    }
    return TaskPlan(.edit, after: loads) { _ in
      { world in
        for id in layers {
          // A layer that was removed during the load does not fail it.
          switch world.layers[id]?.ownLoadStatus {
          case .failed(let failure): throw RPCError(failure).with("layer", id.rawValue)
          case .notLoaded, .loading: throw RPCError.cancelled
          case .loaded, nil: break
          }
        }
        return .init(
          revision: world.revision, count: layers.count,
          featureCount: layers.reduce(0) { $0 + (world.layers[$1]?.featureCount ?? 0) })
      }
    }
  }

  // MARK: Layers

  private static func openedOrigin(of layer: Layer) throws -> SourceOrigin {
    try layer.raster.map { .file($0.origin) } ?? layer.requireFeatures().origin
  }

  private static func plan(
    _ id: LayerID, retry: Bool, again: Bool = false, _ credentials: Credentials?, in world: inout World
  ) throws -> LoadPlan {
    let origin = try credentials.map { try openedOrigin(of: try world.layers.require(id)).with($0) }
    guard case .read(let layer) = try world.beginLoad(id, retry: retry, again: again, from: origin) else {
      // Not an attempt: neither does it wait for one that reads again, nor does such a one join it.
      return TaskPlan(.edit) { _ in { result($0, try $0.layers.require(id)) } }
    }
    return TaskPlan(.load(id), abandon: { $0.abandonLoad(id) }) { worker in
      do {
        if let raster = layer.raster {
          let source = try RasterFileSource(raster, worker)
          return { world in
            try finish(id, in: &world) { (world) throws(ModelError) in try world.finishLoad(id, raster: source) }
          }
        }
        let (store, schema) = try FeatureLoading.store(of: try layer.requireFeatures(), worker)
        return { world in
          try finish(id, in: &world) { (world) throws(ModelError) in
            if let fault = world.fault(of: id, with: schema) { throw fault }
            return try world.finishLoad(id, store: store, schema: schema)
          }
        }
      } catch ReadError.cancelled {
        throw CancellationError()
      } catch let error as ReadError {
        let error = RPCError(error)
        return { world in
          world.failLoad(id, error.failure)
          throw error
        }
      }
    }
  }

  private static func finish(
    _ id: LayerID, in world: inout World, _ body: (inout World) throws(ModelError) -> Layer
  ) throws -> LayerProtocol.LoadResult {
    do throws(ModelError) {
      let layer = try body(&world)
      return result(world, layer)
    } catch {
      let error = RPCError(error, ofLayer: id)
      world.failLoad(id, error.failure)
      throw error
    }
  }

  private static func result(_ world: World, _ layer: Layer) -> LayerProtocol.LoadResult {
    .init(
      revision: world.revision, layer: layer.id.rawValue, count: 1, featureCount: world.live(layer).featureCount ?? 0,
      extent: world.live(layer).extent.map(Wire.envelope))
  }
}

/// Adapts an open file to the model's protocol.
private struct RasterFileSource: RasterSource {
  let pyramid: RasterPyramid
  var info: RasterInfo { pyramid.info }

  init(_ raster: LayerRaster, _ worker: Worker) throws(ReadError) {
    pyramid = try RasterPyramid(
      worker.readers, path: raster.origin.opened, table: raster.table?.string, policy: worker.files.policy
    ) { worker.isCancelled }
  }

  func pixels(
    _ window: RasterWindow, level: Int, bands: [Int], isNearest: Bool, isCancelled: () -> Bool
  ) throws -> RasterPixels {
    try pyramid.pixels(window, level: level, bands: bands, isNearest: isNearest, isCancelled: isCancelled)
  }

  func statistics(ofBand band: Int, isCancelled: () -> Bool) throws -> RasterStatistics? {
    try pyramid.statistics(ofBand: band, isCancelled: isCancelled)
  }
}
