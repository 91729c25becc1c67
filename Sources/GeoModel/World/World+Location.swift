// Location sources: created, started, stopped and closed. World+Receive.swift has the way of their locations.

import Geometry

extension World {
  // MARK: Creation

  @discardableResult
  public mutating func createSimulatedLocationSource(
    id: LocationSourceID?, line: Geometry, reference: SpatialReference, velocity: Double, interval: Double,
    startTime: Instant?, loops: Bool, owner: ObjectReference? = nil
  ) throws(ModelError) -> LocationSource {
    try checkFree(id)
    try checkNesting(inOwner: owner)
    guard case .lineString(let positions) = line else { throw .invalidGeometry(expected: "LineString") }
    guard !positions.isEmpty else { throw .emptyGeometry }
    let drive: Drive?
    var converted = positions
    do {
      if reference != .wgs84,
        case .lineString(let wgs84) = try transformer.transform(line, from: reference, to: .wgs84)
      {
        converted = wgs84
      }
      drive = try Drive(converted, geodesy)
    } catch { throw .transform(error) }
    guard let drive else { throw .invalidGeometry(expected: "LineString with at least two different positions") }
    return try insert(
      LocationSource(
        id: claim(id, prefix: "location"), owner: owner,
        feed: .simulated(
          Simulation(velocity: velocity, interval: interval, loops: loops, startTime: startTime, line: .lineString(converted), drive: drive)
        )))
  }

  /// Creates a source of a kind that needs no preparation.
  ///
  /// - Throws: also `unknownID` of the source that it passes on, and `tooManyOwners` if that passes on too many others.
  @discardableResult
  public mutating func createLocationSource(
    id: LocationSourceID?, _ feed: LocationFeed, staleAfter: Double?, owner: ObjectReference? = nil
  ) throws(ModelError) -> LocationSource {
    try checkFree(id)
    try checkNesting(inOwner: owner)
    var source = LocationSource(id: id ?? LocationSourceID(""), owner: owner, feed: feed, staleAfter: staleAfter)
    var depth = 0
    var next = source.upstream
    while let upstream = next {
      depth += 1
      guard depth < Self.groupDepthLimit else { throw .tooManyOwners(limit: Self.groupDepthLimit) }
      next = try locationSources.require(upstream).upstream
    }
    if let tracked = source.tracked { _ = try entitySources.require(tracked.source) }
    source = LocationSource(
      id: try claim(id, prefix: "location"), owner: owner, feed: feed, staleAfter: staleAfter)
    return insert(source)
  }

  public mutating func updateLocationSource(_ id: LocationSourceID, _ changes: [MemberChange]) throws(ModelError) {
    try update(id, changes) { _, _, _ in }
  }

  // MARK: Starting

  /// Starts or resumes a source; one that has ended starts again. The process ends when it has started, or failed to.
  ///
  /// A source over another one starts that, too.
  public mutating func startLocationSource(_ id: LocationSourceID) throws(ModelError) -> ProcessID {
    let source = try locationSources.require(id)
    let process = makeProcess()
    if source.status == .started {
      end(process, .completed)
    } else {
      changeKnown(id) { $0.waiting.append(process) }
      begin(id)
    }
    return process
  }

  /// Begins to start a source that is not running.
  private mutating func begin(_ id: LocationSourceID) {
    switch locationSources[id]?.status {
    case .started, .starting, nil: return
    case .stopped, .stopping, .failedToStart: break
    }
    changeKnown(id) {
      $0.status = .starting
      $0.heardAt = nil
    }
    if let upstream = locationSources[id]?.upstream { begin(upstream) }
    attempt(id)
  }

  /// Starts a source whose start has begun, once what it needs is there.
  private mutating func attempt(_ id: LocationSourceID) {
    guard let source = locationSources[id], source.status == .starting else { return }
    switch source.feed {
    // What follows a file has started when that is open.
    case .nmea(let feed): if feed.file == nil { run(id) }
    case .simulated: run(id)
    case .replay(var replay):
      if source.emitted == 0 || source.hasEnded {
        do throws(Failure) {
          let reading = try reading(replay, of: id)
          guard reading.store.count > Replay.onLoop else { return take(reading.outcome(), of: replay, id) }
        } catch { return settle(id, .failedToStart(error)) }
        replay.reading = makeNumber()
        return changeKnown(id) { $0.feed = .replay(replay) }
      }
      run(id)
    case .external(let authorization):
      switch authorization {
      case .notDetermined: break
      case .granted: run(id)
      case .denied: settle(id, .failedToStart(.locationDenied(id)))
      }
    case .filtered, .snapped:
      guard let upstream = source.upstream.flatMap({ locationSources[$0] }) else { return }
      switch upstream.status {
      case .started:
        if case .snapped(let snap) = source.feed, let failure = self.failure(of: snap) {
          return settle(id, .failedToStart(failure))
        }
        run(id)
      case .failedToStart: settle(id, upstream.status)
      case .starting, .stopped, .stopping: break
      }
    case .tracked(let entity):
      run(id)
      receive(lastLocation(of: entity).map { [$0] } ?? [], from: id)
    }
  }

  /// Goes on with the start of a replay that is read, unless it was stopped meanwhile.
  public mutating func take(_ outcome: ReplayReading.Outcome, of reading: ReplayReading) {
    guard let source = locationSources[reading.source], source.status == .starting, case .replay(let replay) = source.feed,
      replay.reading == reading.replay.reading
    else { return }
    take(outcome, of: replay, reading.source)
  }

  private mutating func take(_ outcome: ReplayReading.Outcome, of replay: Replay, _ id: LocationSourceID) {
    var replay = replay
    replay.reading = nil
    let refusals: [LocationRefusal: Int]
    do throws(Failure) { (replay.locations, refusals) = try outcome.result.get() } catch { return settle(id, .failedToStart(error)) }
    changeKnown(id) {
      $0.feed = .replay(replay)
      $0.emitted = 0
    }
    count(refusals, of: id, by: nil)
    run(id)
  }

  private mutating func run(_ id: LocationSourceID) {
    let now = clock.now
    changeKnown(id) { source in
      if source.hasEnded {
        source.emitted = 0
        source.firstTimestamp = nil
      }
      if case .nmea(var feed) = source.feed {
        feed.reader.reset()
        source.feed = .nmea(feed)
      }
      guard source.isTimed else { return }
      source.resumedAt = now
      source.emittedAtResume = source.emitted
      if case .simulated(let it) = source.feed, source.firstTimestamp == nil { source.firstTimestamp = it.startTime ?? now }
    }
    settle(id, .started)
  }

  /// Gives a source the status in which its start or its running ends, answers those who wait, and lets the sources over it follow.
  private mutating func settle(_ id: LocationSourceID, _ status: LocationStatus, by origin: Origin? = nil) {
    let waiting = locationSources[id]?.waiting ?? []
    changeKnown(id, by: origin) {
      $0.status = status
      $0.waiting = []
      if status != .started { $0.resumedAt = nil }
    }
    for process in waiting { if status == .stopped { interrupt(process) } else { end(process, .completed) } }
    for above in sources(over: id) {
      switch status {
      case .started: attempt(above)
      case .failedToStart, .stopped, .stopping, .starting:
        switch locationSources[above]?.status {
        case .started, .starting: settle(above, status, by: origin)
        case .stopped, .stopping, .failedToStart, nil: break
        }
      }
    }
  }

  /// The sources that pass on the locations of another one.
  func sources(over id: LocationSourceID) -> [LocationSourceID] {
    referrers(to: ObjectReference(.locationSources, id.rawValue), of: LocationSource.self).filter {
      locationSources[$0]?.upstream == id
    }
  }

  /// The user allows a device, or no longer does. A start that waits for it goes on; a device that runs fails.
  public mutating func setAuthorization(
    of id: LocationSourceID, _ authorization: LocationAuthorization
  ) throws(ModelError) {
    let source = try locationSources.require(id)
    guard source.authorization != nil else { throw .wrongLocationKind(id.rawValue, source.kind, expected: [.external]) }
    changeKnown(id) { $0.feed = .external(authorization) }
    switch source.status {
    case .starting: attempt(id)
    case .started where authorization != .granted: settle(id, .failedToStart(.locationDenied(id)))
    case .started, .stopped, .stopping, .failedToStart: break
    }
  }

  // MARK: Files

  mutating func followFile(_ file: FeedFile?, _ id: LocationSourceID) throws(ModelError) {
    let source = try locationSources.require(id)
    guard case .nmea(var feed) = source.feed else { throw .wrongLocationKind(id.rawValue, source.kind, expected: [.nmea]) }
    stop(id)
    feed.file = file
    changeKnown(id) { $0.feed = .nmea(feed) }
  }

  mutating func locationFeedOpened(_ id: LocationSourceID) {
    if locationSources[id]?.status == .starting { run(id) }
  }

  mutating func locationFeedEnded(_ id: LocationSourceID, _ failure: Failure?) {
    guard let source = locationSources[id], source.status == .starting || source.status == .started else { return }
    settle(id, failure.map { .failedToStart($0) } ?? .stopped, by: .location)
  }

  // MARK: Stopping

  public mutating func stopLocationSource(_ id: LocationSourceID) throws(ModelError) -> ProcessID {
    _ = try locationSources.require(id)
    let process = makeProcess()
    stop(id)
    end(process, .completed)
    return process
  }

  mutating func stop(_ id: LocationSourceID, by origin: Origin? = nil) {
    switch locationSources[id]?.status {
    case .started, .starting: settle(id, .stopped, by: origin)
    case .stopped, .stopping, .failedToStart, nil: break
    }
  }

  public mutating func closeLocationSource(_ id: LocationSourceID) throws(ModelError) {
    let source = try locationSources.require(id)
    for process in source.waiting { interrupt(process) }
    forgetLocationSource(id)
    remove(id)
  }

  /// Stops all location sources.
  public mutating func stopAllLocationSources() {
    for id in locationSources.ids { stop(id) }
  }

  /// Gives up waiting for a start. The source stops if nobody else waits for it.
  mutating func cancelStart(_ process: ProcessID) -> Bool {
    guard let source = locationSources.values.first(where: { $0.waiting.contains(process) }) else { return false }
    changeKnown(source.id) { $0.waiting.removeAll { $0 == process } }
    end(process, .cancelled)
    if source.waiting.count == 1 { stop(source.id) }
    return true
  }
}

extension Failure {
  static func locationDenied(_ id: LocationSourceID) -> Failure {
    Failure(
      kind: "locationDenied", message: "The user does not allow \"\(id.rawValue)\" to tell the location.",
      expected: "an authorization, by location/setAuthorization")
  }
}
