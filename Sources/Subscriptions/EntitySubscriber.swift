// `entity/observe`: what a source receives and purges, as notifications of their own.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import StateTree
import WireCoding

/// Observes one entity source. What is recorded is a range of numbers: values are read when they are sent, so a slow client costs no
/// memory, and gets what is still there.
package final class EntitySubscriber: Subscriber {
  package let id: String
  private let source: EntitySourceID
  private let sendsEvery: Bool
  /// In the source's reference; nil for everywhere.
  private let boxes: [Envelope]?
  package let maxRate: Double?
  /// The observations that are not sent yet.
  private var received = 0..<0
  private var newEntities = 0..<0
  private var omitted = 0
  private var purged = 0
  private var purgedEntities: [Int] = []
  private var omittedEntities = 0
  private var hasStatus = false
  /// Whether the last flush has left something to send.
  private var hasMore = false

  /// Maximum number of purged entities that are kept, and of observations in one notification.
  private static let entityLimit = 10_000
  private static let partCount = 500
  /// Maximum number of observations that are looked at in one turn of the loop: a few milliseconds.
  private static let stepCount = 20_000

  package init(id: String, source: EntitySourceID, sendsEvery: Bool, boxes: [Envelope]?, maxRate: Double?) {
    (self.id, self.source, self.sendsEvery, self.boxes, self.maxRate) = (id, source, sendsEvery, boxes, maxRate)
    scope = ObjectReference(.entitySources, source.rawValue)
    interests = [StatePattern(scope, "entities"), StatePattern(scope, "status")]
  }

  private let scope: ObjectReference
  package let interests: [StatePattern]
  package var isDirty: Bool { !received.isEmpty || purged > 0 || hasStatus }

  package func ends(with object: ObjectReference, in world: World) -> Bool {
    guard object == scope else { return false }
    (received, purged, hasStatus, hasMore) = (0..<0, 0, false, false)
    return true
  }

  package func record(_ change: Change, _ path: ModelPath, _ list: SentList?, _ world: World) -> Int {
    switch change.event {
    case .changed(scope, .status): hasStatus = true
    case .entities(source, let edit):
      if !edit.received.isEmpty {
        received = (received.isEmpty ? edit.received.lowerBound : received.lowerBound)..<edit.received.upperBound
      }
      if !edit.entities.isEmpty {
        newEntities = (newEntities.isEmpty ? edit.entities.lowerBound : newEntities.lowerBound)..<edit.entities.upperBound
      }
      purged += edit.purged.count
      let room = Self.entityLimit - purgedEntities.count
      purgedEntities += edit.purgedEntities.prefix(room)
      omittedEntities += max(0, edit.purgedEntities.count - room)
    default: break
    }
    return 0
  }

  package func flush(_ world: World, to session: Session, _ texts: inout PatchTexts) {
    hasMore = false
    if hasStatus, let status = world.entitySources.read(source, { $0.pointee.status }) {
      hasStatus = false
      session.notify(
        EntityProtocol.StatusChanged.name,
        EntityProtocol.StatusChanged.Params(
          subscription: id, entitySource: source.rawValue, revision: world.revision, status: Wire.entityStatus(status)))
    }
    world.entitySources.read(source) { sendReceived($0, world.revision, session) }
    guard received.isEmpty, purged > 0 else { return }
    session.notify(
      EntityProtocol.Purged.name,
      EntityProtocol.Purged.Params(
        subscription: id, entitySource: source.rawValue, revision: world.revision, observations: purged,
        entities: purgedEntities, omitted: omittedEntities))
    (purged, purgedEntities, omittedEntities) = (0, [], 0)
  }

  /// Sends the next observations.
  private func sendReceived(_ source: UnsafePointer<EntitySource>, _ revision: Int, _ session: Session) {
    guard !received.isEmpty else { return }
    var found: [EntityProtocol.Observation] = []
    var entities: [Int] = []
    var next = received.lowerBound
    let (first, end) = (received.lowerBound, min(received.upperBound, next + Self.stepCount))
    while next < end, found.count < Self.partCount {
      switch source.pointee.notice(next, since: first, sendsEvery: sendsEvery, in: boxes) {
      case .send(let observation):
        found.append(observation)
        if newEntities.contains(observation.entity) { entities.append(observation.entity) }
      case .omit: omitted += 1
      case .elsewhere: break
      }
      next += 1
    }
    received = next..<received.upperBound
    hasMore = !received.isEmpty
    guard !found.isEmpty || omitted > 0 && !hasMore else { return }
    session.notify(
      EntityProtocol.Received.name,
      EntityProtocol.Received.Params(
        subscription: id, entitySource: self.source.rawValue, revision: revision, observations: found,
        newEntities: entities, omitted: omitted))
    omitted = 0
    if !hasMore { newEntities = 0..<0 }
  }

  package func resume(_ session: Session) -> DeliveryProgress {
    defer { hasMore = false }
    return hasMore ? .more : .done
  }
}

extension EntitySource {
  fileprivate enum Notice {
    case send(EntityProtocol.Observation)
    /// It is gone, or a newer one is sent.
    case omit
    case elsewhere
  }

  /// - Parameter first: the first observation that was not sent when the last ones were.
  fileprivate func notice(_ id: Int, since first: Int, sendsEvery: Bool, in boxes: [Envelope]?) -> Notice {
    guard let row = contents.observations.feature(id: id) else { return .omit }
    let entity = contents.entity(of: row)
    guard let track = contents.track(of: entity) else { return .omit }
    func isInside(_ row: FeatureRow?) -> Bool {
      guard let boxes, let point = row?.position else { return boxes == nil }
      return boxes.contains { $0.contains(x: point.x, y: point.y) }
    }
    guard let index = track.observations.lastIndex(where: { $0.id == id }) else { return .omit }
    if !isInside(row) {
      // An entity that leaves is sent once more.
      let before = track.observations[..<index].last { $0.id < (sendsEvery ? id : first) }
      guard let before, isInside(contents.observations.feature(id: before.id)) else { return .elsewhere }
    }
    if !sendsEvery, index < track.observations.endIndex - 1 { return .omit }
    return observation(track.observations[index], of: entity, track).map(Notice.send) ?? .omit
  }
}
