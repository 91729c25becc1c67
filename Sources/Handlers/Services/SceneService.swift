// Handlers of `scene/*`: scenes, elevation sources and elevations.

import Elevation
import Files
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Reading
import WireCoding

package enum SceneService: SceneHandlers {
  package static func create(_ params: Create.Params, in world: inout World) throws -> Plan<JSONOpaque> {
    if params.ifExists == .reuse, let scene = params.id.flatMap({ world.scenes[ID($0)] }) {
      return TaskPlan { _ in { Wire.object(scene, $0) } }
    }
    let id = params.id.map { SceneID($0) }
    try world.checkFree(id, params.ifExists)
    @Sendable func add(_ elevationSources: [any ElevationSource], to world: inout World) throws -> JSONOpaque {
      // Another request may have created it while this task ran.
      if let scene = try world.existing(params.id, params.ifExists, Scene.self, { _, _ in [:] }) { return Wire.object(scene, world) }
      let scene = try world.addScene(id: id, title: nil, elevationSources: elevationSources)
      try world.updateContent(of: .scene(scene.id), try Wire.changes(params.members))
      return try Wire.object(scene.id, in: world)
    }
    if params.elevationSources.isEmpty { return TaskPlan(.edit, answer: try add([], to: &world)) }
    return TaskPlan(.openRaster) { worker in
      let opened = try params.elevationSources.map { try elevationSource(try worker.files.path($0), worker) }
      return { try add(opened, to: &$0) }
    }
  }

  /// Opens a raster. Runs on a worker.
  package static func elevationSource(_ path: String, _ worker: Worker) throws -> any ElevationSource {
    try worker.checkCancelled()
    return RasterSource(
      raster: try ElevationRaster(worker.readers, path: path, policy: worker.files.policy) { worker.isCancelled })
  }

  package static func update(_ params: Update.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    let id = SceneID(params.scene)
    try world.updateContent(of: .scene(id), try Wire.changes(params.members))
    return { try Wire.object(id, in: $0) }
  }

  // MARK: Elevation

  package static func addElevationSource(
    _ params: AddElevationSource.Params, in world: inout World
  ) throws -> Plan<AddElevationSource.Result> {
    try world.checkElevationSource(params.id, in: ID(params.scene), at: params.index)
    let document = world.document.number
    return TaskPlan(.openRaster) { worker in
      let source = try elevationSource(try worker.files.path(params.path), worker)
      return { world in
        try checkDocument(document, ID(params.scene), world)
        let id = try world.addElevationSource(
          .loaded(source), path: source.path, id: params.id, to: ID(params.scene), at: params.index)
        return .init(elevationSource: id, revision: world.revision)
      }
    }
  }

  /// Throws if the document was closed after the request: a scene with the same id is then another object.
  private static func checkDocument(_ document: Int, _ scene: SceneID, _ world: World) throws {
    guard world.document.number == document else { throw ModelError.unknownID(.scenes, scene.rawValue) }
  }

  package static func retryElevationSource(
    _ params: RetryElevationSource.Params, in world: inout World
  ) throws -> Plan<RetryElevationSource.Result> {
    let scene = SceneID(params.scene)
    let source = try world.elevationSource(params.elevationSource, in: scene)
    let document = world.document.number
    let path = source.path.string
    let address = params.credentials.map { Address(path).with(Credentials($0)) } ?? path
    return TaskPlan(.openRaster) { worker in
      let outcome = try source.failure.map { _ in try retried(address, worker) }
      return { world in
        try checkDocument(document, scene, world)
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

  private static func retried(_ path: String, _ worker: Worker) throws -> Result<any ElevationSource, ReadError> {
    do { return .success(try elevationSource(path, worker)) } catch let error as ReadError {
      return .failure(error)
    }
  }

  package static func removeElevationSource(_ params: RemoveElevationSource.Params, in world: inout World) throws {
    try world.removeElevationSource(params.elevationSource, from: ID(params.scene))
  }

  package static func moveElevationSource(
    _ params: MoveElevationSource.Params, in world: inout World
  ) throws -> Answer<MoveElevationSource.Result> {
    let scene = SceneID(params.scene)
    try world.moveElevationSource(params.elevationSource, in: scene, to: params.index)
    return {
      .init(
        revision: $0.revision,
        elevationSources: try $0.scenes.require(scene).surface.elevationSources.map(\.id))
    }
  }

  /// Number of points whose elevations are found on the loop if their tiles are kept.
  private static let elevationsOnLoop = 16

  package static func elevation(
    _ params: SceneProtocol.Elevation.Params, in world: inout World
  ) throws -> Plan<SceneProtocol.Elevation.Result> {
    let surface = try world.scenes.require(ID(params.scene)).surface
    let requested = try params.points.map { try Wire.point($0) }
    let reference = try world.canonical(params.spatialReference) ?? .wgs84
    let transformer = world.transformer
    let revision = world.revision
    @Sendable func result(
      onlyKept: Bool, isCancelled: @escaping @Sendable () -> Bool
    ) throws -> SceneProtocol.Elevation.Result? {
      let elevations = try surface.elevations(
        at: requested, reference: reference, interpolation: .init(params.interpolation),
        stopsAtNoData: params.stopAtNoData, transformer: transformer, onlyKept: onlyKept, isCancelled: isCancelled)
      return elevations.map { .init(revision: revision, elevations: $0.map(Wire.elevation)) }
    }
    if requested.count <= elevationsOnLoop, let known = try result(onlyKept: true, isCancelled: { false }) {
      return TaskPlan(.readRaster, answer: known)
    }
    return TaskPlan(.readRaster, result: { worker in
      let found = try result(onlyKept: false) { worker.isCancelled }
      try worker.checkCancelled()
      guard let found else { throw RPCError.internalError("an elevation source has read nothing") }
      return found
    })
  }
}

/// Adapts a raster file to the model's protocol.
private struct RasterSource: ElevationSource {
  let raster: ElevationRaster
  var path: String { raster.description.path }
  var reference: SpatialReference { raster.description.spatialReference ?? .wgs84 }
  var extent: Envelope { raster.description.extent }
  var resolution: Double { raster.description.transform.resolution.x }
  var transform: RasterTransform { raster.description.transform }
  var width: Int { raster.description.width }
  var height: Int { raster.description.height }
  var unknownUnit: String? { raster.description.unknownUnit }

  func sample(
    _ points: [Point], interpolation: Interpolation, onlyKept: Bool, isCancelled: @Sendable () -> Bool
  ) throws -> [HeightSample]? {
    try raster.sample(Positions(points), interpolation: interpolation, onlyKept: onlyKept, isCancelled: isCancelled)
  }
  func cells(_ window: RasterWindow, isCancelled: @Sendable () -> Bool) throws -> [Float] {
    try raster.cells(window, isCancelled: isCancelled)
  }
}
