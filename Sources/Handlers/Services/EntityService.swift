// Handlers of `entity/*`.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Subscriptions
import WireCoding

package enum EntityService: EntityHandlers {
  package static func create(_ params: Create.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    let owner = try Wire.object(params.owner, "owner", in: world)
    let fields = params.fields.map(Wire.field)
    // Attributes are members of JSON objects, in documents and results.
    if let index = fields.firstIndex(where: { $0.name.string.utf8.contains(0) }) {
      let path = "/params/fields/\(index)/name"
      throw RPCError(.invalidParams, "The name at \(path) contains NUL.", path: path, expected: "a name without NUL")
    }
    let reference = try world.canonical(params.spatialReference) ?? .wgs84
    return try world.made(params.id, params.ifExists, matches: { (source: EntitySource, _) in
      let schema = source.schema
      func isField(_ field: Int?, _ name: String?) -> Bool { field.map { schema.fields[$0].name } == Text(name) }
      return [
        "owner": source.owner == owner, "fields": schema.fields == fields,
        "trackIdField": isField(schema.track, params.trackIdField), "timeField": isField(schema.time, params.timeField),
        "speedField": isField(schema.speed, params.speedField), "courseField": isField(schema.course, params.courseField),
        "spatialReference": schema.reference == reference,
      ]
    }) { world, id in
      let fields = EntityFields(
        fields: fields, track: params.trackIdField, time: params.timeField, speed: params.speedField,
        course: params.courseField)
      return try world.createEntitySource(
        id: id, owner: owner, fields, reference: reference, try Wire.changes(params.members))
    }
  }

  package static func update(_ params: Update.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.updateEntitySource(ID(params.entitySource), try Wire.changes(params.members))
    return { try Wire.object(EntitySourceID(params.entitySource), in: $0) }
  }

  // MARK: Connection

  package static func connect(_ params: Connect.Params, in world: inout World) throws -> Answer<Connect.Result> {
    try world.connectEntitySource(ID(params.entitySource))
    return { .init(revision: $0.revision, status: try status(params.entitySource, $0)) }
  }

  package static func disconnect(_ params: Disconnect.Params, in world: inout World) throws -> Answer<Disconnect.Result> {
    try world.disconnectEntitySource(ID(params.entitySource))
    return { .init(revision: $0.revision, status: try status(params.entitySource, $0)) }
  }

  package static func reportLost(_ params: ReportLost.Params, in world: inout World) throws -> Answer<ReportLost.Result> {
    try world.loseConnection(of: ID(params.entitySource), Failure(kind: "connectionLost", message: params.message))
    return { .init(revision: $0.revision, status: try status(params.entitySource, $0)) }
  }

  private static func status(_ id: String, _ world: World) throws -> EntityProtocol.EntityStatus {
    Wire.entityStatus(try world.entitySources.require(ID(id)).status)
  }

  // MARK: Live data

  package static func push(_ params: Push.Params, on client: any HandlerClient) throws -> Push.Result {
    let id = EntitySourceID(params.entitySource)
    let transformer = client.world.transformer
    guard let reference = client.world.entitySources[id]?.schema.reference else {
      throw ModelError.unknownID(.entitySources, id.rawValue)
    }
    var reader = GraphicReader { geometry, name in
      try transformer.transform(geometry, from: SpatialReference(name), to: reference)
    }
    let batch = reader.readObservations(params.features)
    try OverlayService.check(reader)
    let receipt = try client.receive { try $0.receive(batch, of: id) }
    return .init(
      revision: client.world.revision, received: receipt.edit.received.count, late: receipt.late,
      purged: receipt.edit.purged.count, rejected: receipt.rejectedCount, faults: faults(receipt),
      lostValues: receipt.lostValues)
  }

  package static func pushColumns(_ params: PushColumns.Params, on client: any HandlerClient) throws -> PushColumns.Result {
    let columns = OverlayProtocol.FeatureColumns(x: params.x, y: params.y, z: params.z, attributes: params.attributes)
    let batch = try ColumnReader.batch(columns, try ColumnReader.geometry(columns))
    let receipt = try client.receive { try $0.receive(batch, of: ID(params.entitySource)) }
    return .init(
      revision: client.world.revision, received: receipt.edit.received.count, late: receipt.late,
      purged: receipt.edit.purged.count, rejected: receipt.rejectedCount, faults: faults(receipt),
      lostValues: receipt.lostValues)
  }

  package static func record(_ params: Record.Params, in world: inout World) throws -> Plan<Record.Result> {
    let id = EntitySourceID(params.entitySource)
    _ = try world.entitySources.require(id)
    let recording = Recording(path: params.path, replaces: params.ifExists == .replace, recorder: Recorder())
    world.record(ObjectReference(.entitySources, id.rawValue), to: recording.recorder)
    return TaskPlan(.record, result: { worker in
      let (path, bytes) = try recording.run(worker)
      let counts = recording.recorder.counts
      return .init(path: path, written: counts.written, lost: counts.lost, bytes: bytes)
    })
  }

  package static func stopRecording(
    _ params: StopRecording.Params, in world: inout World
  ) throws -> Answer<StopRecording.Result> {
    _ = try world.entitySources.require(ID(params.entitySource))
    let stopped = world.stopRecording(ObjectReference(.entitySources, params.entitySource))
    return { .init(revision: $0.revision, recordings: stopped.count, written: stopped.reduce(0) { $0 + $1.counts.written }) }
  }

  package static func follow(_ params: Follow.Params, on client: any HandlerClient) throws -> Follow.Result {
    let file = try params.path.map { FeedFile(path: try client.files.path($0), follows: params.follows, skipsOld: params.skipsOld) }
    try client.receive { try $0.follow(file, by: ObjectReference(.entitySources, params.entitySource)) }
    return .init(revision: client.world.revision)
  }

  /// Receives the features of a file's lines.
  ///
  /// - Returns: the number of those that are no observations.
  package static func receive(_ features: [JSONOpaque], of id: EntitySourceID, in world: inout World) -> Int {
    guard let reference = world.entitySources[id]?.schema.reference else { return 0 }
    let transformer = world.transformer
    func read(_ features: [JSONOpaque]) -> FeatureBatch? {
      var reader = GraphicReader { geometry, name in
        try transformer.transform(geometry, from: SpatialReference(name), to: reference)
      }
      let batch = reader.readObservations(features)
      return reader.failureCount == 0 ? batch : nil
    }
    if let batch = read(features) {
      _ = try? world.receive(batch, of: id)
      return 0
    }
    return features.count { feature in
      guard let batch = read([feature]) else { return true }
      _ = try? world.receive(batch, of: id)
      return false
    }
  }

  private static func faults(_ receipt: EntityReceipt) -> [EntityProtocol.RejectedObservation]? {
    receipt.faults.isEmpty ? nil : receipt.faults.map { .init(index: $0.index, reason: $0.fault.wire) }
  }

  package static func purge(_ params: Purge.Params, on client: any HandlerClient) throws -> Purge.Result {
    let edit = try client.receive { try $0.purgeEntities(params.entities, of: ID(params.entitySource)) }
    return .init(
      revision: client.world.revision, entities: edit.purgedEntities.count, observations: edit.purged.count)
  }

  // MARK: Queries

  package static func getEntity(_ params: GetEntity.Params, in world: World) throws -> GetEntity.Result {
    let (source, entity, track) = try found(params.entitySource, params.entity, params.track, in: world)
    guard let last = track.observations.last.flatMap({ source.observation($0, of: entity, track) }) else {
      throw ModelError.unknownItem(noun: "entity", id: "\(entity)")
    }
    return .init(revision: world.revision, observation: last, observationCount: track.observations.count)
  }

  package static func queryObservations(
    _ params: QueryObservations.Params, in world: World
  ) throws -> QueryObservations.Result {
    let (source, entity, track) = try found(params.entitySource, params.entity, params.track, in: world)
    let rest = track.observations.dropFirst(params.offset)
    return .init(
      revision: world.revision, observations: rest.prefix(params.limit).compactMap { source.observation($0, of: entity, track) },
      exceededLimit: rest.count > params.limit)
  }

  private static func found(
    _ source: String, _ entity: Int?, _ track: JSONOpaque?, in world: World
  ) throws -> (EntitySource, Int, EntityTrack) {
    let source = try world.entitySources.require(ID(source))
    guard (entity == nil) != (track == nil) else { throw ModelError.oneOf(["entity", "track"]) }
    let number: Int?
    if let track { number = try Wire.track(track).flatMap { source.contents.entity(of: $0) } } else { number = entity }
    guard let number, let found = source.contents.track(of: number) else {
      throw ModelError.unknownItem(noun: "entity", id: entity.map { "\($0)" } ?? (try? track?.value?.string()) ?? track?.value?.jsonText ?? "")
    }
    return (source, number, found)
  }

  package static func observe(_ params: Observe.Params, on client: any HandlerClient) throws -> Observe.Result {
    let world = client.world
    let source = try world.entitySources.require(ID(params.entitySource))
    let id = try client.subscribers.makeID()
    let boxes = try params.envelope.map { try world.turns(of: Wire.envelope($0), in: source.schema.reference) ?? [Wire.envelope($0)] }
    let subscriber = EntitySubscriber(
      id: id, source: source.id, sendsEvery: params.notices == .every, boxes: boxes, maxRate: params.maxRate)
    client.subscribers.add(subscriber, world)
    return .init(
      subscription: id, revision: world.revision, status: Wire.entityStatus(source.status),
      entityCount: source.contents.entities.count)
  }
}
