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
      guard case .simulated(let simulation) = source.feed else { return ["kind": false] }
      return [
        "owner": source.owner == owner, "velocity": simulation.velocity == params.velocity,
        "interval": simulation.interval == params.interval, "loops": simulation.loops == params.loops,
        "startTime": simulation.startTime == startTime,
      ]
    }) { world, id in
      try world.createSimulatedLocationSource(
        id: id, line: try Wire.geometry(params.line),
        reference: try world.canonical(params.spatialReference) ?? .wgs84, velocity: params.velocity,
        interval: params.interval, startTime: startTime, loops: params.loops, owner: owner)
    }
  }

  package static func createExternal(_ params: CreateExternal.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try create(
      .external(.init(params.authorization)), params.id, params.ifExists, owner: params.owner, staleAfter: params.staleAfter,
      in: &world)
  }

  package static func createNmea(_ params: CreateNmea.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try create(
      .nmea(NMEAFeed()), params.id, params.ifExists, owner: params.owner, staleAfter: params.staleAfter, in: &world)
  }

  package static func createFiltered(_ params: CreateFiltered.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try create(
      .filtered(
        LocationFilter(
          source: ID(params.source), maxAccuracy: params.maxAccuracy, minDistance: params.minDistance,
          minInterval: params.minInterval)),
      params.id, params.ifExists, owner: params.owner, staleAfter: params.staleAfter, in: &world)
  }

  package static func createReplay(_ params: CreateReplay.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try create(
      .replay(
        Replay(layer: ID(params.layer), timeField: params.timeField, factor: params.factor, loops: params.loops)),
      params.id, params.ifExists, owner: params.owner, staleAfter: params.staleAfter, in: &world)
  }

  package static func createSnapped(_ params: CreateSnapped.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try create(
      .snapped(LocationSnap(source: ID(params.source), layer: ID(params.layer), maxDistance: params.maxDistance)),
      params.id, params.ifExists, owner: params.owner, staleAfter: params.staleAfter, in: &world)
  }

  package static func createTracked(_ params: CreateTracked.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    guard let track = try Wire.track(params.track) else { throw ModelError.oneOf(["track"]) }
    return try create(
      .tracked(TrackedEntity(source: ID(params.entitySource), track: track)), params.id, params.ifExists,
      owner: params.owner, staleAfter: params.staleAfter, in: &world)
  }

  package static func update(_ params: Update.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.updateLocationSource(ID(params.locationSource), try Wire.changes(params.members))
    return { try Wire.object(LocationSourceID(params.locationSource), in: $0) }
  }

  private static func create(
    _ feed: LocationFeed, _ id: String?, _ ifExists: SessionProtocol.IfExists, owner: String?, staleAfter: Double?,
    in world: inout World
  ) throws -> Answer<JSONOpaque> {
    let owner = try Wire.object(owner, "owner", in: world)
    return try world.made(id, ifExists, matches: { (source: LocationSource, _) in
      [
        "owner": source.owner == owner, "kind": source.isAlike(feed), "staleAfter": source.staleAfter == staleAfter,
      ]
    }) { try $0.createLocationSource(id: $1, feed, staleAfter: staleAfter, owner: owner) }
  }

  package static func setAuthorization(
    _ params: SetAuthorization.Params, in world: inout World
  ) throws -> Answer<SetAuthorization.Result> {
    try world.setAuthorization(of: ID(params.locationSource), .init(params.authorization))
    return { .init(revision: $0.revision, status: try status(params.locationSource, $0)) }
  }

  package static func push(_ params: Push.Params, in world: inout World) throws -> Answer<Push.Result> {
    let locations = try params.locations.enumerated().map { index, location in
      try Wire.location(location, at: "/params/locations/\(index)")
    }
    let refusals = try world.push(locations, headings: params.headings, to: ID(params.locationSource))
    let refused = refusals.enumerated().compactMap { index, refusal in
      refusal.map { LocationProtocol.RefusedLocation(index: index, reason: $0.wire) }
    }
    return {
      .init(
        revision: $0.revision, published: locations.count - refused.count, refused: refused.isEmpty ? nil : refused)
    }
  }

  package static func pushNmea(_ params: PushNmea.Params, in world: inout World) throws -> Answer<PushNmea.Result> {
    let (sentences, fixes) = try world.pushNMEA(params.text, to: ID(params.locationSource))
    return { .init(revision: $0.revision, sentences: sentences, fixes: fixes) }
  }

  package static func start(_ params: Start.Params, in world: inout World) throws -> ProcessID {
    try world.startLocationSource(ID(params.locationSource))
  }

  package static func startEnded(_ params: Start.Params, _ end: ProcessEnd, in world: World) throws -> Start.Result {
    if case .failedToStart(let failure) = try world.locationSources.require(ID(params.locationSource)).status {
      throw ModelError.failed(failure)
    }
    return .init(revision: world.revision, status: try status(params.locationSource, world))
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

  package static func record(_ params: Record.Params, in world: inout World) throws -> Plan<Record.Result> {
    let id = LocationSourceID(params.locationSource)
    _ = try world.locationSources.require(id)
    let recording = Recording(path: params.path, replaces: params.ifExists == .replace, recorder: Recorder(isGPX: params.format == .gpx))
    world.record(ObjectReference(.locationSources, id.rawValue), to: recording.recorder)
    return TaskPlan(.record, result: { worker in
      let (path, bytes) = try recording.run(worker)
      let counts = recording.recorder.counts
      return .init(path: path, written: counts.written, lost: counts.lost, bytes: bytes)
    })
  }

  package static func stopRecording(
    _ params: StopRecording.Params, in world: inout World
  ) throws -> Answer<StopRecording.Result> {
    _ = try world.locationSources.require(ID(params.locationSource))
    let stopped = world.stopRecording(ObjectReference(.locationSources, params.locationSource))
    return { .init(revision: $0.revision, recordings: stopped.count, written: stopped.reduce(0) { $0 + $1.counts.written }) }
  }

  package static func follow(_ params: Follow.Params, on client: any HandlerClient) throws -> Follow.Result {
    let file = try params.path.map { FeedFile(path: try client.files.path($0), follows: params.follows, skipsOld: params.skipsOld) }
    try client.receive { try $0.follow(file, by: ObjectReference(.locationSources, params.locationSource)) }
    return .init(revision: client.world.revision)
  }

  package static func observe(_ params: Observe.Params, on client: any HandlerClient) throws -> Observe.Result {
    let source = try client.world.locationSources.require(ID(params.locationSource))
    let id = try client.subscribers.makeID()
    client.subscribers.add(LocationSubscriber(id: id, source: source.id, maxRate: params.maxRate, everyOne: params.delivery == .every), client.world)
    return .init(
      subscription: id, revision: client.world.revision, status: Wire.locationStatus(source.status),
      location: source.location.map(Wire.location), heading: source.heading)
  }
}
