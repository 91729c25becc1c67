// Makes the entries of a delta from the recorded changes, what was sent before and the current world.

import GeoModel
import Geometry
import JSON
import JSONRPC
import Query
import StateTree

extension StateSubscriber {
  package typealias Entry = DeltaDelivery.Entry

  /// Sends a snapshot in parts, before any delta.
  package func deliver(_ snapshot: Snapshot) { delivery = snapshot.delivery(id) }

  package func resume(_ session: Session) -> DeliveryProgress {
    guard let delivery else { return .done }
    let progress = delivery.resume(session)
    guard progress == .done else { return progress }
    if let revision = delivery.revisionReached { base = revision }
    self.delivery = nil
    return .done
  }

  package func flush(_ world: World, to session: Session, _ texts: inout PatchTexts) {
    guard isDirty, delivery == nil else { return }
    if sendSingleChange(world, session, &texts) { return clearRecorded() }
    if needsResync {
      needsResync = false
      base = world.revision
      rememberSent(world)
      let snapshot = Snapshot(patterns, in: world)
      if !snapshot.resync(id, to: session) { deliver(snapshot) }
      return
    }
    var entries: [Entry] = []
    for entry in pending.entries {
      if let operation = entry.operation { entries += self.entries(entry, operation, world) }
    }
    for index in touchedPatterns.sorted() { entries += entriesInside(patterns[index], world) }
    for (overlay, recorded) in graphics.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let store = world.overlays[overlay]?.store else { continue }
      let items = recorded.items()
      let container = StatePath(Collection.overlays.rawValue, overlay.rawValue, "graphics")
      rememberSent(items, of: container, store)
      entries.append(.graphics(container.names, store, items, before: before?.overlays[overlay]?.store))
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
    guard let entry = pending.only, entry.operation == .replace, entry.list == nil, before == nil, !needsResync,
      entry.path.member != nil, graphics.isEmpty, touchedPatterns.isEmpty, texts.make(entry.path, in: world)
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

  private func entries(_ recorded: PendingPaths.Entry, _ operation: Operation, _ world: World) -> [Entry] {
    let path = recorded.path
    if operation == .remove {
      // The object is added again: `entriesOfNew` compares both.
      return before != nil && pending[path.object] == .add ? [] : [.remove(path.pointer)]
    }
    guard patterns.contains(where: { $0.covers(path) }) else { return entriesOfNew(path, world) }
    guard let node = StateTree.node(at: path, in: world) else { return [] }
    if operation == .replace {
      if let entries = recorded.list?.entries(to: node, at: path.names) { return entries }
      if let before, StateTree.node(at: path, in: before).map({ Self.isSame($0, node) }) == true { return [] }
    }
    return StatePiece.pieces(path.names, node).enumerated().map { .write($0 == 0 ? operation : .add, $1) }
  }

  /// Entries of the observed parts of an object that is new.
  private func entriesOfNew(_ object: StatePath, _ world: World) -> [Entry] {
    let above = object.names
    var entries: [Entry] = []
    for pattern in patterns where pattern.isBelow(object) {
      var old: [Text: StateNode] = [:]
      if let before {
        for (path, node) in matches(of: pattern, in: before) where path.starts(with: above) {
          old[Text(pointer(path))] = node
        }
      }
      for (path, node) in matches(of: pattern, in: world) where path.starts(with: above) {
        rememberSent(path, node, pattern)
        let known = old.removeValue(forKey: Text(pointer(path)))
        if let known, Self.isSame(known, node) { continue }
        entries += StatePiece.pieces(path, node).enumerated().map {
          .write(known == nil || $0 > 0 ? .add : .replace, $1)
        }
      }
      for key in Self.fromTheEnd(old.keys) { entries.append(.remove(key)) }
    }
    return entries
  }

  /// Whether two values are equal. Values with many graphics count as different, as comparing them is slow.
  private static func isSame(_ old: StateNode, _ new: StateNode) -> Bool {
    guard old.graphicCount <= graphicsInOnePiece, new.graphicCount <= graphicsInOnePiece else { return false }
    return Text(old.text) == Text(new.text)
  }

  /// Pointers from the end of each list to its beginning, so that no removal shifts the index of a later one.
  private static func fromTheEnd(_ keys: some Sequence<Text>) -> [String] {
    keys.map(\.string).sorted {
      $0.utf8.count != $1.utf8.count
        ? $0.utf8.count > $1.utf8.count : $1.utf8.lexicographicallyPrecedes($0.utf8)
    }
  }

  /// Entries of observed parts of a value that differ from what was last sent.
  private func entriesInside(_ pattern: StatePattern, _ world: World) -> [Entry] {
    var now: Set<Text> = []
    var entries: [Entry] = []
    for (path, node) in matches(of: pattern, in: world) where Self.isInsideValue(path) {
      let key = pointer(path)
      now.insert(Text(key))
      let text = node.text
      let sent = sentParts[Text(key)]
      guard Text(text) != Text(sent) else { continue }
      entries +=
        sent.flatMap { SentList.text($0).entries(to: node, at: path) }
        ?? [.write(sent == nil ? .add : .replace, .value(path) { $0.raw(text) })]
      rememberSent(path, node, pattern)
    }
    for key in Self.fromTheEnd(sentParts.keys) where !now.contains(Text(key)) {
      let names = StatePattern.names(of: key)
      guard pattern.covers(names) else { continue }
      entries.append(.remove(key))
      sentParts[Text(key)] = nil
      sentPaths.remove(StatePath(names))
    }
    return entries
  }

  // MARK: What the client has

  /// Records all observed values below a path as sent: after a snapshot, or after a change that the client made itself.
  package func rememberSent(_ world: World, below path: [String] = []) {
    if path.isEmpty {
      sentParts = [:]
      sentPaths = []
    }
    for pattern in patterns where pattern.segments.count > 2 && (pattern.isBelow(path) || pattern.covers(path)) {
      var known: Set<Text> = []
      for (match, node) in matches(of: pattern, in: world) where match.starts(with: path) {
        known.insert(Text(pointer(match)))
        rememberSent(match, node, pattern)
      }
      for key in sentParts.keys where !known.contains(key) {
        let names = StatePattern.names(of: key.string)
        guard names.starts(with: path), pattern.covers(names) else { continue }
        sentParts[key] = nil
        sentPaths.remove(StatePath(names))
      }
    }
  }

  /// Records graphics of a delta as sent that are observed one by one.
  private func rememberSent(
    _ items: [(id: Int, operation: Operation)], of container: StatePath, _ store: FeatureStore
  ) {
    let single = patterns.filter { $0.segments.count == 4 && !isObservedAbove($0, container.names) }
    guard !single.isEmpty else { return }
    for (id, operation) in items {
      let path = container.graphic(id)
      let exists = operation != .remove && store.contains(id: id)
      for pattern in single where pattern.covers(path) {
        let removed = removal(pattern, path)
        if exists { sentPaths.insert(removed) } else if removed.isBelow(container) { sentPaths.remove(removed) }
      }
    }
  }

  private func rememberSent(_ path: [String], _ node: StateNode, _ pattern: StatePattern) {
    sentPaths.insert(removal(pattern, StatePath(path)))
    if Self.isInsideValue(path) { sentParts[Text(pointer(path))] = node.text }
  }

  /// The nodes that match a pattern, except those below a shorter pattern of the subscription.
  private func matches(of pattern: StatePattern, in world: World) -> [(path: [String], node: StateNode)] {
    StateTree.matches(of: pattern, in: world).filter { !isObservedAbove(pattern, $0.path) }
  }

  private func isObservedAbove(_ pattern: StatePattern, _ path: [String]) -> Bool {
    patterns.contains { $0.segments.count < pattern.segments.count && $0.covers(path) }
  }

  /// Whether the path leads into a property's value; changes are recorded by the property's path.
  private static func isInsideValue(_ path: [String]) -> Bool {
    path.count > 4 || path.count == 4 && !(path[0] == Collection.overlays.rawValue && path[2] == "graphics")
  }
}
