// Judges fixes against fences: which are entered, which are left, and what is reported of it.

import Expressions
import FeatureStore
import Geometry
import Proximity
import SpatialIndex

/// One batch of judgements for one monitor.
struct FenceJudge {
  let monitor: GeotriggerMonitor
  let store: FeatureStore
  let features: LayerFeatures?
  let fences: FenceSet
  let (transformer, geodesy): (any CoordinateTransformer, any Geodesy)
  let now: Instant
  /// The feed's observations, if anything asks for their attributes.
  let observations: FeatureStore?
  var watch: Watch
  /// The objects before they changed.
  private(set) var before: [(number: Int, before: TrackedObject?)] = []
  /// The estimated effort so far, in nanoseconds.
  var effort = 0

  init(
    _ monitor: GeotriggerMonitor, _ watch: Watch, _ fences: FenceSet, _ store: FeatureStore, _ features: LayerFeatures?,
    _ observations: FeatureStore?, _ transformer: any CoordinateTransformer, _ geodesy: any Geodesy, now: Instant
  ) {
    (self.monitor, self.store, self.features, self.fences, self.now) = (monitor, store, features, fences, now)
    (self.observations, self.transformer, self.geodesy, self.watch) = (observations, transformer, geodesy, watch)
  }

  // MARK: Fixes

  /// Judges a new fix.
  mutating func judge(_ fix: Fix, _ cause: GeotriggerEvent.Cause = .moved) {
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
    change(fix.number, from: old, to: fix) { judge, object in
      if judge.monitor.reportsCrossings, let old { judge.reportCrossings(from: old.fix, &object) }
      judge.move(&object, from: old?.fix.position, cause)
      judge.forecast(&object, cause)
    }
  }

  /// Judges the last fix of an object again.
  mutating func judgeAgain(_ number: Int, _ cause: GeotriggerEvent.Cause) {
    guard let old = watch.objects[number] else { return }
    change(number, from: old, to: old.fix) { judge, object in
      judge.move(&object, from: nil, cause)
      judge.forecast(&object, cause)
    }
  }

  private mutating func change(
    _ number: Int, from old: TrackedObject?, to fix: Fix, _ body: (inout FenceJudge, inout TrackedObject) -> Void
  ) {
    before.append((number, old))
    var object = old ?? TrackedObject(fix: fix)
    object.fix = fix
    body(&self, &object)
    watch.set(object, at: number, from: old)
  }

  /// Enters fences whose dwell time has passed.
  mutating func endDwelling(until time: Instant) {
    let due = watch.dwelling.prefix { $0.due <= time }
    watch.dwelling.removeFirst(due.count)
    for next in due {
      guard let old = watch.objects[next.object],
        let index = old.inside.firstIndex(where: { $0.fence == next.fence && $0.due == next.due })
      else { continue }
      change(next.object, from: old, to: old.fix) { judge, object in
        object.inside[index].due = nil
        object.inside[index].since = next.due
        judge.watch.insideCount += 1
        judge.enter(next.fence, &object, .dwelled, at: next.due)
      }
    }
  }

  /// Ends all memberships of an object and forgets it.
  mutating func forget(_ number: Int, _ cause: GeotriggerEvent.Cause) {
    guard let object = watch.objects[number] else { return }
    before.append((number, object))
    for membership in object.inside { leave(membership, object.fix, from: nil, cause) }
    for fence in object.forecasts { report(.withdrawn, cause, object.fix, fence, at: now) }
    watch.set(nil, at: number, from: object)
  }

  // MARK: Transitions

  private mutating func move(_ object: inout TrackedObject, from previous: Point?, _ cause: GeotriggerEvent.Cause) {
    effort += 500 + 10 * object.inside.count
    var (entered, held) = ([UInt32](), [Int]())
    let inside = FenceIDs(object.inside)
    forEachFence(near: object.fix) { judge, row, fence in
      let isInside = inside.contains(fence)
      guard judge.admits(row), judge.holds(row, fence, object.fix, staying: isInside) else { return }
      if isInside { held.append(fence) } else { entered.append(row) }
    }
    // Where a place has two longitudes, a fence may be found by both.
    (held, entered) = (Array(Set(held)), Array(Set(entered)))
    guard held.count < object.inside.count || !entered.isEmpty else { return }
    let kept = FenceIDs(held)
    let isByFix = cause == .moved
    if isByFix, let condition = monitor.condition, !isTrue(condition, object.fix) { return }
    let left = object.inside.filter { !kept.contains($0.fence) }
    if !left.isEmpty { object.inside.removeAll { !kept.contains($0.fence) } }
    for membership in left { leave(membership, object.fix, from: previous, ending(membership.fence, cause)) }
    for row in entered.sorted() {
      let fence = store.id(ofPresent: row)
      let time = isByFix ? object.fix.time : now
      let due = monitor.minimumDwell > 0 ? now.advanced(by: monitor.minimumDwell) : nil
      object.inside.append(Membership(fence: fence, since: time, due: due))
      if let due {
        watch.await(due, object.fix.number, fence)
      } else {
        watch.insideCount += 1
        enter(fence, &object, cause, at: time, from: previous)
      }
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

  // MARK: Fences

  /// The radius of the circle that is compared with fences.
  func radius(_ fix: Fix) -> Double { monitor.accuracyMode == .geometryWithAccuracy ? max(fix.accuracy, 0) : 0 }

  /// Whether a feature is a fence, by the filters.
  func admits(_ row: UInt32) -> Bool {
    if let filter = fences.filter, !(store[row].map(filter.isTrue) ?? false) { return false }
    guard let features else { return true }
    guard let conditions = fences.conditions else { return !features.shown([row]).isEmpty }
    return store[row].map { row in conditions.allSatisfy { $0.isTrue(for: row) } } ?? false
  }

  /// Whether a fence holds a fix by the monitor's relation.
  ///
  /// - Parameter staying: whether the object is inside already.
  private mutating func holds(_ row: UInt32, _ fence: Int, _ fix: Fix, staying: Bool) -> Bool {
    let isStrict =
      switch monitor.relation {
      case .enterIntersectsExitDoesNotIntersect: false
      case .enterContainsExitDoesNotContain: true
      case .enterContainsExitDoesNotIntersect: !staying
      }
    let radius = radius(fix)
    let reach = isStrict ? monitor.buffer - radius : monitor.buffer + radius
    if let point = fences.reference == .wgs84 ? store[row]?.point : nil, monitor.buffer > 0 || radius > 0 {
      effort += 200
      return FenceShape.isWithin(reach, fix.position, Point(x: point.x, y: point.y), geodesy)
    }
    guard let shape = shape(row, fence) else { return false }
    guard monitor.buffer > 0 || radius > 0 else {
      effort += 200
      return places(of: fix.position).contains { shape.holds($0, strictly: isStrict) }
    }
    effort += 1000
    return shape.isWithin(reach, of: fix.position, geodesy)
  }

  mutating func shape(_ row: UInt32, _ fence: Int) -> FenceShape? {
    if let known = watch.fences?.shapes[fence] { return known }
    guard let geometry = store[row]?.geometry else { return nil }
    let projector = fences.reference == .wgs84 ? nil : try? GeometryProjector(from: fences.reference, to: .wgs84, transformer)
    let needsDistances =
      monitor.buffer > 0 || monitor.accuracyMode == .geometryWithAccuracy || monitor.reportsCrossings || monitor.forecastHorizon > 0
    let place: (Geometry) throws -> Geometry = { try projector?.project($0) {} ?? $0 }
    let shape = FenceShape(geometry, needsDistances ? place : nil)
    if watch.fences?.shapes.count ?? 0 >= FenceSet.shapeLimit { watch.fences?.shapes = [:] }
    watch.fences?.shapes[fence] = shape
    return shape
  }

  /// A position in the coordinates of the fences, with its copies whole turns away that fences may have.
  private func places(of position: Point) -> [SIMD2<Double>] {
    guard let extent = store.extent else { return [] }
    var place = position
    if fences.reference != .wgs84 {
      guard let moved = try? transformer.transform(position, from: .wgs84, to: fences.reference) else { return [] }
      place = moved
    }
    guard let width = fences.wrap?.width else { return [SIMD2(place.x, place.y)] }
    return [0, -width, width].compactMap { turn in
      place.x + turn >= extent.xMin && place.x + turn <= extent.xMax ? SIMD2(place.x + turn, place.y) : nil
    }
  }

  /// Calls `body` with each feature that may hold a fix, in no order.
  private mutating func forEachFence(near fix: Fix, _ body: (inout FenceJudge, _ row: UInt32, _ fence: Int) -> Void) {
    let reach = monitor.buffer + radius(fix)
    if reach > 0 {
      for row in rows(in: [FenceShape.box(around: fix.position, within: reach)]) {
        let fence = store.id(ofPresent: row)
        if !fences.isOwn || fence != fix.number { body(&self, row, fence) }
      }
      return
    }
    for place in places(of: fix.position) {
      var found = FoundRows()
      store.index.search(Envelope(xMin: place.x, yMin: place.y, xMax: place.x, yMax: place.y), into: &found)
      guard found.count > 0 else { continue }
      let rows = found.withRows { Array($0) }
      for row in rows {
        let fence = store.id(ofPresent: row)
        if !fences.isOwn || fence != fix.number { body(&self, row, fence) }
      }
    }
  }

  /// The features whose box meets boxes in longitude and latitude, each once.
  func rows(in boxes: [Envelope]) -> [UInt32] {
    guard let extent = store.extent else { return [] }
    let searched = boxes.flatMap { box -> [Envelope] in
      guard fences.reference != .wgs84 else {
        return [0, -360, 360].map { Envelope(xMin: box.xMin + $0, yMin: box.yMin, xMax: box.xMax + $0, yMax: box.yMax) }
          .filter(extent.intersects)
      }
      return transformer.boxes(holding: box, of: .wgs84, in: fences.reference, within: extent) ?? [extent]
    }
    return store.rows(in: searched)
  }
}
