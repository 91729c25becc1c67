// Location sources that follow an entity of an entity source.

import Geometry

extension World {
  /// Passes on what an entity source has received, after it was received.
  mutating func locate(_ receipt: EntityReceipt, of id: EntitySourceID) {
    let trackers = trackers(of: id)
    guard !trackers.isEmpty, !receipt.fixes.isEmpty, let feed = entityFeed(id) else { return }
    let sources = Dictionary(grouping: trackers) { feed.contents.entity(of: $0.track) ?? -1 }
    var locations: [LocationSourceID: [Location]] = [:]
    for fix in receipt.fixes {
      guard let following = sources[fix.entity],
        let location = feed.location(of: fix.entity, fix.observation, at: fix.time, fix.position)
      else { continue }
      for each in following { locations[each.id, default: []].append(location.received(at: clock.now)) }
    }
    for (id, _) in trackers { if let new = locations[id] { receive(new, from: id) } }
  }

  /// The last locations of entities that are no longer there are outdated.
  mutating func losePurged(of id: EntitySourceID) {
    for (tracker, track) in trackers(of: id) {
      if entitySources.read(id, { $0.pointee.contents.entity(of: track) == nil }) == true { lose(tracker) }
    }
  }

  /// Where an entity is.
  func lastLocation(of entity: TrackedEntity) -> Location? {
    guard let feed = entityFeed(entity.source), let number = feed.contents.entity(of: entity.track),
      let last = feed.contents.track(of: number)?.observations.last,
      case .point(let position?)? = feed.contents.entities.feature(id: number)?.geometry
    else { return nil }
    return feed.location(of: number, last.id, at: last.time, position)?.received(at: last.received)
  }

  /// The sources that follow entities of another one, and have started.
  private func trackers(of id: EntitySourceID) -> [(id: LocationSourceID, track: TrackID)] {
    referrers(to: ObjectReference(.entitySources, id.rawValue), of: LocationSource.self).compactMap { tracker in
      guard let source = locationSources[tracker], source.status == .started, let tracked = source.tracked,
        tracked.source == id
      else { return nil }
      return (tracker, tracked.track)
    }
  }
}

extension EntityFeed {
  /// - Parameter position: in the source's reference.
  fileprivate func location(of entity: Int, _ observation: Int, at time: Instant, _ position: Point) -> Location? {
    guard let fix = fix(of: entity, observation, at: time, position) else { return nil }
    var place = fix.position
    place.z = position.z
    return Location(timestamp: time, position: place, speed: fix.speed, course: fix.course)
  }
}
