// Geotriggers at work: started, stopped, given fixes, and judging again what edits concern.

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
      world.judge(monitor) { judge in for fix in ordered { judge.judge(fix) } }
    }
  }

  /// Ends the memberships of objects that a feed has no more.
  public mutating func forget(_ objects: [Int], of feed: ObjectReference) {
    guard !objects.isEmpty else { return }
    forEachMonitor(of: feed) { world, monitor in
      world.judge(monitor) { judge in for number in objects { judge.forget(number, .objectPurged) } }
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
  private mutating func judge(_ monitor: GeotriggerMonitor, _ body: (inout FenceJudge) -> Void) {
    guard let number = geotriggers.number(of: monitor.id), let watch = fencing.watches.removeValue(forKey: number) else { return }
    let counts = (watch.insideCount, watch.eventCount, watch.lateCount, watch.inaccurateCount)
    let set =
      watch.fences
      ?? FenceSet(object: ObjectReference(.overlays, ""), reference: .wgs84, wrap: nil, filter: nil, conditions: nil, isOwn: false)
    let (store, features) = fences(of: set.object)
    let asksForAttributes = monitor.condition != nil || monitor.message != nil
    let observations = asksForAttributes ? entityContents(of: monitor)?.observations : nil
    var judge = FenceJudge(
      monitor, consume watch, set, store ?? FeatureStore(), features, observations, transformer, geodesy, now: clock.now)
    body(&judge)
    fencing.watches[number] = judge.watch
    recordUndo(Judged(monitor: monitor.id, number: number, objects: judge.before, counts: counts, whole: nil))
    publish(judge.watch, of: monitor.id)
  }

  private mutating func publish(_ watch: Watch, of id: GeotriggerMonitorID) {
    guard let old = geotriggers[id]?.live else { return }
    var new = old
    (new.insideCount, new.eventCount) = (watch.insideCount, watch.eventCount)
    (new.lateCount, new.inaccurateCount) = (watch.lateCount, watch.inaccurateCount)
    new.awaitsTicks = watch.rejudging != nil || !watch.dwelling.isEmpty
    if new != old { changeKnown(id) { $0.live = new } }
  }

  /// The features of a layer or an overlay; nil if there is none, or it is not loaded.
  private func fences(of object: ObjectReference) -> (FeatureStore?, LayerFeatures?) {
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
      if entityContents(of: monitor) != nil {
        changeKnown(monitor.id) { $0.live.status = .starting }
        fencing.watches[number]?.rejudging = Rejudging(cause: .monitorStarted)
        fencing.watches[number]?.rejudging?.isStart = true
        judgeAgain(monitor)
      } else {
        judge(monitor) { [fixes = fixes(of: monitor)] judge in for fix in fixes { judge.judge(fix, .monitorStarted) } }
      }
    } catch {
      changeKnown(monitor.id) { $0.live.status = .failedToStart(error) }
    }
  }

  mutating func stop(_ monitor: GeotriggerMonitor) {
    if monitor.isRunning, let number = geotriggers.number(of: monitor.id) {
      keepForRollback(monitor.id, number)
      judge(monitor) { judge in
        for number in judge.watch.objects.numbers(after: .min, limit: .max) { judge.forget(number, .monitorStopped) }
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

  private mutating func keepForRollback(_ id: GeotriggerMonitorID, _ number: Int) {
    recordUndo(
      Judged(monitor: id, number: number, objects: [], counts: (0, 0, 0, 0), whole: fencing.watches[number] ?? Watch()))
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

  private func fenceSet(of monitor: GeotriggerMonitor) throws(Failure) -> FenceSet {
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

  private mutating func updateWarnings(of id: GeotriggerMonitorID) {
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

  // MARK: Edits

  /// Notes what a change concerns.
  mutating func notice(_ change: Change) {
    guard !fencing.watches.isEmpty else { return }
    switch change.event {
    case .graphics(let overlay, let edit):
      var ids: Set<Int> = []
      edit.ids.forEach { ids.insert($0) }
      notice(ObjectReference(.overlays, overlay.rawValue), Rejudging(fences: ids, cause: .fenceChanged))
    case .changed(let object, let property):
      switch (object.collection, property) {
      case (.layers, .loadStatus), (.layers, .featureCount), (.layers, .extent):
        // Of a layer over entities, what moves is noticed entity by entity.
        let isOfEntities = layers.read(LayerID(object.id)) { $0.pointee.features?.entitySource != nil } ?? false
        notice(object, isOfEntities ? nil : Rejudging(cause: .fenceChanged))
      case (.layers, .definitionExpression), (.layers, .time), (.layers, .isTimeFilterEnabled):
        notice(object, Rejudging(cause: .filterChanged))
      case (.locationSources, .status), (.entitySources, .status), (.entitySources, .entityCount): notice(object, nil)
      case (.geotriggers, _): noticeSetting(property, of: object)
      default: break
      }
    case .created(let object): if object.holdsFences { notice(object, Rejudging(cause: .fenceChanged)) }
    case .closed(let object):
      if object.collection == .geotriggers, let number = change.number { fencing.watches[number] = nil }
      if object.holdsFences { notice(object, Rejudging(cause: .fenceRemoved)) }
      if object.isFeed { notice(object, nil, isClosed: true) }
    case .entities, .replaced, .member, .clock, .history, .document: break
    }
  }

  /// Notes an edit of fences, or of the state of a feed.
  mutating func notice(_ object: ObjectReference, _ rejudging: Rejudging?, isClosed: Bool = false) {
    for id in referrers(to: object, of: GeotriggerMonitor.self) {
      guard let number = geotriggers.number(of: id), let monitor = geotriggers[id], monitor.isRunning else { continue }
      fencing.noticed[number, default: Fencing.Notice()].warnings = true
      if isClosed, monitor.feed == object.text { fencing.noticed[number]?.isFeedClosed = true }
      if let rejudging, monitor.fences == object.text { fencing.noticed[number]?.add(rejudging) }
    }
  }

  private mutating func noticeSetting(_ property: Property, of object: ObjectReference) {
    guard let number = geotriggers.number(of: GeotriggerMonitorID(object.id)), fencing.watches[number] != nil else { return }
    switch property {
    case .feed, .fences: fencing.noticed[number, default: Fencing.Notice()].isReset = true
    case .whereClause, .relation, .buffer, .accuracyMode, .reportCrossings, .condition, .maxAccuracy, .forecastHorizon:
      fencing.noticed[number, default: Fencing.Notice()].add(Rejudging(cause: .filterChanged))
    default: break
    }
  }

  /// Judges what the noticed changes concern, as much as may be done at once; the next ticks do the rest.
  mutating func judgeNoticed() {
    let noticed = fencing.noticed.sorted { $0.key < $1.key }
    fencing.noticed = [:]
    for (number, notice) in noticed {
      guard let monitor = geotriggers[number: number], monitor.isRunning else { continue }
      keepForRollback(monitor.id, number)
      if notice.isReset {
        stop(monitor)
        if let monitor = geotriggers[number: number] { start(monitor) }
        continue
      }
      if notice.warnings { updateWarnings(of: monitor.id) }
      if notice.isFeedClosed {
        judge(monitor) { judge in
          for number in judge.watch.objects.numbers(after: .min, limit: .max) { judge.forget(number, .objectPurged) }
        }
      }
      guard var rejudging = notice.rejudging else { continue }
      renewFences(of: monitor, number, rejudging.fences)
      rejudging.objects = rejudging.fences.flatMap { concerned(by: $0, monitor, number) }
      if fencing.watches[number]?.rejudging == nil {
        fencing.watches[number]?.rejudging = rejudging
      } else {
        fencing.watches[number]?.rejudging?.merge(rejudging)
      }
      judgeAgain(monitor)
    }
  }

  /// Makes what is known of fences anew, as attributes may have been added that the filter names.
  ///
  /// - Parameter ids: the edited ones; nil if all may be others, or are tested otherwise.
  private mutating func renewFences(of monitor: GeotriggerMonitor, _ number: Int, _ ids: Set<Int>?) {
    var shapes = fencing.watches[number]?.fences?.shapes ?? [:]
    fencing.watches[number]?.fences?.shapes = [:]
    if let new = try? fenceSet(of: monitor) { fencing.watches[number]?.fences = new }
    guard let ids else { return }
    for id in ids { shapes[id] = nil }
    fencing.watches[number]?.fences?.shapes = shapes
  }

  /// Judges objects again, or a feed's for the first time, for about 5 ms.
  private mutating func judgeAgain(_ monitor: GeotriggerMonitor) {
    let feed = entityContents(of: monitor)
    let ground = monitor.feed.flatMap { entitySources[EntitySourceID($0.string)] }.map {
      Ground($0.schema.reference, transformer, geodesy)
    }
    let schema = monitor.feed.flatMap { entitySources[EntitySourceID($0.string)]?.schema }
    judge(monitor) { judge in
      guard var work = judge.watch.rejudging else { return }
      judge.watch.rejudging = nil
      while judge.effort < 5_000_000 {
        if let number = work.objects?.popLast() {
          judge.judgeAgain(number, work.cause)
          continue
        }
        guard work.objects == nil else { return }
        let numbers =
          work.isStart ? feed?.numbers(after: work.last, limit: 64) ?? [] : judge.watch.objects.numbers(after: work.last, limit: 64)
        guard let last = numbers.last else { return }
        for number in numbers {
          if !work.isStart {
            judge.judgeAgain(number, work.cause)
          } else if let fix = ground.flatMap({ ground in schema.flatMap { feed?.fix(of: number, $0, ground) } }) {
            judge.judge(fix, work.cause)
          }
        }
        work.last = last
      }
      judge.watch.rejudging = work
    }
    guard geotriggers[monitor.id]?.live.status == .starting, geotriggers[monitor.id]?.live.awaitsTicks == false || !isStarting(monitor) else { return }
    changeKnown(monitor.id) { $0.live.status = .started }
    for process in fencing.starting.removeValue(forKey: monitor.id) ?? [] { end(process, .completed) }
  }

  private func isStarting(_ monitor: GeotriggerMonitor) -> Bool {
    geotriggers.number(of: monitor.id).flatMap { fencing.watches[$0]?.rejudging?.isStart } ?? false
  }

  /// The objects that an edit of fences may concern: those inside, and those near; nil for all.
  private func concerned(by fences: Set<Int>, _ monitor: GeotriggerMonitor, _ number: Int) -> [Int]? {
    guard fences.count <= 1000, monitor.accuracyMode == .geometry, monitor.forecastHorizon == 0,
      let watch = fencing.watches[number], let set = watch.fences, set.reference == .wgs84,
      let objects = entityContents(of: monitor)?.entities, let extent = objects.extent,
      entitySources[EntitySourceID(monitor.feed?.string ?? "")]?.schema.reference == .wgs84
    else { return nil }
    let store = self.fences(of: set.object).0
    var concerned: Set<Int> = []
    for id in fences {
      concerned.formUnion(watch.holders[id] ?? [])
      guard let box = store?.feature(id: id)?.envelope.map({ FenceShape.box(around: $0, within: monitor.buffer) }) else { continue }
      let boxes = [-360, 0, 360].map { Envelope(xMin: box.xMin + $0, yMin: box.yMin, xMax: box.xMax + $0, yMax: box.yMax) }
      for row in objects.rows(in: boxes.filter(extent.intersects)) { concerned.insert(objects.id(ofPresent: row)) }
    }
    return concerned.sorted(by: >)
  }

  /// What a feed of entities has; nil for another feed.
  private func entityContents(of monitor: GeotriggerMonitor) -> EntityContents? {
    monitor.feed.flatMap { feed in entitySources.read(EntitySourceID(feed.string)) { $0.pointee.contents } }
  }

  /// Continues what waits for time: judging again, and memberships that begin after a while.
  mutating func advanceGeotrigger(_ id: GeotriggerMonitorID) {
    guard let monitor = geotriggers[id] else { return }
    let now = clock.now
    judge(monitor) { $0.endDwelling(until: now) }
    judgeAgain(monitor)
  }
}

extension ObjectReference {
  fileprivate var isFeed: Bool { collection == .locationSources || collection == .entitySources }
  fileprivate var holdsFences: Bool { collection == .overlays || collection == .layers || collection == .entitySources }
}
