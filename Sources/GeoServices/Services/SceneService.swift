// Scenes on the wire, and their elevations.

import Elevation
import GeoModel
import GeoProtocol
import Geometry
import JSONRPC

enum SceneService: SceneHandlers {
  typealias Types = Server

  static func create(
    _ params: SceneProtocol.Create.Params, in world: inout World
  ) throws -> Plan<SceneProtocol.Scene> {
    if let scene = existing(world.scenes, params.id, params.ifExists) {
      return TaskPlan { _ in { Wire.scene(scene, $0) } }
    }
    let id = params.id.map { SceneID($0) }
    try world.checkFree(id)
    return TaskPlan { worker in
      let opened = try params.elevationSources.map { try elevationSource(try worker.files.path($0), worker) }
      return { world in
        // One that was under way when this began may have come first.
        if let scene = existing(world.scenes, params.id, params.ifExists) { return Wire.scene(scene, world) }
        let scene = try world.addScene(id: id, title: params.title, elevationSources: opened)
        return Wire.scene(scene, world)
      }
    }
  }

  /// Opens a raster; runs on a worker.
  static func elevationSource(_ path: String, _ worker: Worker) throws -> any ElevationSource {
    try worker.checkCancelled()
    return RasterSource(try ElevationRaster(path: path, policy: worker.files.policy))
  }

  static func get(_ params: SceneProtocol.Get.Params, in world: World) throws -> SceneProtocol.Scene {
    Wire.scene(try world.scenes.require(ID(params.scene)), world)
  }

  static func list(_ params: SceneProtocol.List.Params, in world: World) throws -> SceneProtocol.List.Result {
    .init(revision: world.revision, scenes: world.scenes.values.map { Wire.scene($0, world) })
  }

  static func update(_ params: SceneProtocol.Update.Params, in world: inout World) throws -> SceneProtocol.Scene {
    let id = SceneID(params.scene)
    try world.updateContent(
      of: .scene(id),
      MapContentUpdate(
        title: params.title, basemap: params.basemap.map { BasemapUpdate(name: $0.name) },
        bookmarks: try params.bookmarks.map { try $0.map(Wire.bookmark) },
        initialViewpoint: try params.initialViewpoint.map(Wire.target), referenceScale: params.referenceScale,
        minScale: params.minScale, maxScale: params.maxScale,
        backgroundColor: params.backgroundColor.flatMap { Color($0) }, clear: params.clear ?? []))
    if let surface = params.baseSurface {
      try world.updateSurface(
        of: id,
        BaseSurfaceUpdate(
          elevationExaggeration: surface.elevationExaggeration, isEnabled: surface.isEnabled,
          opacity: surface.opacity))
    }
    return Wire.scene(try world.scenes.require(id), world)
  }

  static func close(_ params: SceneProtocol.Close.Params, in world: inout World) throws -> SceneProtocol.Close.Result {
    try world.closeScene(ID(params.scene))
    return .init(revision: world.revision)
  }

  // MARK: The ground

  static func addElevationSource(
    _ params: SceneProtocol.AddElevationSource.Params, in world: inout World
  ) throws -> Plan<SceneProtocol.AddElevationSource.Result> {
    try world.checkElevationSource(params.id, in: ID(params.scene), at: params.index)
    let document = world.documentNumber
    return TaskPlan { worker in
      let source = try elevationSource(try worker.files.path(params.path), worker)
      return { world in
        try checkIsStill(document, ID(params.scene), world)
        let id = try world.addElevationSource(
          .loaded(source), path: source.path, id: params.id, to: ID(params.scene), at: params.index)
        return .init(elevationSource: id, revision: world.revision)
      }
    }
  }

  /// Refuses to go on with a scene that went with its document, though another may have its id.
  private static func checkIsStill(_ document: Int, _ scene: SceneID, _ world: World) throws {
    guard world.documentNumber == document else { throw ModelError.unknownID(.scenes, scene.rawValue) }
  }

  static func retryElevationSource(
    _ params: SceneProtocol.RetryElevationSource.Params, in world: inout World
  ) throws -> Plan<SceneProtocol.RetryElevationSource.Result> {
    let scene = SceneID(params.scene)
    let source = try world.elevationSource(params.elevationSource, in: scene)
    let document = world.documentNumber
    return TaskPlan { worker in
      let outcome = try source.failure.map { _ in try retried(source.path.string, worker) }
      return { world in
        try checkIsStill(document, scene, world)
        switch outcome {
        case .success(let raster)?: try world.setRaster(.loaded(raster), of: source.id, in: scene)
        case .failure(let error)?:
          try world.setRaster(.failed(RPCError(error).failure), of: source.id, in: scene)
          throw error
        case nil: break
        }
        let now = try world.elevationSource(source.id, in: scene)
        return .init(elevationSource: Wire.elevationSource(now), revision: world.revision)
      }
    }
  }

  private static func retried(_ path: String, _ worker: Worker) throws -> Result<any ElevationSource, ElevationError> {
    do { return .success(try elevationSource(path, worker)) } catch let error as ElevationError {
      return .failure(error)
    }
  }

  static func removeElevationSource(
    _ params: SceneProtocol.RemoveElevationSource.Params, in world: inout World
  ) throws -> SceneProtocol.RemoveElevationSource.Result {
    try world.removeElevationSource(params.elevationSource, from: ID(params.scene))
    return .init(revision: world.revision)
  }

  static func moveElevationSource(
    _ params: SceneProtocol.MoveElevationSource.Params, in world: inout World
  ) throws -> SceneProtocol.MoveElevationSource.Result {
    let scene = SceneID(params.scene)
    try world.moveElevationSource(params.elevationSource, in: scene, to: params.index)
    return .init(
      revision: world.revision,
      elevationSources: try world.scenes.require(scene).surface.elevationSources.map(\.id))
  }

  static func elevation(
    _ params: SceneProtocol.Elevation.Params, in world: inout World
  ) throws -> Plan<SceneProtocol.Elevation.Result> {
    let surface = try world.scenes.require(ID(params.scene)).surface
    var points: [Point] = []
    points.reserveCapacity(params.points.count)
    for point in params.points { points.append(try Wire.point(point)) }
    let asked = points
    let reference = try world.canonical(params.spatialReference) ?? .wgs84
    let transformer = world.transformer
    let revision = world.revision
    return TaskPlan { worker in
      let elevations = try surface.elevations(
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
