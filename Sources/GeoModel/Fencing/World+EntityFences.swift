// Entities as objects that monitors watch, and as fences that move.

import FeatureStore
import Geometry

extension World {
  /// Judges what a source has received, after it was received.
  mutating func judge(_ receipt: EntityReceipt, of id: EntitySourceID) {
    let source = ObjectReference(.entitySources, id.rawValue)
    guard !fencing.watches.isEmpty, !receipt.fixes.isEmpty, let (contents, schema) = entitySources.read(id, { ($0.pointee.contents, $0.pointee.schema) })
    else { return }
    noticeFences(of: source, Rejudging(fences: Set(receipt.fixes.map(\.entity)), cause: .fenceMoved))
    guard isWatched(source) else { return }
    let ground = Ground(schema.reference, transformer, geodesy)
    judge(
      receipt.fixes.compactMap {
        contents.fix(of: $0.entity, $0.observation, at: $0.time, $0.position, schema, ground)
      }, of: source)
  }

  /// Ends what entities that are purged were inside of, and what was inside of them.
  mutating func judgePurged(_ entities: [Int], of source: ObjectReference) {
    guard !fencing.watches.isEmpty, !entities.isEmpty else { return }
    noticeFences(of: source, Rejudging(fences: Set(entities), cause: .fenceRemoved))
    forget(entities, of: source)
  }

  /// Notes that entities have moved, for those whose fences they are, directly or by a layer.
  private mutating func noticeFences(of source: ObjectReference, _ rejudging: Rejudging) {
    notice(source, rejudging)
    for layer in layers(over: source) { notice(ObjectReference(.layers, layer.rawValue), rejudging) }
  }
}

extension EntityContents {
  /// The numbers of the entities after one, at most `limit`.
  func numbers(after number: Int, limit: Int) -> [Int] { tracks.numbers(after: number, limit: limit) }

  /// An entity's last observation as a fix.
  func fix(of entity: Int, _ schema: EntitySchema, _ ground: Ground) -> Fix? {
    guard let last = track(of: entity)?.observations.last, let position = entities.feature(id: entity)?.position else { return nil }
    return fix(of: entity, last.id, at: last.time, position, schema, ground)
  }

  fileprivate func fix(
    of entity: Int, _ observation: Int, at time: Instant, _ position: Point, _ schema: EntitySchema, _ ground: Ground
  ) -> Fix? {
    guard let track = track(of: entity), let place = ground.wgs84(position) else { return nil }
    var fix = Fix(object: track.id.text, number: entity, time: time, position: place)
    fix.observation = observation
    guard schema.speed != nil || schema.course != nil, let row = observations.feature(id: observation) else { return fix }
    fix.speed = schema.speed.flatMap { row.value($0).finiteNumber }
    fix.course = schema.course.flatMap { row.value($0).finiteNumber }
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
