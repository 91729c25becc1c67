// Edits of fences, settings and feeds: noticed in change records, and judged again for the objects that they concern.

import FeatureStore
import Geometry
import Proximity

extension World {
  /// Of more edited fences each is not looked at alone.
  private static let manyFences = 1000

  /// Notes what a change concerns.
  mutating func notice(_ change: Change) {
    guard !fencing.watches.isEmpty else { return }
    switch change.event {
    case .graphics(let overlay, let edit):
      let object = ObjectReference(.overlays, overlay.rawValue)
      guard isWatched(object) else { return }
      var ids: Set<Int> = []
      if edit.ids.count <= Self.manyFences { edit.ids.forEach { ids.insert($0) } }
      notice(object, Rejudging(fences: edit.ids.count <= Self.manyFences ? ids : nil, cause: .fenceChanged))
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
      if object.collection == .geotriggers, let number = change.number {
        fencing.watches[number] = nil
        for process in fencing.starting.removeValue(forKey: GeotriggerMonitorID(object.id)) ?? [] { interrupt(process) }
      }
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
      if notice.isReset {
        stop(monitor)
        if let monitor = geotriggers[number: number] { start(monitor) }
        continue
      }
      if notice.warnings { updateWarnings(of: monitor.id) }
      if notice.isFeedClosed {
        keepForRollback(monitor.id, number)
        judge(monitor) { $0.forgetAll(.objectPurged) }
      }
      guard var rejudging = notice.rejudging else { continue }
      renewFences(of: monitor, number, rejudging.fences)
      rejudging.objects = rejudging.fences.flatMap { concerned(by: $0, monitor, number) }
      // Its judgement may have compared what has changed.
      if let current = fencing.watches[number]?.current { rejudging.objects?.append(current.object.fix.number) }
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
    recordUndo(
      FencesRenewed(
        monitor: monitor.id, number: number, fences: fencing.watches[number]?.fences, rejudging: fencing.watches[number]?.rejudging))
    if let new = try? fenceSet(of: monitor) { fencing.watches[number]?.fences = new }
    guard let ids else { return }
    for id in ids { shapes[id] = nil }
    fencing.watches[number]?.fences?.shapes = shapes
  }

  /// Judges objects again, or a feed's for the first time, behind what waits and as many as may be judged at once.
  mutating func judgeAgain(_ monitor: GeotriggerMonitor) {
    let feed = entityFeed(of: monitor)
    judge(monitor) { judge in
      guard var work = judge.watch.rejudging else { return }
      judge.watch.rejudging = nil
      while judge.isFree {
        if let number = work.objects?.popLast() {
          judge.judgeAgain(number, work.cause)
          continue
        }
        guard work.objects == nil else { return }
        let numbers =
          work.isStart ? feed?.numbers(after: work.last, limit: 64) ?? [] : judge.watch.objects.numbers(after: work.last, limit: 64)
        guard !numbers.isEmpty else { return }
        for number in numbers where judge.isFree {
          work.last = number
          if !work.isStart {
            judge.judgeAgain(number, work.cause)
          } else if let fix = feed?.fix(of: number) {
            judge.take(.fix(fix, work.cause))
          }
        }
      }
      judge.watch.rejudging = work
    }
    guard geotriggers[monitor.id]?.live.status == .starting, !isStarting(monitor) else { return }
    changeKnown(monitor.id) { $0.live.status = .started }
    for process in fencing.starting.removeValue(forKey: monitor.id) ?? [] { end(process, .completed) }
  }

  private func isStarting(_ monitor: GeotriggerMonitor) -> Bool {
    geotriggers.number(of: monitor.id).flatMap { fencing.watches[$0]?.rejudging?.isStart } ?? false
  }

  /// The objects that an edit of fences may concern: those inside, and those near; nil for all.
  private func concerned(by fences: Set<Int>, _ monitor: GeotriggerMonitor, _ number: Int) -> [Int]? {
    guard fences.count <= Self.manyFences, monitor.accuracyMode == .geometry, monitor.forecastHorizon == 0,
      let watch = fencing.watches[number], let set = watch.fences, set.reference == .wgs84,
      let feed = entityFeed(of: monitor), feed.schema.reference == .wgs84, let extent = feed.contents.entities.extent
    else { return nil }
    let objects = feed.contents.entities
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

  /// A feed of entities; nil for another feed.
  func entityFeed(of monitor: GeotriggerMonitor) -> EntityFeed? {
    monitor.feed.flatMap { entityFeed(EntitySourceID($0.string)) }
  }

  /// Whether judgements wait that are due.
  public var isJudging: Bool {
    moving(GeotriggerMonitor.self).contains { id in
      guard let watch = geotriggers.number(of: id).flatMap({ fencing.watches[$0] }) else { return false }
      return watch.isBehind || watch.rejudging != nil || watch.dwelling.first.map { $0.due <= clock.now } ?? false
    }
  }

  /// Whether so much waits that no more should come.
  public var isFarBehind: Bool { fencing.watches.values.contains { $0.waiting.count > 100_000 } }

  /// Judges a part of what waits.
  mutating func continueJudging() {
    for id in moving(GeotriggerMonitor.self) { advanceGeotrigger(id) }
  }

  /// Continues what waits, in order: fixes, memberships that begin after a while, judging again.
  mutating func advanceGeotrigger(_ id: GeotriggerMonitorID) {
    guard let monitor = geotriggers[id] else { return }
    judge(monitor) { judge in
      judge.proceed()
      judge.endDwelling()
    }
    judgeAgain(monitor)
  }
}
