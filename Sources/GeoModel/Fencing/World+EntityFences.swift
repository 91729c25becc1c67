// Entities as objects that monitors watch, and as fences that move.

import FeatureStore
import Geometry

extension World {
  /// Judges what a source has received, after it was received.
  mutating func judge(_ receipt: EntityReceipt, of id: EntitySourceID) {
    let source = ObjectReference(.entitySources, id.rawValue)
    guard !fencing.watches.isEmpty, !receipt.fixes.isEmpty else { return }
    noticeFences(of: source, .fenceMoved) { Set(receipt.fixes.map(\.entity)) }
    guard isWatched(source), let feed = entityFeed(id) else { return }
    judge(receipt.fixes.compactMap { feed.fix(of: $0.entity, $0.observation, at: $0.time, $0.position) }, of: source)
  }

  /// An entity source as a feed.
  func entityFeed(_ id: EntitySourceID) -> EntityFeed? {
    entitySources.read(id) { source in
      let ground = Ground(source.pointee.schema.reference, transformer, geodesy)
      return EntityFeed(contents: source.pointee.contents, schema: source.pointee.schema, ground: ground)
    }
  }

  /// Ends what entities that are purged were inside of, and what was inside of them.
  mutating func judgePurged(_ entities: [Int], of source: ObjectReference) {
    guard !fencing.watches.isEmpty, !entities.isEmpty else { return }
    noticeFences(of: source, .fenceRemoved) { Set(entities) }
    forget(entities, of: source)
  }

  /// Notes that entities have moved or gone, for those whose fences they are, directly or by a layer.
  private mutating func noticeFences(of source: ObjectReference, _ cause: GeotriggerEvent.Cause, _ entities: () -> Set<Int>) {
    let holders = ([source] + layers(over: source).map { ObjectReference(.layers, $0.rawValue) }).filter(isWatched)
    guard !holders.isEmpty else { return }
    let rejudging = Rejudging(fences: entities(), cause: cause)
    for holder in holders { notice(holder, rejudging) }
  }
}

/// What an entity source has, as fixes.
struct EntityFeed {
  let contents: EntityContents
  let schema: EntitySchema
  let ground: Ground

  /// The numbers of the entities after one, at most `limit`.
  func numbers(after number: Int, limit: Int) -> [Int] { contents.tracks.numbers(after: number, limit: limit) }

  /// The last observation of an entity.
  func fix(of entity: Int) -> Fix? {
    guard let last = contents.track(of: entity)?.observations.last,
      let position = contents.entities.feature(id: entity)?.position
    else { return nil }
    return fix(of: entity, last.id, at: last.time, position)
  }

  /// - Parameter position: in the source's reference.
  func fix(of entity: Int, _ observation: Int, at time: Instant, _ position: Point) -> Fix? {
    guard let track = contents.track(of: entity), let place = ground.wgs84(position) else { return nil }
    var fix = Fix(object: track.id.text, number: entity, time: time, position: place)
    fix.observation = observation
    guard schema.speed != nil || schema.course != nil, let row = contents.observations.feature(id: observation) else { return fix }
    fix.speed = schema.speed.flatMap { row.value($0).finiteNumber }.flatMap { Location.isSpeed($0) ? $0 : nil }
    fix.course = schema.course.flatMap { row.value($0).finiteNumber }.map(Camera.normalized(degrees:))
    return fix
  }
}

extension TrackID {
  /// The value as text.
  var text: Text {
    switch self {
    case .integer(let number): Text(String(number))
    case .text(let text): text
    }
  }
}
