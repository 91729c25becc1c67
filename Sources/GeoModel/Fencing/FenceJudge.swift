// Judges fixes against fences: which are entered, which are left, and what is reported of it.

import Expressions
import FeatureStore
import Geometry
import Proximity

/// One batch of judgements for one monitor.
struct FenceJudge {
  let monitor: GeotriggerMonitor
  let store: FeatureStore
  let features: LayerFeatures?
  let fences: FenceSet
  let (transformer, geodesy): (any CoordinateTransformer, any Geodesy)
  private(set) var now: Instant
  /// The feed's observations, if anything asks for their attributes.
  let observations: FeatureStore?
  var watch: Watch
  /// The objects before they changed.
  private(set) var before: [(number: Int, before: TrackedObject?)] = []
  /// The estimated effort so far, in nanoseconds, and that after which the rest waits.
  var effort: Int
  var limit = 5_000_000

  init(
    _ monitor: GeotriggerMonitor, _ watch: Watch, _ fences: FenceSet, _ store: FeatureStore, _ features: LayerFeatures?,
    _ observations: FeatureStore?, _ transformer: any CoordinateTransformer, _ geodesy: any Geodesy, now: Instant, effort: Int
  ) {
    (self.monitor, self.store, self.features, self.fences, self.now) = (monitor, store, features, fences, now)
    (self.observations, self.transformer, self.geodesy, self.watch) = (observations, transformer, geodesy, watch)
    self.effort = effort
  }

  // MARK: Fixes

  /// Whether the next object can be judged now.
  var isFree: Bool { !watch.isBehind && effort < limit }

  /// Judges what a feed says of an object, or keeps it behind what waits.
  mutating func take(_ next: FeedEntry) {
    if isFree { judge(next) } else { watch.waiting.append(next) }
  }

  /// Judges what waits.
  mutating func proceed() {
    if var judgement = watch.current {
      watch.current = nil
      run(&judgement)
    }
    while watch.current == nil, effort < limit, let next = watch.waiting.popFirst() { judge(next) }
  }

  private mutating func judge(_ next: FeedEntry) {
    switch next {
    case .fix(let fix, let cause): judge(fix, cause)
    case .purged(let number): forget(number, .objectPurged)
    }
  }

  private mutating func judge(_ fix: Fix, _ cause: GeotriggerEvent.Cause) {
    guard fix.position.x.isFinite, abs(fix.position.y) <= 90 else { return }
    if let limit = monitor.maxAccuracy, fix.accuracy > limit {
      watch.inaccurateCount += 1
      return
    }
    let old = watch.objects[fix.number]
    if let old, fix.time < old.fix.time {
      watch.lateCount += 1
      return
    }
    var judgement = Judgement(of: fix, known: old, previous: old?.fix, cause, now: now)
    run(&judgement)
  }

  /// Judges the last fix of an object again.
  mutating func judgeAgain(_ number: Int, _ cause: GeotriggerEvent.Cause) {
    guard let old = watch.objects[number] else { return }
    var judgement = Judgement(of: old.fix, known: old, previous: nil, cause, now: now)
    run(&judgement)
  }

  /// Ends all memberships of an object and forgets it.
  private mutating func forget(_ number: Int, _ cause: GeotriggerEvent.Cause) {
    guard let old = watch.objects[number] else { return }
    var judgement = Judgement(of: old.fix, known: old, previous: nil, cause, now: now)
    judgement.isForgotten = true
    run(&judgement)
  }

  /// Ends all memberships of all objects. Of what waits only reports that are due are made.
  mutating func forgetAll(_ cause: GeotriggerEvent.Cause) {
    limit = .max
    watch.waiting = []
    if var judgement = watch.current {
      watch.current = nil
      while let step = judgement.steps.popLast() { take(step, &judgement) }
      watch.replace(judgement.object, at: judgement.object.fix.number)
    }
    for number in watch.objects.numbers(after: .min, limit: .max) { forget(number, cause) }
  }

  /// Enters fences whose dwell time has passed.
  mutating func endDwelling() {
    let time = now
    var count = 0
    defer { watch.dwelling.removeFirst(count) }
    while isFree, count < watch.dwelling.count, watch.dwelling[count].due <= time {
      let next = watch.dwelling[count]
      count += 1
      guard let old = watch.objects[next.object],
        let index = old.inside.firstIndex(where: { $0.fence == next.fence && $0.due == next.due })
      else { continue }
      effort += 500 + 4 * old.inside.count
      before.append((next.object, old))
      var object = old
      object.inside[index].due = nil
      object.inside[index].since = next.due
      watch.insideCount += 1
      enter(next.fence, &object, .dwelled, at: next.due)
      watch.replace(object, at: next.object)
    }
  }

  // MARK: Stages

  /// Goes on with a judgement; what takes too long waits.
  private mutating func run(_ judgement: inout Judgement) {
    let number = judgement.object.fix.number
    before.append((number, watch.objects[number]))
    let present = now
    now = judgement.now
    defer { now = present }
    let isDone = proceed(&judgement)
    watch.replace(judgement.isForgotten && isDone ? nil : judgement.object, at: number)
    guard !isDone else { return }
    judgement.pause(store)
    watch.current = judgement
  }

  /// Returns whether the judgement is done.
  private mutating func proceed(_ judgement: inout Judgement) -> Bool {
    while true {
      if judgement.isComparing {
        while let row = judgement.next(in: store) {
          compare(row, &judgement)
          if effort >= limit { return false }
        }
        conclude(&judgement)
      }
      while let step = judgement.steps.popLast() {
        // Also that of telling it to subscribers, who are to miss none.
        effort += 10_000
        take(step, &judgement)
        if effort >= limit { return false }
      }
      switch judgement.stage {
      case nil where !judgement.isForgotten && monitor.reportsCrossings && judgement.previous != nil: beginCrossings(&judgement)
      case nil, .crossings: beginMemberships(&judgement)
      case .memberships where monitor.forecastHorizon > 0 || !judgement.object.forecasts.isEmpty: beginForecasts(&judgement)
      case .memberships, .forecasts: return true
      }
    }
  }

  private mutating func compare(_ row: UInt32, _ judgement: inout Judgement) {
    let fence = store.id(ofPresent: row)
    guard !fences.isOwn || fence != judgement.object.fix.number else { return }
    guard judgement.stage == .memberships else { return compare(row, fence, onWayOf: &judgement) }
    let isInside = judgement.inside.contains(fence)
    guard admits(row), holds(row, fence, judgement.object.fix, staying: isInside) else { return }
    judgement.found.append((0, isInside, fence))
  }

  private mutating func conclude(_ judgement: inout Judgement) {
    judgement.isComparing = false
    let found = judgement.found
    judgement.found = []
    switch judgement.stage {
    case .crossings: concludeCrossings(found, &judgement)
    case .forecasts: concludeForecasts(found, &judgement)
    case nil, .memberships: concludeMemberships(found, &judgement)
    }
  }

  private mutating func take(_ step: Judgement.Step, _ judgement: inout Judgement) {
    switch judgement.stage {
    case .crossings: cross(step, &judgement)
    case .forecasts: forecast(step, &judgement)
    case nil, .memberships: move(step, &judgement)
    }
  }

  // MARK: Memberships

  private mutating func beginMemberships(_ judgement: inout Judgement) {
    let count = judgement.object.inside.count
    effort += 500 + 10 * count
    judgement.begin(.memberships, judgement.isForgotten ? [] : rows(near: judgement.object.fix))
  }

  private mutating func concludeMemberships(_ found: [Judgement.Finding], _ judgement: inout Judgement) {
    let inside = judgement.inside.ids
    var (held, entered) = ([Int](), [Int]())
    for each in found { if each.isEnd { held.append(each.fence) } else { entered.append(each.fence) } }
    guard held.count < inside.count || !entered.isEmpty else { return }
    if judgement.isByFix, let condition = monitor.condition, !isTrue(condition, judgement.object.fix) { return }
    entered.sort(by: >)
    for fence in entered { judgement.steps.append(Judgement.Step(.enter, fence)) }
    let kept = FenceIDs(held)
    guard held.count < inside.count else { return }
    for fence in inside.reversed() where !kept.contains(fence) { judgement.steps.append(Judgement.Step(.exit, fence)) }
  }

  private mutating func move(_ step: Judgement.Step, _ judgement: inout Judgement) {
    let (fence, cause, fix) = (step.fence, judgement.cause, judgement.object.fix)
    // A forgotten object, or one that is judged again, has not come from anywhere.
    let previous = judgement.previous?.position
    if step.kind == .exit {
      effort += 4 * judgement.object.inside.count
      guard let index = judgement.object.inside.firstIndex(where: { $0.fence == fence }) else { return }
      watch.holders[fence]?.remove(fix.number)
      if watch.holders[fence]?.isEmpty == true { watch.holders[fence] = nil }
      leave(judgement.object.inside.remove(at: index), fix, from: previous, judgement.isForgotten ? cause : ending(fence, cause))
      return
    }
    // It may have been removed while the judgement waited.
    guard store.row(of: fence) != nil else { return }
    let time = judgement.isByFix ? fix.time : now
    let due = monitor.minimumDwell > 0 ? now.advanced(by: monitor.minimumDwell) : nil
    judgement.object.inside.append(Membership(fence: fence, since: time, due: due))
    watch.holders[fence, default: []].insert(fix.number)
    if let due {
      watch.await(due, fix.number, fence)
    } else {
      watch.insideCount += 1
      enter(fence, &judgement.object, cause, at: time, from: previous)
    }
  }

  /// Reports that an object has entered, and what sequence this completes.
  mutating func enter(
    _ fence: Int, _ object: inout TrackedObject, _ cause: GeotriggerEvent.Cause, at time: Instant, position: Point? = nil,
    from previous: Point? = nil
  ) {
    report(.enter, cause, object.fix, fence, at: time, position: position, from: previous)
    guard let sequence = monitor.sequence, let row = store.feature(id: fence) else { return }
    if object.runs.count != sequence.steps.count - 1 { object.runs = Array(repeating: nil, count: sequence.steps.count - 1) }
    for (step, condition) in sequence.steps.enumerated().reversed() {
      let start = step == 0 ? time : object.runs[step - 1]
      guard let start, time.seconds(since: start) <= sequence.within, isTrue(condition, row) else { continue }
      guard step == sequence.steps.count - 1 else {
        object.runs[step] = start
        continue
      }
      object.runs = []
      report(.sequence, .completed, object.fix, fence, at: time, position: position, from: previous)
      return
    }
  }

  private mutating func leave(
    _ membership: Membership, _ fix: Fix, from previous: Point?, _ cause: GeotriggerEvent.Cause
  ) {
    guard membership.due == nil else { return }
    watch.insideCount -= 1
    report(.exit, cause, fix, membership.fence, at: cause == .moved ? fix.time : now, from: previous)
  }

  /// The cause with which a membership or forecast ends: that of the judgement, unless the fence is gone.
  func ending(_ fence: Int, _ cause: GeotriggerEvent.Cause) -> GeotriggerEvent.Cause {
    guard let row = store.row(of: fence) else { return .fenceRemoved }
    return admits(row) ? cause : .filterChanged
  }

  mutating func report(
    _ kind: GeotriggerEvent.Kind, _ cause: GeotriggerEvent.Cause, _ fix: Fix, _ fence: Int, at time: Instant,
    position: Point? = nil, from previous: Point? = nil, expected: Instant? = nil
  ) {
    switch (monitor.rule, kind) {
    case (.enter, .exit), (.exit, .enter): return
    case (.enter, .enter), (.exit, .exit), (.enterOrExit, _), (_, .forecast), (_, .withdrawn), (_, .sequence): break
    }
    watch.eventCount += 1
    let message = monitor.message.map { value(of: $0.expression, fix, kind, fence) } ?? .null
    watch.append(
      GeotriggerEvent(
        number: watch.eventCount, kind: kind, cause: cause, object: fix.object, fence: fence, fences: fences.object.text,
        rule: monitor.rule, time: time, position: position ?? fix.position, previousPosition: previous, expectedTime: expected,
        message: message, actions: monitor.actions))
  }

  // MARK: Expressions

  private func isTrue(_ condition: Expression, _ row: FeatureRow) -> Bool {
    let value = try? condition.evaluated { name in store.schema.column(named: name).map(row.value) ?? .null }
    return value == .bool(true)
  }

  private func isTrue(_ condition: Expression, _ fix: Fix) -> Bool {
    let value = try? condition.evaluated { name in name.hasPrefix("feed.") ? self.value(String(name.dropFirst(5)), of: fix) : .null }
    return value == .bool(true)
  }

  private func value(
    of message: Expression, _ fix: Fix, _ kind: GeotriggerEvent.Kind, _ fence: Int
  ) -> AttributeValue {
    let row = store.feature(id: fence)
    let value = try? message.evaluated { name in
      if name == "type" { return .string(kind.rawValue) }
      if name == "fence.id" { return .integer(Int64(fence)) }
      if name.hasPrefix("feed.") { return self.value(String(name.dropFirst(5)), of: fix) }
      return store.schema.column(named: String(name.dropFirst(6))).flatMap { row?.value($0) } ?? .null
    }
    return value ?? .null
  }

  private func value(_ name: String, of fix: Fix) -> AttributeValue {
    let known: AttributeValue? =
      switch name {
      case "object": .string(fix.object.string)
      case "time": .string(fix.time.text)
      case "longitude": .double(fix.position.x)
      case "latitude": .double(fix.position.y)
      case "accuracy": .double(fix.accuracy)
      case "speed": fix.speed.map { .double($0) }
      case "course": fix.course.map { .double($0) }
      default: nil
      }
    if let known { return known }
    guard let observations, let id = fix.observation, let column = observations.schema.column(named: name) else { return .null }
    return observations.feature(id: id)?.value(column) ?? .null
  }
}
