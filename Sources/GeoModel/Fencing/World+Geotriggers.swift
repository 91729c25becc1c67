// Geotriggers at work: started, stopped, and given fixes.

import Expressions
import FeatureStore
import Geometry
import Proximity

extension World {
  /// Judges fixes of a feed for all monitors that watch it.
  public mutating func judge(_ fixes: [Fix], of feed: ObjectReference) {
    guard !fixes.isEmpty else { return }
    forEachMonitor(of: feed) { world, monitor in
      let ordered = fixes.count > 1 ? fixes.sorted { $0.time < $1.time } : fixes
      world.judge(monitor) { judge in for fix in ordered { judge.take(.fix(fix, .moved)) } }
    }
  }

  /// Ends the memberships of objects that a feed has no more.
  public mutating func forget(_ objects: [Int], of feed: ObjectReference) {
    guard !objects.isEmpty else { return }
    forEachMonitor(of: feed) { world, monitor in
      world.judge(monitor) { judge in for number in objects { judge.take(.purged(number)) } }
    }
  }

  /// The running monitors of a feed.
  private mutating func forEachMonitor(of feed: ObjectReference, _ body: (inout World, GeotriggerMonitor) -> Void) {
    guard !fencing.watches.isEmpty else { return }
    for id in referrers(to: feed, of: GeotriggerMonitor.self) {
      guard let monitor = geotriggers[id], monitor.feed == feed.text, monitor.isRunning else { continue }
      body(&self, monitor)
    }
  }

  /// Whether a monitor watches an object, as its feed or as its fences.
  func isWatched(_ feed: ObjectReference) -> Bool {
    !fencing.watches.isEmpty && references.all(to: feed.text).contains { $0.collection == .geotriggers }
  }

  /// Runs judgements for one monitor, and publishes what they count.
  mutating func judge(_ monitor: GeotriggerMonitor, _ body: (inout FenceJudge) -> Void) {
    guard let number = geotriggers.number(of: monitor.id), let watch = fencing.watches.removeValue(forKey: number) else { return }
    let (wasBehind, waiting) = (watch.isBehind, watch.waiting.count)
    let counts = (watch.insideCount, watch.eventCount, watch.lateCount, watch.inaccurateCount)
    let set =
      watch.fences
      ?? FenceSet(object: ObjectReference(.overlays, ""), reference: .wgs84, wrap: nil, filter: nil, conditions: nil, isOwn: false)
    let (store, features) = fences(of: set.object)
    let asksForAttributes = monitor.condition != nil || monitor.message != nil
    let observations = asksForAttributes ? entityFeed(of: monitor)?.contents.observations : nil
    var judge = FenceJudge(
      monitor, consume watch, set, store ?? FeatureStore(), features, observations, transformer, geodesy, now: clock.now,
      effort: fencing.effort)
    body(&judge)
    fencing.effort = judge.effort
    fencing.watches[number] = judge.watch
    recordUndo(
      Judged(
        monitor: monitor.id, number: number, objects: judge.before, counts: counts, wasBehind: wasBehind, waiting: waiting, whole: nil))
    publish(judge.watch, of: monitor.id)
  }

  private mutating func publish(_ watch: Watch, of id: GeotriggerMonitorID) {
    guard let old = geotriggers.read(id, { $0.pointee.live }) else { return }
    var new = old
    (new.insideCount, new.eventCount) = (watch.insideCount, watch.eventCount)
    (new.lateCount, new.inaccurateCount) = (watch.lateCount, watch.inaccurateCount)
    new.awaitsTicks = watch.isBehind || watch.rejudging != nil || !watch.dwelling.isEmpty
    if new != old { changeKnown(id) { $0.live = new } }
  }

  /// The features of a layer or an overlay; nil if there is none, or it is not loaded.
  func fences(of object: ObjectReference) -> (FeatureStore?, LayerFeatures?) {
    if object.collection == .overlays { return (overlays[OverlayID(object.id)]?.store, nil) }
    if object.collection == .entitySources {
      return (entitySources.read(EntitySourceID(object.id)) { $0.pointee.contents.entities }, nil)
    }
    let features = layers[LayerID(object.id)].flatMap { live($0).features }
    return (features?.store, features?.isUnfiltered == false ? features : nil)
  }

  // MARK: Starting and stopping

  mutating func start(_ monitor: GeotriggerMonitor) {
    guard let number = geotriggers.number(of: monitor.id) else { return }
    do {
      let fences = try fenceSet(of: monitor)
      keepForRollback(monitor.id, number)
      fencing.watches[number, default: Watch()].fences = fences
      changeKnown(monitor.id) { $0.live.status = .started }
      updateWarnings(of: monitor.id)
      if entityFeed(of: monitor) != nil {
        changeKnown(monitor.id) { $0.live.status = .starting }
        fencing.watches[number]?.rejudging = Rejudging(cause: .monitorStarted)
        fencing.watches[number]?.rejudging?.isStart = true
        judgeAgain(monitor)
      } else {
        judge(monitor) { [fixes = fixes(of: monitor)] judge in for fix in fixes { judge.take(.fix(fix, .monitorStarted)) } }
      }
    } catch {
      changeKnown(monitor.id) { $0.live.status = .failedToStart(error) }
    }
  }

  mutating func stop(_ monitor: GeotriggerMonitor) {
    if monitor.isRunning, let number = geotriggers.number(of: monitor.id) {
      keepForRollback(monitor.id, number)
      judge(monitor) { judge in
        judge.forgetAll(.monitorStopped)
        judge.watch.dwelling = []
        judge.watch.rejudging = nil
        judge.watch.fences = nil
      }
    }
    changeKnown(monitor.id) {
      $0.live.status = .stopped
      $0.live.warnings = []
    }
    for process in fencing.starting.removeValue(forKey: monitor.id) ?? [] { interrupt(process) }
  }

  /// Stops the monitors that have not finished starting, at the end of a session.
  public mutating func stopStartingGeotriggers() {
    for id in fencing.starting.keys.sorted(by: { $0.rawValue < $1.rawValue }) { if let monitor = geotriggers[id] { stop(monitor) } }
  }

  /// Stops the monitor of whose start this is the process.
  mutating func cancelGeotriggerStart(_ process: ProcessID) -> Bool {
    guard let id = fencing.starting.first(where: { $0.value.contains(process) })?.key, let monitor = geotriggers[id] else { return false }
    fencing.starting[id]?.removeAll { $0 == process }
    end(process, .cancelled)
    stop(monitor)
    return true
  }

  mutating func keepForRollback(_ id: GeotriggerMonitorID, _ number: Int) {
    recordUndo(
      Judged(
        monitor: id, number: number, objects: [], counts: (0, 0, 0, 0), wasBehind: false, waiting: 0,
        whole: fencing.watches[number] ?? Watch()))
  }

  /// The last fixes of a feed that runs.
  private func fixes(of monitor: GeotriggerMonitor) -> [Fix] {
    guard let feed = monitor.feed, let source = locationSources[LocationSourceID(feed.string)], source.status == .started else { return [] }
    return source.location.flatMap { fix(of: source, at: $0) }.map { [$0] } ?? []
  }

  /// The fix in a location; nil if that is the last known one, or has no position.
  func fix(of source: LocationSource, at location: Location) -> Fix? {
    guard let position = location.position, !location.isLastKnown else { return nil }
    return Fix(
      object: Text(source.id.rawValue), time: location.timestamp ?? clock.now, position: position,
      accuracy: location.horizontalAccuracy, speed: location.speed, course: location.course)
  }

  func fenceSet(of monitor: GeotriggerMonitor) throws(Failure) -> FenceSet {
    func missing(_ member: String) -> Failure {
      Failure(
        kind: "unknownId", message: "The monitor has no \(member), or what it names does not exist.",
        path: "/geotriggers/\(monitor.id)/\(member)", expected: "an object")
    }
    guard let feed = monitor.feed, find(feed.string)?.isFeed == true else { throw missing("feed") }
    guard let object = monitor.fences.flatMap({ find($0.string) }), object.holdsFences else { throw missing("fences") }
    let layer = object.collection == .layers ? layers[LayerID(object.id)].map(live) : nil
    let entities = object.collection == .entitySources ? EntitySourceID(object.id) : layer?.features?.entitySource
    let reference =
      layer?.reference ?? overlays[OverlayID(object.id)]?.reference ?? entities.flatMap { entitySources[$0] }?.schema.reference ?? .wgs84
    let info = try? transformer.describe(reference)
    var filter: BoundSource?
    if let clause = monitor.whereClause {
      do throws(ExpressionError) {
        let schema = fences(of: object).0?.schema ?? FeatureStore(fields: layer?.schema?.fields ?? []).schema
        let placed = try placed(clause, in: reference, nil)
        if layer != nil { _ = try placed.compiled(for: schema, as: .condition) }
        filter = BoundSource(.expression(placed), schema: schema)
      } catch {
        throw Failure(
          kind: error.kind == .unknownProperty ? "unknownField" : "expressionType",
          message: "whereClause does not suit the layer: expected \(error.expected), found \(error.found).",
          path: "/geotriggers/\(monitor.id)/whereClause", expected: error.expected)
      }
    }
    return FenceSet(
      object: object, reference: reference, wrap: info.flatMap { WorldWrap($0, transformer) }, filter: filter,
      conditions: layer?.features?.conditions, isOwn: entities.map { $0.rawValue == feed.string } ?? false)
  }

  mutating func updateWarnings(of id: GeotriggerMonitorID) {
    guard let monitor = geotriggers[id], monitor.isRunning else { return }
    var warnings: [GeotriggerWarning] = []
    let feed = monitor.feed?.string ?? ""
    let isStarted =
      locationSources[LocationSourceID(feed)]?.status == .started
      || entitySources.read(EntitySourceID(feed)) { $0.pointee.status == .connected } == true
    if !isStarted { warnings.append(.feedNotStarted) }
    let store = monitor.fences.flatMap { find($0.string) }.flatMap { fences(of: $0).0 }
    if store?.isEmpty ?? true { warnings.append(.noFences) }
    if let store, store.index.count < store.count { warnings.append(.badFences) }
    changeKnown(id) { $0.live.warnings = warnings }
  }
}

extension ObjectReference {
  var isFeed: Bool { collection == .locationSources || collection == .entitySources }
  var holdsFences: Bool { collection == .overlays || collection == .layers || collection == .entitySources }
}
