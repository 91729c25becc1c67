// Handlers of `geotrigger/*`.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Subscriptions
import WireCoding

package enum GeotriggerService: GeotriggerHandlers {
  package static func create(_ params: Create.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    let owner = try Wire.object(params.owner, "owner", in: world)
    let changes = try Wire.changes(params.members)
    return try world.made(params.id, params.ifExists, matches: { (monitor: GeotriggerMonitor, _) in
      ["owner": monitor.owner == owner, "feed": monitor.feed == Text(params.feed), "fences": monitor.fences == Text(params.fences)]
    }) { try $0.createGeotrigger(id: $1, owner: owner, changes) }
  }

  package static func update(_ params: Update.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.updateGeotrigger(ID(params.geotrigger), try Wire.changes(params.members))
    return { try Wire.object(GeotriggerMonitorID(params.geotrigger), in: $0) }
  }

  package static func start(_ params: Start.Params, in world: inout World) throws -> ProcessID {
    try world.startGeotrigger(ID(params.geotrigger))
  }

  package static func startEnded(_ params: Start.Params, _ end: ProcessEnd, in world: World) throws -> Start.Result {
    let live = try world.geotriggers.require(ID(params.geotrigger)).live
    return .init(revision: world.revision, status: Wire.locationStatus(live.status), warnings: live.warnings.map(\.wire))
  }

  package static func stop(_ params: Stop.Params, in world: inout World) throws -> ProcessID {
    try world.stopGeotrigger(ID(params.geotrigger))
  }

  package static func stopEnded(_ params: Stop.Params, _ end: ProcessEnd, in world: World) throws -> Stop.Result {
    let live = try world.geotriggers.require(ID(params.geotrigger)).live
    return .init(revision: world.revision, status: Wire.locationStatus(live.status))
  }

  package static func listEvents(_ params: ListEvents.Params, in world: World) throws -> ListEvents.Result {
    let events = try world.events(of: ID(params.geotrigger), after: params.after)
    return .init(revision: world.revision, events: events.suffix(params.limit).map(Wire.geotriggerEvent))
  }

  package static func listMemberships(
    _ params: ListMemberships.Params, in world: World
  ) throws -> ListMemberships.Result {
    var (found, skipped) = ([GeotriggerProtocol.GeotriggerMembership](), 0)
    try world.forEachMembership(of: ID(params.geotrigger), object: Text(params.object)) { object, membership in
      guard params.fence.map({ $0 == membership.fence }) ?? true else { return true }
      skipped += 1
      guard skipped > params.offset else { return true }
      found.append(.init(object: object.string, fence: membership.fence, since: membership.since.text))
      return found.count <= params.limit
    }
    let exceeded = found.count > params.limit
    return .init(revision: world.revision, memberships: Array(found.prefix(params.limit)), exceededLimit: exceeded)
  }

  package static func observe(_ params: Observe.Params, on client: any HandlerClient) throws -> Observe.Result {
    let monitor = try client.world.geotriggers.require(ID(params.geotrigger))
    let id = try client.subscribers.makeID()
    client.subscribers.add(
      GeotriggerSubscriber(id: id, monitor: monitor.id, sent: monitor.live.eventCount), client.world)
    return .init(
      subscription: id, revision: client.world.revision, status: Wire.locationStatus(monitor.live.status),
      eventCount: monitor.live.eventCount)
  }
}
