// `state/observe`: paths of the tree, followed by JSON Patch deltas. Here: what is noted; what is told is in the file beside.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Query

final class StateSubscriber: Subscriber {
  enum Operation: String { case add, replace, remove }

  let id: String
  let patterns: [StatePattern]
  let exceptOrigin: String?
  let maxRate: Double?
  let defersEdits: Bool
  let scope: ObjectReference? = nil

  /// The revision last told.
  var base: Int
  var pending = PendingPaths()
  var graphics: [OverlayID: PendingGraphics] = [:]
  /// Patterns that reach into a value that changed.
  var touchedPatterns: Set<Int> = []
  /// What was last told of places inside values, by their pointers.
  var insideValues: [Text: String] = [:]
  /// What has to be removed when an object goes that only parts of are followed; see ``removal(_:_:)``.
  var told: Set<StatePath> = []
  var origins: [Origin] = []
  var isLost = false
  /// What is on its way; what is noted meanwhile comes after it.
  var telling: (any Delivery)?
  /// The world as it was told, where only what differs from it is to be told.
  var before: World?
  /// With more noted while something long is on its way, a snapshot is shorter.
  private static let mostNoted = 100_000

  init(
    id: String, patterns: [StatePattern], exceptOrigin: String?, maxRate: Double?, defersEdits: Bool, base: Int
  ) {
    self.id = id
    self.patterns = patterns
    self.exceptOrigin = exceptOrigin
    self.maxRate = maxRate
    self.defersEdits = defersEdits
    self.base = base
  }

  var interests: [StatePattern] { patterns }
  var isDirty: Bool { isLost || !pending.isEmpty || !graphics.isEmpty || !touchedPatterns.isEmpty }

  func compare(with world: World) {
    // What waits already was told of an older world.
    if !isDirty { before = world }
  }

  func stopComparing() {
    if !isDirty { before = nil }
  }

  // MARK: Noting

  func note(_ change: Change, _ place: StatePath, _ list: SentList?, _ world: World) -> Int {
    if isLost { return 1 }
    if case .client(let name?) = change.origin, Text(name) == Text(exceptOrigin) {
      assumeKnown(change.event, place, world)
      return 0
    }
    var superfluous = 0
    switch change.event {
    case .created: superfluous += note(place, .add, list)
    case .closed(let object):
      superfluous += note(place, .remove, list)
      if object.collection == .overlays { graphics[ID(object.id)] = nil }
    case .changed, .member, .clock, .history, .document: superfluous += note(place, .replace, list)
    case .graphics(let overlay, let edit): superfluous += note(edit, of: overlay, place)
    }
    if isDirty, !origins.contains(change.origin) { origins.append(change.origin) }
    return superfluous
  }

  private func note(_ place: StatePath, _ operation: Operation, _ list: SentList?) -> Int {
    if patterns.contains(where: { $0.covers(place) }) { return pend(place, operation, list) }
    let below = patterns.enumerated().filter { $0.element.isBelow(place) }
    var superfluous = 0
    if operation == .remove, !below.isEmpty {
      // What went, came back and goes again between two deltas is still to be removed, though the coming back is forgotten.
      var known: [StatePath] = []
      for gone in below.map({ removal($0.element, place) }) where !known.contains(gone) {
        let wasTold = told.remove(gone) != nil
        if wasTold || pending[gone] == .remove || pending[gone] == .replace { known.append(gone) }
      }
      if pending[place] == .add { _ = pend(place, .remove, list) }
      forgetValues(below: place)
      for gone in known { superfluous += pend(gone, .remove, list) }
      return superfluous
    }
    for (index, _) in below {
      switch operation {
      case .replace: touchedPatterns.insert(index)
      case .add: superfluous += pend(place, .add, list)
      case .remove: break
      }
    }
    return superfluous
  }

  private func pend(_ place: StatePath, _ operation: Operation, _ list: SentList?) -> Int {
    switch (pending[place], operation) {
    case (nil, .replace) where isToldWhole(place): return 1
    case (nil, _):
      if operation == .remove { pending.forget(below: place) }
      pending.set(place, operation, list: operation == .replace ? list : nil)
      return 0
    case (.add, .remove):
      pending.forget(below: place)
      pending.set(place, nil)
      return 2
    case (.add, _), (.replace, .replace): return 1
    case (.remove, .add): pending.set(place, .replace)
    case (_, let later):
      if later == .remove { pending.forget(below: place) }
      pending.set(place, later)
    }
    return 1
  }

  /// Whether the object that the place is in is told as a whole: then there is nothing to say of what is inside.
  private func isToldWhole(_ place: StatePath) -> Bool {
    guard place.member != nil, let operation = pending[place.object] else { return false }
    return operation != .remove
  }

  /// The place that is removed when the object at `place` goes: as far down as the pattern's names lead. What was below goes
  /// with it.
  func removal(_ pattern: StatePattern, _ place: StatePath) -> StatePath {
    var names: [String] = []
    for segment in pattern.segments.dropFirst(2) {
      guard case .name(let name) = segment else { break }
      names.append(name.string)
    }
    return StatePath(place.root.string, place.id.string, names.first, Array(names.dropFirst()))
  }

  /// What the client has done itself it knows, though it was not told.
  private func assumeKnown(_ event: Change.Event, _ place: StatePath, _ world: World) {
    switch event {
    case .created, .graphics: remember(world, below: place.names)
    case .changed, .member:
      remember(world, below: place.names)
      // Its list is no longer the one that was told.
      pending.forgetList(place)
    case .clock, .history, .document: break
    case .closed:
      forgetValues(below: place)
      for pattern in patterns where pattern.isBelow(place) { told.remove(removal(pattern, place)) }
    }
  }

  private func forgetValues(below place: StatePath) {
    guard !insideValues.isEmpty else { return }
    let prefix = place.pointer + "/"
    insideValues = insideValues.filter { !$0.key.string.utf8.starts(with: prefix.utf8) }
  }

  private func note(_ edit: GraphicsEdit, of overlay: OverlayID, _ container: StatePath) -> Int {
    var followsAll = false
    var followsSome = false
    for (index, pattern) in patterns.enumerated() {
      if pattern.covers(container) {
        followsAll = true
      } else if pattern.isBelow(container) {
        if pattern.segments.count == 4 { followsSome = true } else { touchedPatterns.insert(index) }
      }
    }
    // An overlay that is new is told whole.
    guard followsAll || followsSome, !isToldWhole(container) else { return 0 }
    let (ids, operation): (GraphicIDs, Operation) =
      switch edit {
      case .added(let ids): (ids, .add)
      case .updated(let ids): (ids, .replace)
      case .removed(let ids): (ids, .remove)
      }
    let isFollowed: ((Int) -> Bool)? =
      followsAll
      ? nil : { [patterns] id in patterns.contains { $0.covers(container.graphic(id)) } }
    defer { if graphics[overlay]?.count == 0 { graphics[overlay] = nil } }
    return graphics[overlay, default: PendingGraphics()].note(ids, operation, where: isFollowed)
  }

  func giveUp() -> Bool {
    guard !isLost else { return false }
    // What is on its way goes out all the same.
    if telling != nil, graphics.values.reduce(pending.count, { $0 + $1.count }) < Self.mostNoted { return false }
    forgetAll()
    isLost = true
    return true
  }

  func forgetAll() {
    pending.removeAll()
    origins.removeAll(keepingCapacity: true)
    if !graphics.isEmpty { graphics = [:] }
    if !touchedPatterns.isEmpty { touchedPatterns = [] }
    before = nil
  }
}
