// Handlers of `location/*`.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC

enum LocationService: LocationHandlers {
  typealias Types = Server

  static func createSimulated(
    _ params: LocationProtocol.CreateSimulated.Params, in world: inout World
  ) throws -> JSONOpaque {
    if let source = existing(world.locationSources, params.id, params.ifExists) { return Wire.object(source, world) }
    return Wire.object(
      try world.createSimulatedLocationSource(
        id: params.id.map { ID($0) }, line: try Wire.geometry(params.line),
        reference: try world.canonical(params.spatialReference) ?? .wgs84, velocity: params.velocity,
        interval: params.interval, startTime: try params.startTime.map { try instant($0, "/params/startTime") },
        loops: params.loops, owner: try Wire.object(params.owner, "owner", in: world)), world)
  }

  static func get(_ params: LocationProtocol.Get.Params, in world: World) throws -> JSONOpaque {
    Wire.object(try world.locationSources.require(ID(params.locationSource)), world)
  }

  static func list(_ params: LocationProtocol.List.Params, in world: World) throws -> LocationProtocol.List.Result {
    .init(revision: world.revision, locationSources: world.locationSources.values.map { Wire.object($0, world) })
  }

  static func start(_ params: LocationProtocol.Start.Params, in world: inout World) throws -> ProcessID {
    try world.startLocationSource(ID(params.locationSource))
  }

  static func startEnded(
    _ params: LocationProtocol.Start.Params, _ end: ProcessEnd, in world: World
  ) throws -> LocationProtocol.Start.Result {
    .init(revision: world.revision, status: try status(params.locationSource, world))
  }

  static func stop(_ params: LocationProtocol.Stop.Params, in world: inout World) throws -> ProcessID {
    try world.stopLocationSource(ID(params.locationSource))
  }

  static func stopEnded(
    _ params: LocationProtocol.Stop.Params, _ end: ProcessEnd, in world: World
  ) throws -> LocationProtocol.Stop.Result {
    .init(revision: world.revision, status: try status(params.locationSource, world))
  }

  private static func status(_ id: String, _ world: World) throws -> LocationProtocol.LocationStatus {
    Wire.locationStatus(try world.locationSources.require(ID(id)).status)
  }

  static func close(_ params: LocationProtocol.Close.Params, in world: inout World) throws
    -> LocationProtocol.Close.Result
  {
    try world.closeLocationSource(ID(params.locationSource))
    return .init(revision: world.revision)
  }

  static func observe(_ params: LocationProtocol.Observe.Params, on client: any HandlerClient) throws
    -> LocationProtocol.Observe.Result
  {
    let source = try client.world.locationSources.require(ID(params.locationSource))
    let id = client.subscribers.makeID()
    client.subscribers.add(LocationSubscriber(id: id, source: source.id, maxRate: params.maxRate), client.world)
    return .init(
      subscription: id, revision: client.world.revision, status: Wire.locationStatus(source.status),
      location: source.location.map(Wire.location))
  }
}

/// A time in a client's params.
///
/// - Parameter path: the JSON Pointer of `text`, for errors.
func instant(_ text: String, _ path: String) throws -> Instant {
  guard let instant = Instant(text) else {
    throw RPCError(
      .invalidTime, "\"\(text.prefix(100))\" is not an RFC 3339 time.", path: path,
      expected: "a time such as 2000-01-01T00:00:00Z")
  }
  return instant
}
