// Sources of dynamic entities: a feed of observations, each of a track, whose latest observation is the entity.

import FeatureStore
import Geometry

/// The state of an entity source's connection to its feed.
public enum EntityStatus: Hashable, Sendable {
  case disconnected
  /// The number of the attempt to connect, and why the last connection or attempt ended; nil for the first.
  case connecting(attempt: Int, Failure?)
  case connected
  case failed(Failure)
}

/// What observations of a source have: fields, and which of them are track, time, speed and course. Numbers are those of fields.
public struct EntitySchema: Hashable, Sendable {
  public let fields: [Field]
  public let track: Int
  /// Texts by RFC 3339, or integers: milliseconds since 1970. Nil if observations have the time of their receipt.
  public let time: Int?
  public let speed: Int?
  public let course: Int?
  public let reference: SpatialReference

  /// The name of the attribute of observations with the number of their entity.
  public static let entityField = "entity"
  /// Names of attributes that observations and tracks have beside the fields.
  static let reserved = Set([entityField, "startTime", "endTime", "observationCount"].map { Text($0) })

  public var trackField: Text { fields[track].name }
  func name(_ field: Int?) -> Text? { field.map { fields[$0].name } }
}

/// How many observations a source keeps.
public struct EntityLimits: Hashable, Sendable {
  public var maxObservations = 100_000
  /// Nil for no limit.
  public var maxObservationsPerTrack: Int?
  /// Seconds since the receipt; nil for no limit.
  public var maxAge: Double?

  public init() {}
}

/// Attempts to reconnect, by the clock.
struct Reconnecting: Hashable, Sendable {
  static let attempts = 12
  static let interval = 10.0

  var attempt: Int
  /// The time of the next attempt.
  var next: Instant
  let failure: Failure
}

/// A source of entities.
public struct EntitySource: Sendable {
  public let id: EntitySourceID
  public var revision = 0
  /// The object that closes the source when it closes; nil for the session.
  public let owner: ObjectReference?
  public let schema: EntitySchema
  public internal(set) var name: String?
  public internal(set) var limits = EntityLimits()
  public internal(set) var status = EntityStatus.disconnected
  var reconnecting: Reconnecting?
  /// Nil for a source to which clients push.
  public internal(set) var replay: EntityReplay?
  /// The file that it follows; nil for a replay, and if clients push.
  public internal(set) var file: FeedFile?
  public internal(set) var contents: EntityContents

  init(id: EntitySourceID, owner: ObjectReference?, schema: EntitySchema) {
    (self.id, self.owner, self.schema) = (id, owner, schema)
    contents = EntityContents(schema)
  }
}

extension EntitySource: Entity {
  public var isMoving: Bool { limits.maxAge != nil || reconnecting != nil || replay?.resumed != nil }
  public var wantedFeed: FeedFile? {
    guard var file else { return nil }
    switch status {
    case .connected: break
    case .connecting(let attempt, _): file.attempt = attempt
    case .disconnected, .failed: return nil
    }
    return file
  }
  /// Entities are live data, so they do not count as a change of the owner.
  public var parent: ObjectReference? { nil }
  public var requirements: [ObjectReference] { owner.map { [$0] } ?? [] }
  public var byteCount: Int { 1024 + (contents.entities.count + contents.observations.count) * 100 }

  public var memento: EntitySource {
    var result = self
    result.contents = EntityContents(schema)
    return result
  }

  public func rolledBack(from current: EntitySource) -> EntitySource {
    var result = self
    result.contents = current.contents
    return result
  }

  /// Undo leaves live data alone, and the connection.
  public func undone(from current: EntitySource) -> EntitySource {
    var result = rolledBack(from: current)
    (result.revision, result.status) = (current.revision, current.status)
    (result.reconnecting, result.replay, result.file) = (current.reconnecting, current.replay, current.file)
    return result
  }

  /// A source that comes back has neither a connection nor observations.
  public var restoredAfterRemoval: EntitySource {
    var result = memento
    (result.status, result.reconnecting) = (.disconnected, nil)
    result.replay?.resumed = nil
    return result
  }

  public static func close(_ id: EntitySourceID, in world: inout World) throws(ModelError) {
    try world.closeEntitySource(id)
  }
}
