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
    return try world.made(params.id, params.ifExists, matches: { (source: LocationSource, _) in
      [
        "owner": source.owner == owner, "velocity": source.velocity == params.velocity,
        "interval": source.interval == params.interval, "loops": source.loops == params.loops,
        "startTime": source.startTime == startTime,
      ]
    }) { world, id in
      try world.createSimulatedLocationSource(
        id: id, line: try Wire.geometry(params.line),
        reference: try world.canonical(params.spatialReference) ?? .wgs84, velocity: params.velocity,
        interval: params.interval, startTime: startTime, loops: params.loops, owner: owner)
    }
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

  package static func observe(_ params: Observe.Params, on client: any HandlerClient) throws -> Observe.Result {
    let source = try client.world.locationSources.require(ID(params.locationSource))
    let id = try client.subscribers.makeID()
    client.subscribers.add(LocationSubscriber(id: id, source: source.id, maxRate: params.maxRate), client.world)
    return .init(
      subscription: id, revision: client.world.revision, status: Wire.locationStatus(source.status),
      location: source.location.map(Wire.location))
  }
}
