// Scenes on the wire, and their elevations.

import Elevation
import GeoModel
import GeoProtocol
import Geometry
import JSONRPC

enum SceneService: SceneHandlers {
  typealias Host = GeoServices.Host

  static func create(
    _ params: SceneProtocol.Create.Params, in world: inout World
  ) throws -> TaskPlan<Host, SceneProtocol.Scene> {
    if let scene = existing(world.scenes, params.id, params.ifExists) {
      return TaskPlan { _ in { _ in Wire.scene(scene) } }
    }
    let id = params.id.map { SceneID($0) }
    try world.checkFree(id)
    return TaskPlan { worker in
      let opened = try params.elevationSources.map { try elevationSource(try worker.files.path($0), worker) }
      return { world in Wire.scene(try world.addScene(id: id, title: params.title, elevationSources: opened)) }
    }
  }

  /// Opens a raster; runs on a worker.
  static func elevationSource(_ path: String, _ worker: Worker) throws -> any ElevationSource {
    try worker.checkCancelled()
    return RasterSource(try ElevationRaster(path: path, policy: worker.files.policy))
  }

  static func get(_ params: SceneProtocol.Get.Params, in world: World) throws -> SceneProtocol.Scene {
    Wire.scene(try world.scenes.require(ID(params.scene)))
  }

  static func list(_ params: SceneProtocol.List.Params, in world: World) throws -> SceneProtocol.List.Result {
    .init(revision: world.revision, scenes: world.scenes.values.map(Wire.scene))
  }

  static func close(_ params: SceneProtocol.Close.Params, in world: inout World) throws -> SceneProtocol.Close.Result {
    try world.closeScene(ID(params.scene))
    return .init(revision: world.revision)
  }

  static func elevation(
    _ params: SceneProtocol.Elevation.Params, in world: inout World
  ) throws -> TaskPlan<Host, SceneProtocol.Elevation.Result> {
    let scene = try world.scenes.require(ID(params.scene))
    var points: [Point] = []
    points.reserveCapacity(params.points.count)
    for point in params.points { points.append(try Wire.point(point)) }
    let asked = points
    let reference = try world.canonical(params.spatialReference) ?? .wgs84
    let transformer = world.transformer
    let revision = world.revision
    return TaskPlan { worker in
      let elevations = try scene.elevations(
        at: asked, reference: reference, interpolation: params.interpolation == .nearest ? .nearest : .bilinear,
        transformer: transformer
      ) { worker.isCancelled }
      try worker.checkCancelled()
      let result = SceneProtocol.Elevation.Result(revision: revision, elevations: elevations.map(Wire.elevation))
      return { _ in result }
    }
  }
}

/// A raster file as the model sees it.
private struct RasterSource: ElevationSource {
  let raster: ElevationRaster
  let path: String
  let reference: SpatialReference
  let extent: Envelope
  let resolution: Double

  init(_ raster: ElevationRaster) {
    self.raster = raster
    path = raster.description.path
    reference = raster.description.spatialReference ?? .wgs84
    extent = raster.description.extent
    resolution = raster.description.transform.resolution.x
  }

  func sample(
    _ points: [Point], interpolation: Interpolation, isCancelled: @Sendable () -> Bool
  ) throws -> [HeightSample] {
    let samples = try raster.sample(
      Positions(points), interpolation: interpolation == .nearest ? .nearest : .bilinear, isCancelled: isCancelled)
    return samples.map { sample in
      switch sample {
      case .value(let height): .value(height)
      case .noData: .noData
      case .outside: .outside
      }
    }
  }
}
