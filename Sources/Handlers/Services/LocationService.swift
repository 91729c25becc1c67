// Handlers of `location/*`.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Subscriptions
import WireCoding

package enum LocationService: LocationHandlers {
  package static func createSimulated(_ params: CreateSimulated.Params, in world: inout World) throws -> Answer<
    JSONOpaque
  > {
    let owner = try Wire.object(params.owner, "owner", in: world)
    let startTime = try params.startTime.map { try instant($0, "/params/startTime") }
    let existing = try world.existing(params.id, params.ifExists, LocationSource.self) { source, _ in
      [
        "owner": source.owner == owner, "velocity": source.velocity == params.velocity,
        "interval": source.interval == params.interval, "loops": source.loops == params.loops,
        "startTime": source.startTime == startTime,
      ]
    }
    if let existing { return { try Wire.object(existing.id, in: $0) } }
    let source = try world.createSimulatedLocationSource(
      id: params.id.map { ID($0) }, line: try Wire.geometry(params.line),
      reference: try world.canonical(params.spatialReference) ?? .wgs84, velocity: params.velocity,
      interval: params.interval, startTime: startTime, loops: params.loops, owner: owner)
    return { try Wire.object(source.id, in: $0) }
  }

  package static func get(_ params: Get.Params, in world: World) throws -> JSONOpaque {
    try Wire.object(LocationSourceID(params.locationSource), in: world)
  }

  package static func list(_ params: List.Params, in world: World) throws -> List.Result {
    .init(revision: world.revision, locationSources: world.locationSources.values.map { Wire.object($0, world) })
  }

  package static func start(_ params: Start.Params, in world: inout World) throws -> ProcessID {
    try world.startLocationSource(ID(params.locationSource))
  }

  package static func startEnded(_ params: Start.Params, _ end: ProcessEnd, in world: World) throws -> Start.Result {
    .init(revision: world.revision, status: try status(params.locationSource, world))
  }

  package static func stop(_ params: Stop.Params, in world: inout World) throws -> ProcessID {
    try world.stopLocationSource(ID(params.locationSource))
  }

  package static func stopEnded(_ params: Stop.Params, _ end: ProcessEnd, in world: World) throws -> Stop.Result {
    .init(revision: world.revision, status: try status(params.locationSource, world))
  }

  private static func status(_ id: String, _ world: World) throws -> LocationProtocol.LocationStatus {
    Wire.locationStatus(try world.locationSources.require(ID(id)).status)
  }

  package static func close(_ params: Close.Params, in world: inout World) throws -> Answer<Close.Result> {
    try world.closeLocationSource(ID(params.locationSource))
    return { .init(revision: $0.revision) }
  }

  package static func observe(_ params: Observe.Params, on client: any HandlerClient) throws -> Observe.Result {
    let source = try client.world.locationSources.require(ID(params.locationSource))
    let id = try client.subscribers.makeID()
    client.subscribers.add(LocationSubscriber(id: id, source: source.id, maxRate: params.maxRate), client.world)
    return .init(
      subscription: id, revision: client.world.revision, status: Wire.locationStatus(source.status),
      location: source.location.map(Wire.location))
  }
}
