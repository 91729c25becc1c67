// Makes the entries of a delta from the recorded changes, what was sent before and the current world.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import StateTree

extension StateSubscriber {
  package typealias Entry = DeltaDelivery.Entry

  /// The values to send first, before any delta; nil when they follow in parts.
  package func begin(_ snapshot: Snapshot) -> [StateProtocol.StateValue]? {
    sentParts = [:]
    sentPaths = []
    noteKnown(snapshot.world)
    if let whole = snapshot.encoded() {
      for match in snapshot.matches(isSplit: false) { rememberSent(match) }
      return whole
    }
    // Values are recorded as they are sent, so that the loop is not blocked by recording all of them at once.
    delivery = SnapshotDelivery(id, snapshot) { [unowned self] match in rememberSent(match) }
    return nil
  }

  package func resume(_ session: Session) -> DeliveryProgress {
    guard let delivery else { return .done }
    let progress = delivery.resume(session)
    guard progress == .done else { return progress }
    if let revision = delivery.revisionReached { base = revision }
    if let sent = delivery as? SnapshotDelivery { sentWorlds = [sent.snapshot.world] }
    self.delivery = nil
    if !closedInDelivery.isEmpty {
      sentParts = sentParts.filter { !closedInDelivery.contains($0.key.prefix(2)) }
      sentPaths = sentPaths.filter { !closedInDelivery.contains($0.prefix(2)) }
      closedInDelivery = []
    }
    return .done
  }

  package func takeSentWorlds() -> [World] {
    guard !sentWorlds.isEmpty else { return [] }
    defer { sentWorlds = [] }
    return sentWorlds
  }

  package func flush(_ world: World, to session: Session, _ texts: inout PatchTexts) {
    guard isDirty, delivery == nil else { return }
    if sendSingleChange(world, session, &texts) { return clearRecorded() }
    if needsResync {
      needsResync = false
      base = world.revision
      let snapshot = Snapshot(patterns, in: world)
      snapshot.resync(id, begin(snapshot), to: session)
      return
    }
    var entries: [Entry] = []
    for (path, entry) in pending.entries { entries += self.entries(path, entry, world) }
    for index in touchedPatterns.sorted() { entries += entriesInside(patterns[index], world) }
    for (overlay, recorded) in graphics.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let store = world.overlays[overlay]?.store else { continue }
      let items = recorded.items()
      let container = ModelPath(ObjectReference(.overlays, overlay.rawValue), "graphics")
      rememberSent(items, of: container, store)
      entries.append(.graphics(container, store, items, before: before?.overlays[overlay]?.store))
    }
    if !entries.isEmpty {
      delivery = DeltaDelivery(id, base: base, revision: world.revision, origins: origins, entries)
    }
    clearRecorded()
  }

  /// Sends the most frequent delta, a new value of one property, without a delivery.
  ///
  /// - Returns: false when the delta is not of that kind.
  private func sendSingleChange(_ world: World, _ session: Session, _ texts: inout PatchTexts) -> Bool {
    guard let (path, entry) = pending.only, entry.operation == .replace,
      entry.list == nil,
      before == nil, !needsResync, path.names.count > 2, graphics.isEmpty, touchedPatterns.isEmpty,
      texts.make(path, in: world)
    else { return false }
    session.notify("state/changed") { writer in
      DeltaDelivery.open(id, base: base, revision: world.revision, origins, &writer)
      writer.beginArray()
      writer.raw(texts.bytes)
      writer.endArray()
    }
    base = world.revision
    return true
  }

  private func entries(_ path: ModelPath, _ recorded: PendingPaths.Entry, _ world: World) -> [Entry] {
    if recorded.operation == .remove {
      // The object is added again; `entriesOfNew` compares it with the old one.
      return before != nil && pending[path.prefix(2)] == .add ? [] : [.remove(path.description)]
    }
    guard patterns.contains(where: { $0.covers(path) }) else { return entriesOfNew(path, world) }
    guard let node = StateTree.node(at: path, in: world) else { return [] }
    if recorded.operation == .replace {
      if let entries = recorded.list?.entries(to: node, at: path) { return entries }
      if let before, StateTree.node(at: path, in: before).map({ Self.isSame($0, node) }) == true { return [] }
    }
    return StatePiece.pieces(path, node).enumerated().map { .write($0 == 0 ? recorded.operation : .add, $1) }
  }

  /// Entries for the observed parts of a new object.
  private func entriesOfNew(_ object: ModelPath, _ world: World) -> [Entry] {
    var entries: [Entry] = []
    for pattern in patterns where pattern.isBelow(object) {
      var old: [ModelPath: StateNode] = [:]
      if let before {
        for (path, node) in matches(of: pattern, in: before) where path.isBelow(object) { old[path] = node }
      }
      for (path, node) in matches(of: pattern, in: world) where path.isBelow(object) {
        rememberSent(path, node, pattern)
        let known = old.removeValue(forKey: path)
        if let known, Self.isSame(known, node) { continue }
        entries += StatePiece.pieces(path, node).enumerated().map {
          .write(known == nil || $0 > 0 ? .add : .replace, $1)
        }
      }
      for path in Self.fromTheEnd(old.keys) { entries.append(.remove(path.description)) }
    }
    return entries
  }

  /// Whether two values are equal. Values with many items count as different, as comparing them is slow.
  private static func isSame(_ old: StateNode, _ new: StateNode) -> Bool {
    guard old.itemCount <= itemsInOnePiece, new.itemCount <= itemsInOnePiece else { return false }
    return Text(old.text) == Text(new.text)
  }

  /// Paths from the end of each list to its beginning, so that no removal shifts the index of a later one.
  private static func fromTheEnd(_ paths: some Sequence<ModelPath>) -> [ModelPath] {
    paths.map { (path: $0, pointer: $0.description.utf8) }.sorted {
      $0.pointer.count != $1.pointer.count
        ? $0.pointer.count > $1.pointer.count : $1.pointer.lexicographicallyPrecedes($0.pointer)
    }.map(\.path)
  }

  /// Entries of observed parts of a value that differ from what was last sent.
  private func entriesInside(_ pattern: StatePattern, _ world: World) -> [Entry] {
    var now: Set<ModelPath> = []
    var entries: [Entry] = []
    for (path, node) in matches(of: pattern, in: world) where Self.isInsideValue(path) {
      now.insert(path)
      let text = node.text
      let sent = sentParts[path]
      guard Text(text) != Text(sent) else { continue }
      entries +=
        sent.flatMap { SentList.text($0).entries(to: node, at: path) }
        ?? [.write(sent == nil ? .add : .replace, .value(path) { $0.raw(text) })]
      rememberSent(path, node, pattern)
    }
    for path in Self.fromTheEnd(sentParts.keys) where !now.contains(path) && pattern.covers(path) {
      entries.append(.remove(path.description))
      forgetSent(path)
    }
    return entries
  }

  // MARK: Sent values

  private func rememberSent(_ match: Snapshot.Match) {
    guard match.pattern.segments.count > 2, !isObservedAbove(match.pattern, match.path) else { return }
    rememberSent(match.path, match.node, match.pattern)
  }

  /// Records all observed values below a path as sent, after a change that the client made itself.
  func rememberSent(_ world: World, below path: ModelPath) {
    for pattern in patterns where pattern.segments.count > 2 && (pattern.isBelow(path) || pattern.covers(path)) {
      var known: Set<ModelPath> = []
      for (match, node) in matches(of: pattern, in: world) where match.names.starts(with: path.names) {
        known.insert(match)
        rememberSent(match, node, pattern)
      }
      for sent in sentParts.keys where !known.contains(sent) && sent.names.starts(with: path.names) {
        if pattern.covers(sent) { forgetSent(sent) }
      }
    }
  }

  private func forgetSent(_ path: ModelPath) {
    sentParts[path] = nil
    sentPaths.remove(path)
  }

  /// Records graphics of a delta as sent, if they are observed individually.
  private func rememberSent(
    _ items: [(id: Int, operation: Operation)], of container: ModelPath, _ store: FeatureStore
  ) {
    let single = patterns.filter { $0.segments.count == 4 && !isObservedAbove($0, container) }
    guard !single.isEmpty else { return }
    for (id, operation) in items {
      let path = container.appending(String(id))
      let exists = operation != .remove && store.contains(id: id)
      for pattern in single where pattern.covers(path) {
        let removed = removal(pattern, path)
        if exists { sentPaths.insert(removed) } else if removed.isBelow(container) { sentPaths.remove(removed) }
      }
    }
  }

  private func rememberSent(_ path: ModelPath, _ node: StateNode, _ pattern: StatePattern) {
    sentPaths.insert(removal(pattern, path))
    if Self.isInsideValue(path) { sentParts[path] = node.text }
  }

  /// The nodes that match a pattern, except those below a shorter pattern of the subscription.
  private func matches(of pattern: StatePattern, in world: World) -> [(path: ModelPath, node: StateNode)] {
    StateTree.matches(of: pattern, in: world).filter { !isObservedAbove(pattern, $0.path) }
  }

  private func isObservedAbove(_ pattern: StatePattern, _ path: ModelPath) -> Bool {
    patterns.contains { $0.segments.count < pattern.segments.count && $0.covers(path) }
  }

  /// Whether the path leads into a property's value, whose changes are recorded under the property's path.
  private static func isInsideValue(_ path: ModelPath) -> Bool {
    path.names.count > 4
      || path.names.count == 4 && !(path.object?.collection == .overlays && path.names[2] == "graphics")
  }
}
