// The observations of an entity source and the entities they make: receiving, in the order of their times, and purging.

import FeatureStore
import Geometry
import HashTreeCollections

/// The value that identifies a track.
public enum TrackID: Hashable, Sendable {
  case integer(Int64)
  case text(Text)

  public var value: Value {
    switch self {
    case .integer(let number): .integer(number)
    case .text(let text): .string(text.string)
    }
  }

  /// Nil for a value of another type.
  init?(_ value: AttributeValue) {
    switch value {
    case .integer(let number): self = .integer(number)
    case .string(let text): self = .text(Text(text))
    case .null, .bool, .double, .json: return nil
    }
  }
}

/// What the features of a source are in queries.
public enum EntityFeatures: String, Hashable, Sendable { case entities, observations, tracks }

/// What is known of an observation beside its position and attributes.
public struct Observation: Hashable, Sendable {
  /// Its number, in the order of receipt.
  public let id: Int
  /// The time at which the entity was there.
  public let time: Instant
  public let received: Instant
  /// Whether an observation of the track with a later time was received before it.
  public let isLate: Bool
}

/// The observations of an entity in the order of their times, and for equal times in the order of receipt. The last is the entity.
public struct EntityTrack: Sendable {
  public let id: TrackID
  private var all: [Observation] = []
  /// The number of observations at the beginning of `all` that were removed: removing the first of many is frequent.
  private var start = 0

  public var observations: ArraySlice<Observation> { all[start...] }

  init(_ id: TrackID) { self.id = id }

  /// - Returns: whether it is late, and the observation before it.
  mutating func insert(_ id: Int, at time: Instant, _ received: Instant) -> (isLate: Bool, previous: Observation?) {
    let isLate = all.last.map { $0.time > time } ?? false
    let new = Observation(id: id, time: time, received: received, isLate: isLate)
    var index = all.count
    while index > start, all[index - 1].time > time { index -= 1 }
    all.insert(new, at: index)
    return (isLate, index > start ? all[index - 1] : nil)
  }

  /// - Returns: whether it was the last.
  mutating func remove(_ id: Int) -> Bool {
    guard let index = observations.firstIndex(where: { $0.id == id }) else { return false }
    guard index == start else {
      all.remove(at: index)
      return index == all.count
    }
    _ = removeFirst()
    return observations.isEmpty
  }

  mutating func removeFirst() -> Int {
    let id = all[start].id
    start += 1
    if start > 16, start > all.count / 2 {
      all.removeFirst(start)
      start = 0
    }
    return id
  }
}

/// Why an observation is not kept.
public enum ObservationFault: String, Hashable, Sendable, CaseIterable {
  /// The track id is missing or has another type.
  case track
  /// The geometry is missing, no point, or not on the earth.
  case position
  /// The time is malformed.
  case time
}

/// Numbers of observations since the source was made.
public struct EntityCounts: Hashable, Sendable {
  public internal(set) var received = 0
  public internal(set) var late = 0
  public internal(set) var purged = 0
  public internal(set) var rejected: [ObservationFault: Int] = [:]
  /// Values of attributes that are not declared, or of another type.
  public internal(set) var lostValues = 0
  /// Lines of a file that have no observation.
  public internal(set) var badLines = 0
}

/// An edit of a source's observations.
public struct EntityEdit: Hashable, Sendable {
  /// The numbers of the observations received.
  public internal(set) var received = 0..<0
  /// The numbers of the entities that are new.
  public internal(set) var entities = 0..<0
  public internal(set) var purged: [Int] = []
  public internal(set) var purgedEntities: [Int] = []
  var isEmpty: Bool { received.isEmpty && purged.isEmpty }
}

/// The outcome of receiving observations.
public struct EntityReceipt: Sendable {
  /// An observation that was kept, in the order of receipt.
  public struct Fix: Sendable {
    public let entity: Int
    public let observation: Int
    public let time: Instant
    /// In the source's reference.
    public let position: Point
    public let isLate: Bool
  }
  public internal(set) var edit = EntityEdit()
  public internal(set) var fixes: [Fix] = []
  public internal(set) var late = 0
  /// The first 100, by index in the batch.
  public internal(set) var faults: [(index: Int, fault: ObservationFault)] = []
  public internal(set) var rejected: [ObservationFault: Int] = [:]
  public internal(set) var lostValues = 0
  public var rejectedCount: Int { rejected.values.reduce(0, +) }
}

/// The observations of a source, and its entities.
public struct EntityContents: Sendable {
  /// The last observation of each entity, by the entity's number.
  public private(set) var entities: FeatureStore
  /// All observations by number, with their entity in an attribute after those of the fields.
  public private(set) var observations: FeatureStore
  private(set) var tracks = Numbered<EntityTrack>()
  private var numbers: TreeDictionary<TrackID, Int> = [:]
  public private(set) var counts = EntityCounts()
  private let entityColumn: Int
  private let names: [String]

  init(_ schema: EntitySchema) {
    entities = FeatureStore(fields: schema.fields)
    entityColumn = schema.fields.count
    observations = FeatureStore(
      fields: schema.fields + [Field(name: EntitySchema.entityField, type: .integer)], indexesLate: true)
    names = schema.fields.map(\.name.string)
  }

  public func track(of entity: Int) -> EntityTrack? { tracks[entity] }
  public func entity(of track: TrackID) -> Int? { numbers[track] }

  /// The entity of an observation.
  public func entity(of row: FeatureRow) -> Int {
    if case .integer(let number) = row.value(entityColumn) { Int(number) } else { -1 }
  }

  /// The tracks of some entities, or all, as lines with the attributes of their entities; nil if they have more observations than a limit.
  ///
  /// - Parameter last: maximum number of observations of each, which are its last ones.
  public func lines(
    of chosen: [Int]?, at limit: Int, last: Int = .max, checking check: () throws -> Void
  ) rethrows -> FeatureStore? {
    let count = chosen.map { $0.reduce(0) { $0 + (tracks.read($1) { $0.pointee.observations.count } ?? 0) } }
    guard count ?? observations.count <= limit else { return nil }
    var batch = FeatureBatch()
    let all = chosen.map { Set($0).sorted() } ?? tracks.map { numbers[$0.id] ?? 0 }
    for (index, entity) in all.enumerated() {
      if index & 255 == 255 { try check() }
      guard let observed = tracks[entity]?.observations.suffix(last), let head = entities.feature(id: entity), let first = observed.first,
        let last = observed.last
      else { continue }
      let points = observed.compactMap { observation in
        observations.feature(id: observation.id)?.position.map { point in
          Point(x: point.x, y: point.y, z: point.z, m: Double(observation.time.nanoseconds) / 1e9)
        }
      }
      batch.append(head, id: entity, columns: names)
      batch.setGeometry(points.count > 1 ? .lineString(Positions(points)) : nil)
      for (name, time) in [("startTime", first.time), ("endTime", last.time)] {
        batch.set(column: batch.column(named: name), .string(time.text))
      }
      batch.set(column: batch.column(named: "observationCount"), integer: Int64(observed.count))
    }
    let more = [("startTime", FieldType.dateTime), ("endTime", .dateTime), ("observationCount", .integer)]
    var store = FeatureStore(fields: entities.fields + more.map { Field(name: $0.0, type: $0.1) })
    return (try? store.append(batch)) == nil ? nil : store
  }

  // MARK: Receiving

  /// Adds the observations of a batch.
  ///
  /// - Throws: with nothing changed, if the store has no room.
  /// - Complexity: O(k log n).
  mutating func receive(
    _ given: FeatureBatch, _ schema: EntitySchema, _ limits: EntityLimits, at now: Instant, _ ground: Ground
  ) throws(StoreFailure) -> EntityReceipt {
    observations.compact(for: given.count)
    entities.compact(for: given.count)
    guard Int(observations.rowLimit) + given.count < Int(UInt32.max) - 2048 else { throw StoreFailure(StoreError.tooManyRows) }
    var receipt = EntityReceipt()
    var batch = given
    receipt.lostValues = batch.conform(to: schema.fields)
    let accepted = Accepted(&batch, schema, at: now, ground, &receipt)
    let (firstID, firstEntity) = (observations.nextMintedID, entities.nextMintedID)
    var newEntities = 0
    var owners: [Int64] = []
    owners.reserveCapacity(batch.count)
    for row in 0..<batch.count {
      let track = accepted.tracks[row]
      let entity: Int
      if let known = numbers[track] {
        entity = known
      } else {
        entity = firstEntity + newEntities
        newEntities += 1
        numbers[track] = entity
        tracks.insert(EntityTrack(track), at: entity)
      }
      owners.append(Int64(entity))
      place(row, firstID, of: entity, limits, now, accepted, &batch, schema, ground, &receipt)
    }
    counts.received += batch.count
    counts.late += receipt.late
    counts.lostValues += receipt.lostValues
    counts.rejected.merge(receipt.rejected, uniquingKeysWith: +)
    guard batch.count > 0 else { return receipt }
    batch.append(column: EntitySchema.entityField, integers: owners)
    _ = try observations.append(batch)
    receipt.edit.received = firstID..<firstID + batch.count
    receipt.edit.entities = firstEntity..<firstEntity + newEntities
    try setHeads(batch, owners, receipt.edit)
    observations.discard(receipt.edit.purged)
    counts.purged += receipt.edit.purged.count
    purgeSurplus(limits, &receipt.edit)
    return receipt
  }

  /// Inserts an observation in its track, and fills in its speed and course.
  private mutating func place(
    _ row: Int, _ firstID: Int, of entity: Int, _ limits: EntityLimits, _ now: Instant, _ accepted: Accepted,
    _ batch: inout FeatureBatch, _ schema: EntitySchema, _ ground: Ground, _ receipt: inout EntityReceipt
  ) {
    let (id, time) = (firstID + row, accepted.times[row])
    let placed = tracks.modify(entity) { track in
      let placed = track.insert(id, at: time, now)
      if let limit = limits.maxObservationsPerTrack {
        while track.observations.count > limit { receipt.edit.purged.append(track.removeFirst()) }
      }
      return placed
    }
    let (isLate, previous) = placed ?? (false, nil)
    if isLate { receipt.late += 1 }
    let point = accepted.points[row]
    receipt.fixes.append(.init(entity: entity, observation: id, time: time, position: point, isLate: isLate))
    let needsSpeed = schema.speed.map { batch.isNull($0, row: row) } ?? false
    let needsCourse = schema.course.map { batch.isNull($0, row: row) } ?? false
    guard needsSpeed || needsCourse, let previous else { return }
    let from = previous.id >= firstID ? accepted.points[previous.id - firstID] : observations.feature(id: previous.id)?.position
    guard let from, let motion = ground.motion(from: from, to: point) else { return }
    let seconds = time.seconds(since: previous.time)
    if needsSpeed, seconds > 0, let speed = schema.speed {
      batch.set(column: speed, row: row, .double(motion.distance / seconds))
    }
    if needsCourse, motion.distance > 0, let course = schema.course {
      batch.set(column: course, row: row, .double(motion.course))
    }
  }

  /// Makes the last observation of each track in a batch the entity.
  private mutating func setHeads(_ batch: FeatureBatch, _ owners: [Int64], _ edit: EntityEdit) throws(StoreFailure) {
    var known: [(source: Int, id: Int)] = []
    var new: [(entity: Int, row: Int)] = []
    for row in 0..<batch.count {
      let entity = Int(owners[row])
      guard tracks.read(entity, { $0.pointee.observations.last?.id }) == edit.received.lowerBound + row else { continue }
      if edit.entities.contains(entity) { new.append((entity, row)) } else { known.append((row, entity)) }
    }
    if !new.isEmpty {
      new.sort { $0.entity < $1.entity }
      var heads = batch.selecting(new.map(\.row))
      heads.keepColumns(names.count)
      _ = try entities.append(heads)
    }
    guard !known.isEmpty else { return }
    var heads = batch
    heads.keepColumns(names.count)
    entities.assign(heads, known)
  }

  mutating func toggleSelected(_ rows: [UInt32]) { entities.toggleSelected(rows) }

  // MARK: Purging

  /// Removes the observations received first, as far as there are too many.
  mutating func purgeSurplus(_ limits: EntityLimits, _ edit: inout EntityEdit) {
    purge(observations.first(observations.count - limits.maxObservations), &edit)
  }

  /// Removes observations that were received before a time.
  mutating func purge(receivedBefore time: Instant, _ edit: inout EntityEdit) {
    var rows: [FeatureRow] = []
    observations.forEach { row in
      let received = tracks.read(entity(of: row)) { $0.pointee.observations.first { $0.id == row.id }?.received } ?? nil
      guard let received, received < time else { return false }
      rows.append(row)
      return true
    }
    purge(rows, &edit)
  }

  /// Removes all observations of some entities; of all if nil. Unknown entities are skipped.
  mutating func purge(entities chosen: [Int]?, _ edit: inout EntityEdit) {
    guard let chosen else {
      edit.purged += observations.first(observations.count).map(\.id)
      edit.purgedEntities += tracks.map { numbers[$0.id] ?? -1 }
      counts.purged += observations.count
      (tracks, numbers) = (Numbered(), [:])
      observations.discardAll()
      return entities.discardAll()
    }
    let ids = Set(chosen).compactMap { tracks[$0]?.observations.map(\.id) }.joined()
    purge(ids.sorted().compactMap { observations.feature(id: $0) }, &edit)
  }

  private mutating func purge(_ rows: [FeatureRow], _ edit: inout EntityEdit) {
    guard !rows.isEmpty else { return }
    var (gone, changed) = ([Int](), Set<Int>())
    for row in rows {
      let entity = entity(of: row)
      guard let (isEmpty, wasLast) = tracks.modify(entity, { track in
        let wasLast = track.remove(row.id)
        return (track.observations.isEmpty, wasLast)
      }) else { continue }
      if isEmpty {
        if let track = tracks.remove(entity) { numbers[track.id] = nil }
        gone.append(entity)
        changed.remove(entity)
      } else if wasLast {
        changed.insert(entity)
      }
    }
    edit.purged += rows.map(\.id)
    edit.purgedEntities += gone
    counts.purged += rows.count
    observations.discard(rows.map(\.id))
    entities.discard(gone)
    guard !changed.isEmpty else { return }
    // The entity is the last observation that is left.
    var heads = FeatureBatch()
    var ids: [Int] = []
    for entity in changed.sorted() {
      guard let last = tracks[entity]?.observations.last, let row = observations.feature(id: last.id) else { continue }
      heads.append(row, columns: names)
      ids.append(entity)
    }
    _ = heads.conform(to: entities.fields)
    entities.assign(heads, ids.enumerated().map { ($0, $1) })
  }


  mutating func countLost(lines: Int) { counts.badLines += lines }

  mutating func countSkipped(_ count: Int) { if count > 0 { counts.rejected[.time, default: 0] += count } }
}
