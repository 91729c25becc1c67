// The one way of all locations: checked, made state, passed on to sources over the source, and followed by views.

import Geometry
import NMEA

extension World {
  /// Publishes locations of a running source in their order. The last one becomes state; change records have each.
  ///
  /// - Returns: for each location why it was not published; nil if it was.
  @discardableResult
  mutating func receive(
    _ locations: [Location], from id: LocationSourceID, by origin: Origin? = nil
  ) -> [LocationRefusal?] {
    guard let source = locationSources[id], source.status == .started else { return [] }
    var last = source.heardAt == nil ? nil : source.location
    var accepted: [Location] = []
    let refusals = locations.map { location -> LocationRefusal? in
      var location = location
      if let refusal = location.normalize() ?? location.refusal(after: last) { return refusal }
      accepted.append(location)
      last = location
      return nil
    }
    count(refusals, of: id, by: origin)
    guard let newest = accepted.last else { return refusals }
    let now = clock.now
    changeKnown(id, by: origin) {
      $0.location = newest
      $0.heardAt = now
      $0.isStale = false
    }
    for location in accepted { record(.location(location), of: id, by: origin) }
    for above in sources(over: id) {
      guard let source = locationSources[above], source.status == .started else { continue }
      let (passed, refusals, isHeard) = pass(accepted, to: source)
      count(refusals, of: above, by: origin)
      if isHeard { hear(above, by: origin) }
      receive(passed, from: above, by: origin)
    }
    follow(id, accepted, by: origin)
    judge(accepted.compactMap { fix(of: source, at: $0) }, of: source.reference)
    return refusals
  }

  /// Publishes where a device points, in degrees clockwise from true north.
  mutating func receive(headings: [Double], from id: LocationSourceID, by origin: Origin? = nil) {
    guard locationSources[id]?.status == .started else { return }
    for heading in headings.map(Camera.normalized(degrees:)) {
      changeKnown(id, by: origin) { $0.heading = heading }
      record(.heading(heading), of: id, by: origin)
    }
    if !headings.isEmpty { follow(id, [], by: origin) }
    for above in sources(over: id) { receive(headings: headings, from: above, by: origin) }
  }

  private mutating func record(_ event: LocationEvent, of id: LocationSourceID, by origin: Origin?) {
    let property: Property =
      switch event {
      case .location: .location
      case .heading: .heading
      }
    record(.changed(ObjectReference(.locationSources, id.rawValue), property), by: origin, publishing: Shared(event))
    touch(id)
  }

  mutating func count(_ refusals: [LocationRefusal?], of id: LocationSourceID, by origin: Origin?) {
    guard refusals.contains(where: { $0 != nil }) else { return }
    count(Dictionary(refusals.compactMap { $0.map { ($0, 1) } }, uniquingKeysWith: +), of: id, by: origin)
  }

  mutating func count(_ refusals: [LocationRefusal: Int], of id: LocationSourceID, by origin: Origin?) {
    guard !refusals.isEmpty else { return }
    changeKnown(id, by: origin) { for (refusal, count) in refusals { $0.refusals[refusal.rawValue, default: 0] += count } }
  }

  /// The source is alive, although it has no new location.
  private mutating func hear(_ id: LocationSourceID, by origin: Origin?) {
    let now = clock.now
    changeKnown(id, by: origin) { $0.heardAt = now }
    guard let source = locationSources[id], source.isStale else { return }
    changeKnown(id, by: origin) { $0.isStale = false }
    setLastKnown(id, false, by: origin)
  }

  /// The last location of a source is outdated, and so are those of the sources over it.
  mutating func lose(_ id: LocationSourceID) {
    guard let source = locationSources[id], source.status == .started, !source.isStale, source.location != nil else { return }
    changeKnown(id, by: .location) { $0.isStale = true }
    setLastKnown(id, true, by: .location)
    for above in sources(over: id) { lose(above) }
  }

  private mutating func setLastKnown(_ id: LocationSourceID, _ isLastKnown: Bool, by origin: Origin?) {
    guard var location = locationSources[id]?.location, location.isLastKnown != isLastKnown else { return }
    location.isLastKnown = isLastKnown
    changeKnown(id, by: origin) { $0.location = location }
    record(.location(location), of: id, by: origin)
    follow(id, [], by: origin)
  }

  // MARK: Pushed locations

  /// Number of locations or headings in one push.
  public static let pushLimit = 1000

  /// Publishes what a client has measured.
  ///
  /// - Returns: for each location why it was not published; nil if it was.
  public mutating func push(
    _ locations: [Location], headings: [Double], to id: LocationSourceID
  ) throws(ModelError) -> [LocationRefusal?] {
    let source = try locationSources.require(id)
    guard source.kind == .external else { throw .wrongLocationKind(id.rawValue, source.kind, expected: [.external]) }
    guard source.status == .started else { throw .notStarted(id.rawValue) }
    receive(headings: headings, from: id)
    return receive(locations.map { $0.received(at: clock.now) }, from: id)
  }

  /// Reads a piece of text of a receiver.
  ///
  /// - Returns: number of sentences and of fixes in it.
  public mutating func pushNMEA(
    _ text: String, to id: LocationSourceID
  ) throws(ModelError) -> (sentences: Int, fixes: Int) {
    let source = try locationSources.require(id)
    guard case .nmea(var feed) = source.feed else { throw .wrongLocationKind(id.rawValue, source.kind, expected: [.nmea]) }
    guard source.status == .started else { throw .notStarted(id.rawValue) }
    let before = feed.reader.sentences
    let events = feed.reader.read(text.utf8)
    feed.epochTime = feed.reader.isInEpoch ? clock.now : nil
    take(events, feed, of: id)
    return (feed.reader.sentences - before, events.count { if case .fix = $0 { true } else { false } })
  }

  private mutating func take(
    _ events: [NMEAReader.Event], _ feed: NMEAFeed, of id: LocationSourceID, by origin: Origin? = nil
  ) {
    changeKnown(id, by: origin) {
      $0.feed = .nmea(feed)
      for (fault, count) in feed.reader.faults { $0.refusals[fault.rawValue] = count }
      $0.satellites = feed.reader.satellites
    }
    var fixes: [Location] = []
    for event in events {
      switch event {
      case .fix(let fix): fixes.append(Location(fix).received(at: clock.now))
      case .noFix:
        receive(fixes, from: id, by: origin)
        fixes = []
        lose(id)
      }
    }
    receive(fixes, from: id, by: origin)
  }

  // MARK: The clock

  /// Number of locations that one tick emits; more follow at the next tick.
  private static let tickLimit = 1000

  /// Publishes the locations up to the current time.
  mutating func advance(_ id: LocationSourceID) {
    var due: [Location] = []
    var hasEnded = false
    while due.count < Self.tickLimit, !hasEnded, let source = locationSources[id], let time = source.nextTime,
      time <= clock.now, let location = nextLocation(of: source)
    {
      due.append(location)
      changeKnown(id, by: .location) { $0.emitted += 1 }
      hasEnded = locationSources[id]?.hasEnded ?? true
    }
    if !due.isEmpty { receive(due, from: id, by: .location) }
    if hasEnded { stop(id, by: .location) }
    guard let source = locationSources[id] else { return }
    if case .nmea(var feed) = source.feed, let end = source.epochEnd, end <= clock.now {
      feed.epochTime = nil
      let event = feed.reader.endEpoch()
      take(event.map { [$0] } ?? [], feed, of: id, by: .location)
    }
    if let time = source.staleTime, time <= clock.now { lose(id) }
  }

  /// The next location along the line or track.
  private func nextLocation(of source: LocationSource) -> Location? {
    switch source.feed {
    case .simulated(let it):
      var distance = Double(source.emitted) * it.interval * it.velocity
      if it.loops { distance = distance.truncatingRemainder(dividingBy: it.drive.length) }
      guard let (position, course) = try? it.drive.position(at: distance, geodesy) else { return nil }
      return Location(
        timestamp: source.firstTimestamp?.advanced(by: Double(source.emitted) * it.interval), position: position,
        speed: it.velocity, course: course)
    case .replay(let it):
      var location = it.locations.value[source.emitted % it.locations.value.count]
      location.timestamp = it.start.advanced(by: it.offset(source.emitted))
      return location
    case .external, .nmea, .filtered, .snapped, .tracked: return nil
    }
  }

  // MARK: Sources over sources

  /// The locations that a source passes on.
  ///
  /// - Returns: also why others are not passed on, and whether any tells that the signal is there.
  private mutating func pass(
    _ locations: [Location], to source: LocationSource
  ) -> (passed: [Location], refusals: [LocationRefusal?], isHeard: Bool) {
    var passed: [Location] = []
    var refusals: [LocationRefusal?] = []
    var isHeard = false
    switch source.feed {
    case .filtered(var filter):
      var last = source.heardAt == nil ? nil : source.location
      if last == nil { filter.passedAt = nil }
      for location in locations {
        let time = location.timestamp ?? clock.now
        guard filter.maxAccuracy.map({ location.horizontalAccuracy <= $0 }) ?? true else {
          refusals.append(.filtered)
          continue
        }
        isHeard = true
        let isSoon = filter.minInterval.flatMap { least in filter.passedAt.map { time.seconds(since: $0) < least } } ?? false
        guard !isSoon, !isNear(location, last, filter.minDistance) else {
          refusals.append(.filtered)
          continue
        }
        (last, filter.passedAt) = (location, time)
        passed.append(location)
      }
      changeKnown(source.id) { $0.feed = .filtered(filter) }
    case .snapped(let snap):
      for location in locations {
        if let moved = snapped(location, by: snap) { passed.append(moved) } else { refusals.append(.notSnapped) }
      }
    case .simulated, .external, .nmea, .replay, .tracked: break
    }
    return (passed, refusals, isHeard)
  }

  /// Whether a location is nearer to another one than a distance in metres.
  private func isNear(_ location: Location, _ other: Location?, _ distance: Double?) -> Bool {
    guard let distance, let from = other?.position, let to = location.position,
      let found = try? geodesy.inverse(from: from, to: to).distance
    else { return false }
    return found < distance
  }
}

extension Location {
  /// Whether a number of metres per second is a speed: nothing is faster than light.
  static func isSpeed(_ number: Double) -> Bool { (0...299_792_458).contains(number) }

  /// Brings longitude and course to their ranges.
  ///
  /// - Returns: why the location is none.
  fileprivate mutating func normalize() -> LocationRefusal? {
    guard var point = position, abs(point.y) <= 90, abs(point.x) <= 360 else { return .offEarth }
    if abs(point.x) > 180 { point.x -= point.x < 0 ? -360 : 360 }
    position = point
    guard speed.map(Self.isSpeed) ?? true, course?.isFinite ?? true,
      horizontalAccuracy >= 0, verticalAccuracy >= 0
    else { return .notANumber }
    course = course.map(Camera.normalized(degrees:))
    return nil
  }

  /// Why it cannot follow another location of its source.
  fileprivate func refusal(after last: Location?) -> LocationRefusal? {
    guard let timestamp, let before = last?.timestamp else { return nil }
    return timestamp < before ? .late : timestamp == before ? .repeated : nil
  }

  func received(at time: Instant) -> Location {
    var result = self
    result.receivedAt = time
    return result
  }

  fileprivate init(_ fix: NMEAFix) {
    self.init(
      timestamp: fix.time.map { Instant(nanoseconds: $0 * 1_000_000) },
      position: Point(x: fix.longitude, y: fix.latitude, z: fix.altitude), horizontalAccuracy: fix.horizontalAccuracy ?? 0,
      verticalAccuracy: fix.verticalAccuracy ?? 0, speed: fix.speed, course: fix.course)
  }
}
