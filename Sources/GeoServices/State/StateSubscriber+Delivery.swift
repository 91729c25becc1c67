// What a subscription tells: the entries of a delta, from what was noted, what was told and what is now.

import GeoModel
import Geometry
import JSON
import JSONRPC
import Query

extension StateSubscriber {
  typealias Entry = DeltaDelivery.Entry

  /// Tells a snapshot that is too long for one piece, before anything else.
  func tell(_ snapshot: Snapshot) { telling = snapshot.telling(id) }

  func goOn(_ session: Session) -> DeliveryProgress {
    guard let telling else { return .done }
    let progress = telling.goOn(session)
    guard progress == .done else { return progress }
    if let revision = telling.reached { base = revision }
    self.telling = nil
    return .done
  }

  func flush(_ world: World, to session: Session, _ texts: inout PatchTexts) {
    guard isDirty, telling == nil else { return }
    if sendSingleChange(world, session, &texts) { return forgetAll() }
    if isLost {
      isLost = false
      base = world.revision
      remember(world)
      let snapshot = Snapshot(patterns, in: world)
      if !snapshot.resync(id, to: session) { tell(snapshot) }
      return
    }
    var entries: [Entry] = []
    for noted in pending.entries {
      if let operation = noted.operation { entries += self.entries(noted, operation, world) }
    }
    for index in touchedPatterns.sorted() { entries += entriesInside(patterns[index], world) }
    for (overlay, noted) in graphics.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let store = world.overlays[overlay]?.store else { continue }
      let items = noted.items()
      let container = StatePath(Collection.overlays.rawValue, overlay.rawValue, "graphics")
      remember(items, of: container, store)
      entries.append(.graphics(container.names, store, items, before: before?.overlays[overlay]?.store))
    }
    if !entries.isEmpty {
      telling = DeltaDelivery(id, base: base, revision: world.revision, origins: origins, entries)
    }
    forgetAll()
  }

  /// What is told most often, a new value of one property, is written as it comes; whether it was that.
  private func sendSingleChange(_ world: World, _ session: Session, _ texts: inout PatchTexts) -> Bool {
    guard let noted = pending.only, noted.operation == .replace, noted.list == nil, before == nil, !isLost,
      noted.place.member != nil, graphics.isEmpty, touchedPatterns.isEmpty, texts.make(noted.place, in: world)
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

  private func entries(_ noted: PendingPaths.Entry, _ operation: Operation, _ world: World) -> [Entry] {
    let place = noted.place
    if operation == .remove {
      // What comes again is compared below.
      return before != nil && pending[place.object] == .add ? [] : [.remove(place.pointer)]
    }
    guard patterns.contains(where: { $0.covers(place) }) else { return entriesOfNew(place, world) }
    guard let node = StateTree.node(at: place, in: world) else { return [] }
    if operation == .replace {
      if let entries = noted.list?.entries(to: node, at: place.names) { return entries }
      if let before, StateTree.node(at: place, in: before).map({ Self.isSame($0, node) }) == true { return [] }
    }
    return StatePiece.pieces(place.names, node).enumerated().map { .write($0 == 0 ? operation : .add, $1) }
  }

  /// Something new above what is followed: the places in it.
  private func entriesOfNew(_ place: StatePath, _ world: World) -> [Entry] {
    let above = place.names
    var entries: [Entry] = []
    for pattern in patterns where pattern.isBelow(place) {
      var old: [Text: StateNode] = [:]
      if let before {
        for (path, node) in places(of: pattern, in: before) where path.starts(with: above) {
          old[Text(pointer(path))] = node
        }
      }
      for (path, node) in places(of: pattern, in: world) where path.starts(with: above) {
        remember(path, node, pattern)
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

  /// Whether two values are equal; long ones are not looked into.
  private static func isSame(_ old: StateNode, _ new: StateNode) -> Bool {
    guard old.graphicCount <= graphicsInOnePiece, new.graphicCount <= graphicsInOnePiece else { return false }
    return Text(old.text) == Text(new.text)
  }

  /// Pointers in an order in which no place of a list moves before it is removed: numbers with more digits, and greater ones, first.
  private static func fromTheEnd(_ keys: some Sequence<Text>) -> [String] {
    keys.map(\.string).sorted {
      $0.utf8.count != $1.utf8.count
        ? $0.utf8.count > $1.utf8.count : $1.utf8.lexicographicallyPrecedes($0.utf8)
    }
  }

  /// Places inside values: told when they differ from what was last told.
  private func entriesInside(_ pattern: StatePattern, _ world: World) -> [Entry] {
    var now: Set<Text> = []
    var entries: [Entry] = []
    for (path, node) in places(of: pattern, in: world) where Self.isInsideValue(path) {
      let key = pointer(path)
      now.insert(Text(key))
      let text = node.text
      let told = insideValues[Text(key)]
      guard Text(text) != Text(told) else { continue }
      entries +=
        told.flatMap { SentList.text($0).entries(to: node, at: path) }
        ?? [.write(told == nil ? .add : .replace, .value(path) { $0.raw(text) })]
      remember(path, node, pattern)
    }
    for key in Self.fromTheEnd(insideValues.keys) where !now.contains(Text(key)) {
      let names = StatePattern.names(of: key)
      guard pattern.covers(names) else { continue }
      entries.append(.remove(key))
      insideValues[Text(key)] = nil
      told.remove(StatePath(names))
    }
    return entries
  }

  // MARK: What the client knows

  /// Takes for known what stands in the world, or in a part of it: what was told by a snapshot, or what the client did itself.
  func remember(_ world: World, below path: [String] = []) {
    if path.isEmpty {
      insideValues = [:]
      told = []
    }
    for pattern in patterns where pattern.segments.count > 2 && (pattern.isBelow(path) || pattern.covers(path)) {
      var known: Set<Text> = []
      for (place, node) in places(of: pattern, in: world) where place.starts(with: path) {
        known.insert(Text(pointer(place)))
        remember(place, node, pattern)
      }
      for key in insideValues.keys where !known.contains(key) {
        let names = StatePattern.names(of: key.string)
        guard names.starts(with: path), pattern.covers(names) else { continue }
        insideValues[key] = nil
        told.remove(StatePath(names))
      }
    }
  }

  /// Takes graphics for known that a delta tells of and that are followed one by one.
  private func remember(
    _ items: [(id: Int, operation: Operation)], of container: StatePath, _ store: FeatureStore
  ) {
    let single = patterns.filter { $0.segments.count == 4 && !isFollowedAbove($0, container.names) }
    guard !single.isEmpty else { return }
    for (id, operation) in items {
      let place = container.graphic(id)
      let isThere = operation != .remove && store.contains(id: id)
      for pattern in single where pattern.covers(place) {
        let gone = removal(pattern, place)
        if isThere { told.insert(gone) } else if gone.isBelow(container) { told.remove(gone) }
      }
    }
  }

  private func remember(_ path: [String], _ node: StateNode, _ pattern: StatePattern) {
    told.insert(removal(pattern, StatePath(path)))
    if Self.isInsideValue(path) { insideValues[Text(pointer(path))] = node.text }
  }

  /// The places of a pattern, but for those that a shorter one shows anyway.
  private func places(of pattern: StatePattern, in world: World) -> [(path: [String], node: StateNode)] {
    StateTree.places(of: pattern, in: world).filter { !isFollowedAbove(pattern, $0.path) }
  }

  private func isFollowedAbove(_ pattern: StatePattern, _ path: [String]) -> Bool {
    patterns.contains { $0.segments.count < pattern.segments.count && $0.covers(path) }
  }

  /// Whether changes of the place are not noted by its path, but by that of the value it is in.
  private static func isInsideValue(_ path: [String]) -> Bool {
    path.count > 4 || path.count == 4 && !(path[0] == Collection.overlays.rawValue && path[2] == "graphics")
  }
}
