// `state/observe`: subscriptions to patterns of the state tree, sent as JSON Patch deltas. This file records changes;
// `StateSubscriber+Delivery.swift` makes deltas of them.

import GeoModel
import GeoProtocol
import Geometry
import StateTree

package final class StateSubscriber: Subscriber {
  /// The operations of JSON Patch on a single path.
  package enum Operation {
    case add, replace, remove

    var wire: StateProtocol.PatchOperation {
      switch self {
      case .add: .add
      case .replace: .replace
      case .remove: .remove
      }
    }
  }

  package let id: String
  let patterns: [StatePattern]
  let exceptOrigin: String?
  package let maxRate: Double?
  package let defersEdits: Bool
  /// The objects that the paths lead to; nil if a path leads to several objects, the clock or the history.
  private let followed: Set<ObjectReference>?
  /// Members of `followed` that have existed.
  private var known: Set<ObjectReference> = []

  /// The revision of the last delta or snapshot.
  var base: Int
  var pending = PendingPaths()
  var graphics: [OverlayID: PendingGraphics] = [:]
  /// Indexes of patterns that reach into a value that changed.
  var touchedPatterns: Set<Int> = []
  /// Texts last sent for parts of values.
  var sentParts: [ModelPath: String] = [:]
  /// Paths to remove when a partly observed object closes; see ``removal(_:_:)``.
  var sentPaths: Set<ModelPath> = []
  var origins: [Origin] = []
  package var needsResync = false
  /// The delivery in progress; changes recorded meanwhile are sent after it.
  var delivery: (any Delivery)?
  var sentWorlds: [World] = []
  /// Objects that were closed while a snapshot in parts was being sent, which may still have contained them.
  var closedInDelivery: Set<ModelPath> = []
  /// The last world sent, while only differences from it are sent.
  var before: World?
  /// Beyond this number of changes recorded during a delivery, a snapshot is shorter than a delta.
  private static let maxRecorded = 100_000

  package init(
    id: String, patterns: [StatePattern], exceptOrigin: String?, maxRate: Double?, defersEdits: Bool, base: Int
  ) {
    self.id = id
    self.patterns = patterns
    self.exceptOrigin = exceptOrigin
    self.maxRate = maxRate
    self.defersEdits = defersEdits
    self.base = base
    let objects = patterns.map(\.object)
    followed = objects.contains(nil) ? nil : Set(objects.compactMap { $0 })
  }

  /// A path may also lead to an object that has yet to be created.
  package func ends(with object: ObjectReference, in world: World) -> Bool {
    guard let followed, followed.contains(object) else { return false }
    known.insert(object)
    return followed.allSatisfy { known.contains($0) && world.revision(of: $0) == nil }
  }

  package var interests: [StatePattern] { patterns }
  package var isDirty: Bool { needsResync || !pending.isEmpty || !graphics.isEmpty || !touchedPatterns.isEmpty }

  /// Records which of the followed objects exist.
  func noteKnown(_ world: World) {
    for object in followed ?? [] where world.revision(of: object) != nil { known.insert(object) }
  }

  package func compare(with world: World) {
    // Recorded changes are differences from an older world.
    if !isDirty { before = world }
  }

  package func stopComparing() {
    if !isDirty { before = nil }
  }

  // MARK: Recording

  package func record(_ change: Change, _ path: ModelPath, _ list: SentList?, _ world: World) -> Int {
    if needsResync { return 1 }
    if case .client(let name?, _) = change.origin, name == Text(exceptOrigin) {
      assumeKnown(change.event, path, world)
      return 0
    }
    var coalesced = 0
    switch change.event {
    case .created(let object):
      if followed?.contains(object) == true { known.insert(object) }
      coalesced += record(path, .add, list)
    case .closed(let object):
      coalesced += record(path, .remove, list)
      if object.collection == .overlays { graphics[ID(object.id)] = nil }
    case .changed, .member, .clock, .history, .document: coalesced += record(path, .replace, list)
    // Entities are observed by `entity/observe`.
    case .replaced, .entities: break
    case .graphics(let overlay, let edit): coalesced += record(edit, of: overlay, path)
    }
    if isDirty, !origins.contains(change.origin) { origins.append(change.origin) }
    return coalesced
  }

  private func record(_ path: ModelPath, _ operation: Operation, _ list: SentList?) -> Int {
    if patterns.contains(where: { $0.covers(path) }) { return merge(path, operation, list) }
    let below = patterns.enumerated().filter { $0.element.isBelow(path) }
    var coalesced = 0
    if operation == .remove, !below.isEmpty {
      // The client still has the object if it is removed, added and removed again between two deltas.
      var known: [ModelPath] = []
      let snapshot = (delivery as? SnapshotDelivery)?.snapshot
      if snapshot != nil { closedInDelivery.insert(path) }
      for removed in below.map({ removal($0.element, path) }) where !known.contains(removed) {
        let isInSnapshot = snapshot.map { StateTree.node(at: removed, in: $0.world) != nil } ?? false
        let wasSent = sentPaths.remove(removed) != nil || isInSnapshot
        if wasSent || pending[removed] == .remove || pending[removed] == .replace { known.append(removed) }
      }
      if pending[path] == .add { _ = merge(path, .remove, list) }
      dropSentParts(below: path)
      for removed in known { coalesced += merge(removed, .remove, list) }
      return coalesced
    }
    for (index, _) in below {
      switch operation {
      case .replace: touchedPatterns.insert(index)
      case .add: coalesced += merge(path, .add, list)
      case .remove: break
      }
    }
    return coalesced
  }

  /// Merges an operation with the recorded ones.
  ///
  /// - Returns: the number of operations that it coalesces.
  private func merge(_ path: ModelPath, _ operation: Operation, _ list: SentList?) -> Int {
    switch (pending[path], operation) {
    case (nil, .replace) where isSentWhole(path): return 1
    case (nil, _):
      if operation == .remove { pending.drop(below: path) }
      pending.set(path, operation, list: operation == .replace ? list : nil)
      return 0
    case (.add, .remove):
      pending.drop(below: path)
      pending.drop(path)
      return 2
    case (.add, _), (.replace, .replace): return 1
    case (.remove, .add): pending.set(path, .replace)
    case (_, let later):
      if later == .remove { pending.drop(below: path) }
      pending.set(path, later)
    }
    return 1
  }

  /// Whether the object of the path will be sent whole, members included.
  private func isSentWhole(_ path: ModelPath) -> Bool {
    guard path.names.count > 2, !pending.isEmpty, let operation = pending[path.prefix(2)] else { return false }
    return operation != .remove
  }

  /// The path to remove at the client when the object at `path` closes: down to the pattern's first wildcard.
  func removal(_ pattern: StatePattern, _ path: ModelPath) -> ModelPath {
    var names = Array(path.names.prefix(2))
    for case .name(let name) in pattern.segments.dropFirst(2).prefix(while: { $0 != .any }) { names.append(name) }
    return ModelPath(names)
  }

  /// Treats a change that the client made itself (`exceptOrigin`) as sent.
  private func assumeKnown(_ event: Change.Event, _ path: ModelPath, _ world: World) {
    switch event {
    case .created:
      closedInDelivery.remove(path)
      rememberSent(world, below: path)
    case .graphics: rememberSent(world, below: path)
    case .changed, .member:
      rememberSent(world, below: path)
      // The client's list is no longer the sent one.
      pending.dropList(path)
    case .replaced, .entities, .clock, .history, .document: break
    case .closed:
      if delivery is SnapshotDelivery { closedInDelivery.insert(path) }
      dropSentParts(below: path)
      for pattern in patterns where pattern.isBelow(path) { sentPaths.remove(removal(pattern, path)) }
    }
  }

  private func dropSentParts(below path: ModelPath) {
    if !sentParts.isEmpty { sentParts = sentParts.filter { !$0.key.isBelow(path) } }
  }

  private func record(_ edit: GraphicsEdit, of overlay: OverlayID, _ container: ModelPath) -> Int {
    var observesAll = false
    var observesSome = false
    for (index, pattern) in patterns.enumerated() {
      if pattern.covers(container) {
        observesAll = true
      } else if pattern.isBelow(container) {
        if pattern.segments.count == 4 { observesSome = true } else { touchedPatterns.insert(index) }
      }
    }
    // A new overlay is sent whole, graphics included.
    guard observesAll || observesSome, !isSentWhole(container) else { return 0 }
    let operation: Operation =
      switch edit.kind {
      case .added: .add
      case .updated: .replace
      case .removed: .remove
      }
    let isObserved: ((Int) -> Bool)? =
      observesAll
      ? nil : { [patterns] id in patterns.contains { $0.covers(container.appending(String(id))) } }
    defer { if graphics[overlay]?.count == 0 { graphics[overlay] = nil } }
    return graphics[overlay, default: PendingGraphics()].record(edit.ids, operation, where: isObserved)
  }

  package func discardRecorded() -> Bool {
    guard !needsResync else { return false }
    // A delivery in progress is completed in any case.
    if delivery != nil, graphics.values.reduce(pending.count, { $0 + $1.count }) < Self.maxRecorded { return false }
    resync()
    return true
  }

  package func resync() {
    clearRecorded()
    needsResync = true
  }

  func clearRecorded() {
    pending.removeAll()
    origins.removeAll(keepingCapacity: true)
    if !graphics.isEmpty { graphics = [:] }
    if !touchedPatterns.isEmpty { touchedPatterns = [] }
    before = nil
  }
}
