// Entity sources: created and changed by commands; what they receive and purge is live, and never undone.

import FeatureStore
import Geometry

/// What a source's observations have, by names of fields.
public struct EntityFields: Sendable {
  public var fields: [Field]
  public var track: String
  public var time: String?
  public var speed: String?
  public var course: String?

  public init(fields: [Field], track: String, time: String? = nil, speed: String? = nil, course: String? = nil) {
    (self.fields, self.track, self.time, self.speed, self.course) = (fields, track, time, speed, course)
  }
}

extension World {
  public mutating func createEntitySource(
    id: EntitySourceID?, owner: ObjectReference?, _ fields: EntityFields, reference: SpatialReference, _ members: [MemberChange],
    replay: EntityReplay? = nil
  ) throws(ModelError) -> EntitySource {
    try checkFree(id)
    try checkNesting(inOwner: owner)
    let info = try describe(reference)
    let schema = try EntitySchema(fields, info)
    let draft = try EntitySource(id: EntitySourceID(""), owner: owner, schema: schema).setting(members)
    var source = EntitySource(id: try claim(id, prefix: "entities"), owner: owner, schema: schema)
    (source.name, source.limits, source.replay) = (draft.name, draft.limits, replay)
    source.contents.countSkipped(replay?.skipped ?? 0)
    return insert(source)
  }

  /// Changes a source. Lower limits take effect with the next observations.
  public mutating func updateEntitySource(_ id: EntitySourceID, _ changes: [MemberChange]) throws(ModelError) {
    try update(id, changes) { _, _, _ in }
  }

  /// Connects a source to its feed: a client that pushes is connected at once, and a replay starts or goes on.
  public mutating func connectEntitySource(_ id: EntitySourceID) throws(ModelError) {
    let now = clock.now
    try change(id) { (source) throws(ModelError) in
      if let file = source.file {
        guard source.wantedFeed == nil else { return }
        (source.status, source.reconnecting) = (.connecting(attempt: file.attempt, nil), nil)
        return
      }
      (source.status, source.reconnecting) = (.connected, nil)
      source.replay?.resume(at: now)
    }
  }

  public mutating func disconnectEntitySource(_ id: EntitySourceID) throws(ModelError) {
    let now = clock.now
    try change(id) { (source) throws(ModelError) in
      (source.status, source.reconnecting) = (.disconnected, nil)
      source.replay?.pause(at: now)
    }
  }

  /// Begins to reconnect a source whose connection was lost. Nothing, if it is not connected.
  public mutating func loseConnection(of id: EntitySourceID, _ failure: Failure) throws(ModelError) {
    let now = clock.now
    try change(id) { (source) throws(ModelError) in
      guard source.status == .connected else { return }
      source.status = .connecting(attempt: 1, failure)
      source.reconnecting = Reconnecting(attempt: 1, next: now, failure: failure)
    }
  }

  // MARK: Files

  mutating func followFile(_ file: FeedFile?, _ id: EntitySourceID) throws(ModelError) {
    try disconnectEntitySource(id)
    try change(id) { (source) throws(ModelError) in source.file = file }
  }

  mutating func entityFeedOpened(_ id: EntitySourceID) {
    guard case .connecting = entitySources[id]?.status else { return }
    changeKnown(id, by: .location) { source in
      // Another number would open the file again.
      source.file = source.wantedFeed
      (source.status, source.reconnecting) = (.connected, nil)
    }
  }

  mutating func entityFeedEnded(_ id: EntitySourceID, _ failure: Failure?) {
    guard entitySources[id]?.wantedFeed != nil else { return }
    guard let failure else { return changeKnown(id, by: .location) { ($0.status, $0.reconnecting) = (.disconnected, nil) } }
    let now = clock.now
    changeKnown(id, by: .location) { source in
      if let last = source.reconnecting {
        source.reconnecting = Reconnecting(attempt: last.attempt, next: last.next, failure: failure)
        source.status = .connecting(attempt: last.attempt, failure)
        return
      }
      let attempt = (source.wantedFeed?.attempt ?? 0) + 1
      source.status = .connecting(attempt: attempt, failure)
      source.reconnecting = Reconnecting(
        attempt: attempt, next: now.advanced(by: attempt > 2 ? Reconnecting.interval : 0), failure: failure)
    }
  }

  mutating func countLost(_ lines: [String: Int], of id: EntitySourceID) {
    changeKnown(id, by: .location) { $0.contents.countLost(lines: lines.values.reduce(0, +)) }
  }

  /// Closes a source with the layers over it.
  public mutating func closeEntitySource(_ id: EntitySourceID) throws(ModelError) {
    let source = try entitySources.require(id).reference
    for layer in layers(over: source) { try removeLayer(layer) }
    remove(id)
  }

  // MARK: Layers

  /// Adds a layer whose features are the entities of a source, as they are at any time.
  public mutating func addLayer(
    id: LayerID?, to container: ViewContent, over source: EntitySourceID, name: String?, at position: LayerPosition
  ) throws(ModelError) -> Layer {
    let list = try list(for: position, in: container)
    let (entities, number) = try entitySources.requireNumbered(source)
    let name = name ?? entities.name ?? source.rawValue
    let schema = SourceLayer(
      name: source.rawValue, geometryType: "Point", featureCount: nil, extent: nil, reference: entities.schema.reference,
      fields: entities.schema.fields)
    var features = LayerFeatures(
      source: SourceID(source.rawValue), sourceNumber: number, schema: schema, origin: .inline([]), driver: "entities",
      isTable: false)
    (features.entitySource, features.loadStatus, features.trackDisplay) = (source, .loaded, TrackDisplay())
    return try add(id, to: container, in: list, at: position) { id in
      Layer(id: id, container: container, group: position.group, name: name.shortened(to: Layer.nameLimit), features: features)
    }
  }

  func layers(over source: ObjectReference) -> [LayerID] {
    referrers(to: source, of: Layer.self).filter { layers[$0]?.features?.entitySource?.rawValue == source.id }
  }

  /// The layer with its features as they are now: those of a layer over an entity source are its entities.
  public func live(_ layer: Layer) -> Layer {
    guard let source = layer.features?.entitySource else { return layer }
    var result = layer
    result.features?.store = entitySources.read(source) { $0.pointee.contents.entities }
    result.features?.countSelected()
    return result
  }

  // MARK: Live data

  /// Adds observations to a source: the only way by which any of them get there. Neither undone nor rolled back: it throws with
  /// nothing changed, and the caller lets nothing fail afterwards.
  ///
  /// - Parameter batch: points with the attributes of the source's fields; others are lost, and counted.
  /// - Throws: `notConnected`.
  @discardableResult
  public mutating func receive(_ batch: FeatureBatch, of id: EntitySourceID) throws(ModelError) -> EntityReceipt {
    let (now, transformer, geodesy) = (clock.now, transformer, geodesy)
    let status = try status(of: id)
    switch status {
    case .connected: break
    case .connecting: try connectEntitySource(id)
    case .disconnected, .failed: throw .notConnected(id)
    }
    let receipt = try edit(id) { (source) throws(StoreFailure) in
      let ground = Ground(source.schema.reference, transformer, geodesy)
      let receipt = try source.contents.receive(batch, source.schema, source.limits, at: now, ground)
      return (receipt, receipt.edit)
    }
    judge(receipt, of: id)
    locate(receipt, of: id)
    return receipt
  }

  /// Purges all observations of some entities, or of all.
  public mutating func purgeEntities(_ entities: [Int]?, of id: EntitySourceID) throws(ModelError) -> EntityEdit {
    try edit(id) { (source) throws(StoreFailure) in
      var edit = EntityEdit()
      source.contents.purge(entities: entities, &edit)
      return (edit, edit)
    }
  }

  private func status(of id: EntitySourceID) throws(ModelError) -> EntityStatus {
    guard let status = entitySources.read(id, { $0.pointee.status }) else { throw .unknownID(.entitySources, id.rawValue) }
    return status
  }

  /// Receives what a replay has reached, purges what is too old, and makes the next attempt to reconnect.
  mutating func advanceEntities(of id: EntitySourceID) {
    let now = clock.now
    if let batch = entitySources.modify(id, { $0.replay?.due(at: now) }) ?? nil {
      _ = try? receive(batch, of: id)
      if entitySources.read(id, { $0.pointee.replay?.hasEnded }) == true { try? disconnectEntitySource(id) }
    }
    if let (reconnecting, maxAge) = entitySources.read(id, { ($0.pointee.reconnecting, $0.pointee.limits.maxAge) }) {
      if let reconnecting, reconnecting.next <= now { reconnect(id, reconnecting) }
      if let maxAge {
        try? edit(id) { (source) throws(StoreFailure) in
          var edit = EntityEdit()
          source.contents.purge(receivedBefore: now.advanced(by: -maxAge), &edit)
          return ((), edit)
        }
      }
    }
  }

  /// The second attempt follows the first at once, each later one after an interval.
  private mutating func reconnect(_ id: EntitySourceID, _ last: Reconnecting) {
    changeKnown(id) { source in
      guard last.attempt < Reconnecting.attempts else {
        (source.status, source.reconnecting) = (.failed(last.failure), nil)
        return
      }
      let attempt = last.attempt + 1
      source.status = .connecting(attempt: attempt, last.failure)
      source.reconnecting = Reconnecting(
        attempt: attempt, next: last.next.advanced(by: Reconnecting.interval), failure: last.failure)
    }
  }

  /// Edits the contents of a source in place, and records what has changed. Makes no undo record.
  private mutating func edit<R>(
    _ id: EntitySourceID, _ body: (inout EntitySource) throws(StoreFailure) -> (R, EntityEdit)
  ) throws(ModelError) -> R {
    let outcome: (result: R, edit: EntityEdit, changed: [Property])?
    do {
      outcome = try entitySources.modify(id) { (source) throws(StoreFailure) in
        let before = Summary(source.contents)
        let (result, edit) = try body(&source)
        return (result, edit, Summary(source.contents).changes(since: before))
      }
    } catch { throw ModelError(error) }
    guard let (result, edit, changed) = outcome else { throw .unknownID(.entitySources, id.rawValue) }
    if !edit.isEmpty { record(.entities(id, edit)) }
    let source = ObjectReference(.entitySources, id.rawValue)
    judgePurged(edit.purgedEntities, of: source)
    if !edit.purgedEntities.isEmpty { losePurged(of: id) }
    for property in changed where property != .selectedCount { record(.changed(source, property)) }
    // Live data do not count as a change of the layer.
    let ofLayers = changed.compactMap { $0 == .entityCount ? Property.featureCount : $0 == .counts || $0 == .observationCount ? nil : $0 }
    if !ofLayers.isEmpty {
      for layer in layers(over: source) {
        for property in ofLayers { record(.changed(ObjectReference(.layers, layer.rawValue), property)) }
      }
    }
    if !changed.isEmpty { touch(id) }
    return result
  }
}

/// Derived properties of a source's contents, and of the layers over it.
private struct Summary {
  private let entities: Int
  private let observations: Int
  private let selected: Int
  private let extent: Envelope?
  private let counts: EntityCounts

  init(_ contents: EntityContents) {
    (entities, observations) = (contents.entities.count, contents.observations.count)
    (selected, extent, counts) = (contents.entities.selectedCount, contents.entities.extent, contents.counts)
  }

  /// The properties whose values differ from the earlier ones; `selectedCount` is one of layers.
  func changes(since earlier: Summary) -> [Property] {
    (entities == earlier.entities ? [] : [.entityCount]) + (observations == earlier.observations ? [] : [.observationCount])
      + (extent == earlier.extent ? [] : [.extent]) + (selected == earlier.selected ? [] : [.selectedCount])
      + (counts == earlier.counts ? [] : [.counts])
  }
}

extension EntitySchema {
  /// - Throws: for repeated or reserved names, for fields that are not declared, and for those of unsuitable types.
  init(_ given: EntityFields, _ info: SpatialReferenceInfo) throws(ModelError) {
    let names = given.fields.map(\.name)
    for (index, name) in names.enumerated() {
      if names[..<index].contains(name) || Self.reserved.contains(name) {
        throw .idRepeated(name.string, path: "/fields/\(index)/name")
      }
    }
    func field(_ name: String, _ path: String, _ types: Set<FieldType>, _ expected: String) throws(ModelError) -> Int {
      guard let index = names.firstIndex(of: Text(name)) else {
        throw .unknownField(name, available: names.map(\.string), path: path)
      }
      let type = given.fields[index].type
      guard types.contains(type) else { throw .wrongFieldType(name, found: type, expected: expected, path: path) }
      return index
    }
    fields = given.fields
    track = try field(given.track, "/trackIdField", [.integer, .string], "integer or string")
    time = try given.time.map { (name) throws(ModelError) in
      try field(name, "/timeField", [.dateTime, .date, .string, .integer], "dateTime, date, string or integer")
    }
    speed = try given.speed.map { (name) throws(ModelError) in try field(name, "/speedField", [.double], "double") }
    course = try given.course.map { (name) throws(ModelError) in try field(name, "/courseField", [.double], "double") }
    for (role, path) in [(time, "/timeField"), (speed, "/speedField"), (course, "/courseField")] {
      guard let role, [track, time, speed, course].count(where: { $0 == role }) > 1 else { continue }
      throw .idRepeated(names[role].string, path: path)
    }
    reference = info.reference
  }
}
