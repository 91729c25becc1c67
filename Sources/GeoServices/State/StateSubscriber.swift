// `state/observe`: paths of the tree, followed by JSON Patch deltas.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import Query

final class StateSubscriber: Subscriber {
  enum Operation: String { case add, replace, remove }

  let id: String
  let patterns: [StatePattern]
  let exceptOrigin: String?
  let maxRate: Double?
  let scope: ObjectReference? = nil

  /// The revision last told.
  private var base: Int
  private var pending: [String: (path: [String], operation: Operation)] = [:]
  private var order: [String] = []
  private var graphics: [OverlayID: [Int: Operation]] = [:]
  private var graphicOrder: [OverlayID: [Int]] = [:]
  /// Patterns that reach into a value that changed.
  private var touchedPatterns: Set<Int> = []
  /// What was last told of places inside values.
  private var insideValues: [String: String] = [:]
  /// What has to be removed when an object goes that only parts of are followed; see ``removal(_:_:)``.
  private var told: Set<String> = []
  private var origins: [Origin] = []
  private var isLost = false
  /// What is on its way; what is noted meanwhile comes after it.
  private var telling: (any Telling)?
  /// With more noted while something long is on its way, a snapshot is shorter.
  private static let mostNoted = 100_000

  init(id: String, patterns: [StatePattern], exceptOrigin: String?, maxRate: Double?, base: Int) {
    self.id = id
    self.patterns = patterns
    self.exceptOrigin = exceptOrigin
    self.maxRate = maxRate
    self.base = base
  }

  var isDirty: Bool { isLost || !order.isEmpty || !graphicOrder.isEmpty || !touchedPatterns.isEmpty }

  // MARK: Noting

  func note(_ change: Change, _ world: World) -> Int {
    if isLost { return 1 }
    if case .client(let name?) = change.origin, name == exceptOrigin {
      assumeKnown(change.event, world)
      return 0
    }
    var superfluous = 0
    switch change.event {
    case .created(let object): superfluous += note(StateTree.path(of: object), .add)
    case .closed(let object):
      superfluous += note(StateTree.path(of: object), .remove)
      if object.collection == .overlays {
        graphics[ID(object.id)] = nil
        graphicOrder[ID(object.id)] = nil
      }
    case .changed(let object, let property):
      superfluous += note(StateTree.path(of: object) + [property.rawValue], .replace)
    case .clock(let property): superfluous += note(["clock", property.rawValue], .replace)
    case .history(let property): superfluous += note(["edit", property.rawValue], .replace)
    case .document(let property): superfluous += note(["document", property.rawValue], .replace)
    case .graphics(let overlay, let edit): superfluous += note(edit, of: overlay)
    }
    if isDirty, !origins.contains(change.origin) { origins.append(change.origin) }
    return superfluous
  }

  private func note(_ path: [String], _ operation: Operation) -> Int {
    if patterns.contains(where: { $0.covers(path) }) { return pend(path, operation) }
    var superfluous = 0
    for (index, pattern) in patterns.enumerated() where pattern.isBelow(path) {
      switch operation {
      case .replace: touchedPatterns.insert(index)
      case .add: superfluous += pend(path, .add)
      case .remove:
        if pending[pointer(path)]?.operation == .add { _ = pend(path, .remove) }
        forgetValues(below: path)
        let gone = removal(pattern, path)
        if told.remove(pointer(gone)) != nil { superfluous += pend(gone, .remove) }
      }
    }
    return superfluous
  }

  private func pend(_ path: [String], _ operation: Operation) -> Int {
    let key = pointer(path)
    switch (pending[key]?.operation, operation) {
    case (nil, .replace):
      // Inside what is added anyway there is nothing to say.
      for length in 1..<max(path.count, 1) where pending[pointer(Array(path.prefix(length)))]?.operation == .add {
        return 1
      }
    case (nil, _): break
    case (.add, .remove):
      forget(below: path)
      pending[key] = nil
      order.removeAll { $0 == key }
      return 2
    case (.add, _), (.replace, .replace): return 1
    case (.remove, .add):
      pending[key] = (path, .replace)
      return 1
    case (_, let later):
      pending[key] = (path, later)
      if later == .remove { forget(below: path) }
      return 1
    }
    if operation == .remove { forget(below: path) }
    pending[key] = (path, operation)
    order.append(key)
    return 0
  }

  /// The place that is removed when the object at `path` goes: as far down as the pattern's names lead. What was below goes
  /// with it.
  private func removal(_ pattern: StatePattern, _ path: [String]) -> [String] {
    var rest = Array(path.prefix(2))
    for segment in pattern.segments.dropFirst(2) {
      guard case .name(let name) = segment else { break }
      rest.append(name)
    }
    return rest
  }

  /// What the client has done itself it knows, though it was not told.
  private func assumeKnown(_ event: Change.Event, _ world: World) {
    switch event {
    case .created(let object): remember(world, below: StateTree.path(of: object))
    case .changed(let object, let property): remember(world, below: StateTree.path(of: object) + [property.rawValue])
    case .graphics(let overlay, _): remember(world, below: ["overlays", overlay.rawValue, "graphics"])
    case .clock, .history, .document: break
    case .closed(let object):
      let path = StateTree.path(of: object)
      forgetValues(below: path)
      for pattern in patterns where pattern.isBelow(path) { told.remove(pointer(removal(pattern, path))) }
    }
  }

  private func forgetValues(below path: [String]) {
    let prefix = pointer(path) + "/"
    if !insideValues.isEmpty { insideValues = insideValues.filter { !$0.key.hasPrefix(prefix) } }
  }

  /// Drops what was noted below a place that is gone.
  private func forget(below path: [String]) {
    let prefix = pointer(path) + "/"
    guard order.contains(where: { $0.hasPrefix(prefix) }) else { return }
    order.removeAll { $0.hasPrefix(prefix) }
    pending = pending.filter { !$0.key.hasPrefix(prefix) }
  }

  private func note(_ edit: GraphicsEdit, of overlay: OverlayID) -> Int {
    let (ids, operation): (GraphicIDs, Operation) =
      switch edit {
      case .added(let ids): (ids, .add)
      case .updated(let ids): (ids, .replace)
      case .removed(let ids): (ids, .remove)
      }
    let container = ["overlays", overlay.rawValue, "graphics"]
    var interested = false
    for (index, pattern) in patterns.enumerated() {
      if pattern.covers(container) || pattern.segments.count == 4 && pattern.isBelow(container) {
        interested = true
      } else if pattern.isBelow(container) {
        touchedPatterns.insert(index)
      }
    }
    // An overlay that is new is told whole.
    guard interested, pending[pointer(["overlays", overlay.rawValue])]?.operation != .add else { return 0 }
    var superfluous = 0
    ids.forEach { id in
      guard patterns.contains(where: { $0.covers(container) || $0.covers(container + [String(id)]) }) else { return }
      switch (graphics[overlay]?[id], operation) {
      case (nil, _):
        graphics[overlay, default: [:]][id] = operation
        graphicOrder[overlay, default: []].append(id)
      case (.add, .remove):
        graphics[overlay]?[id] = nil
        superfluous += 2
        forgetGone(overlay)
      case (.add, _), (.replace, .replace): superfluous += 1
      case (.remove, .add):
        graphics[overlay]?[id] = .replace
        superfluous += 1
      case (_, let later):
        graphics[overlay]?[id] = later
        superfluous += 1
      }
    }
    return superfluous
  }

  /// Drops places in the order that stand for nothing any more, once they are many.
  private func forgetGone(_ overlay: OverlayID) {
    guard let order = graphicOrder[overlay], let noted = graphics[overlay], order.count > 2 * noted.count + 1000
    else { return }
    var seen: Set<Int> = []
    graphicOrder[overlay] = order.filter { noted[$0] != nil && seen.insert($0).inserted }
  }

  func giveUp() -> Bool {
    guard !isLost else { return false }
    // What is on its way goes out all the same.
    if telling != nil, graphics.values.reduce(order.count, { $0 + $1.count }) < Self.mostNoted { return false }
    forgetAll()
    isLost = true
    return true
  }

  private func forgetAll() {
    pending = [:]
    order = []
    graphics = [:]
    graphicOrder = [:]
    touchedPatterns = []
    origins = []
  }

  // MARK: Telling

  /// Tells a snapshot that is too long for one piece, before anything else.
  func tell(_ snapshot: Snapshot) { telling = snapshot.telling(id) }

  func goOn(_ session: Session) -> Bool {
    guard telling?.goOn(session) ?? true else { return false }
    telling = nil
    return true
  }

  func flush(_ world: World, to session: Session) {
    guard isDirty, telling == nil else { return }
    if isLost {
      isLost = false
      base = world.revision
      remember(world)
      let snapshot = Snapshot(patterns, in: world)
      if !snapshot.resync(id, to: session) { tell(snapshot) }
      return
    }
    var entries: [DeltaTelling.Entry] = []
    for key in order {
      guard let (path, operation) = pending[key] else { continue }
      entries += self.entries(path, operation, world)
    }
    for index in touchedPatterns.sorted() { entries += entriesInside(patterns[index], world) }
    for overlay in graphicOrder.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard let store = world.overlays[overlay]?.store, let ids = graphicOrder[overlay] else { continue }
      let items = ids.compactMap { id in graphics[overlay]?.removeValue(forKey: id).map { (id: id, operation: $0) } }
      guard !items.isEmpty else { continue }
      remember(items, of: overlay, store)
      entries.append(.graphics(["overlays", overlay.rawValue, "graphics"], store, items))
    }
    if !entries.isEmpty {
      telling = DeltaTelling(id, base: base, revision: world.revision, origins: origins, entries)
      base = world.revision
    }
    forgetAll()
  }

  private func entries(_ path: [String], _ operation: Operation, _ world: World) -> [DeltaTelling.Entry] {
    guard operation != .remove else { return [.remove(pointer(path))] }
    guard patterns.contains(where: { $0.covers(path) }) else {
      // Something new above what is followed: the places in it.
      var entries: [DeltaTelling.Entry] = []
      for pattern in patterns where pattern.isBelow(path) {
        for (place, node) in places(of: pattern, in: world) where place.starts(with: path) {
          entries += StatePiece.pieces(place, node).map { .write(.add, $0) }
          remember(place, node, pattern)
        }
      }
      return entries
    }
    guard let node = StateTree.node(at: path, in: world) else { return [] }
    return StatePiece.pieces(path, node).enumerated().map { .write($0 == 0 ? operation : .add, $1) }
  }

  /// Places inside values: told when they differ from what was last told.
  private func entriesInside(_ pattern: StatePattern, _ world: World) -> [DeltaTelling.Entry] {
    var now: Set<String> = []
    var entries: [DeltaTelling.Entry] = []
    for (path, node) in places(of: pattern, in: world) where isInsideValue(path) {
      let key = pointer(path)
      now.insert(key)
      let text = Self.text(node)
      guard insideValues[key] != text else { continue }
      entries.append(.write(insideValues[key] == nil ? .add : .replace, .value(path) { $0.raw(text) }))
      remember(path, node, pattern)
    }
    // From the end, so that no place of a list moves before it is removed.
    for key in insideValues.keys.sorted(by: >) where !now.contains(key) && pattern.covers(StatePattern.names(of: key)) {
      entries.append(.remove(key))
      insideValues[key] = nil
      told.remove(key)
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
      var known: Set<String> = []
      for (place, node) in places(of: pattern, in: world) where place.starts(with: path) {
        known.insert(pointer(place))
        remember(place, node, pattern)
      }
      for key in insideValues.keys where !known.contains(key) {
        let names = StatePattern.names(of: key)
        if names.starts(with: path), pattern.covers(names) { insideValues[key] = nil }
      }
    }
  }

  /// Takes graphics for known that a delta tells of and that are followed one by one.
  private func remember(_ items: [(id: Int, operation: Operation)], of overlay: OverlayID, _ store: FeatureStore) {
    let container = ["overlays", overlay.rawValue, "graphics"]
    let single = patterns.filter { $0.segments.count == 4 && !isFollowedAbove($0, container) }
    guard !single.isEmpty else { return }
    let prefix = pointer(container) + "/"
    for (id, operation) in items {
      let path = container + [String(id)]
      let isThere = operation != .remove && store.contains(id: id)
      for pattern in single where pattern.covers(path) {
        let place = pointer(removal(pattern, path))
        if isThere { told.insert(place) } else if place.hasPrefix(prefix) { told.remove(place) }
      }
    }
  }

  private func remember(_ path: [String], _ node: StateNode, _ pattern: StatePattern) {
    told.insert(pointer(removal(pattern, path)))
    if isInsideValue(path) { insideValues[pointer(path)] = Self.text(node) }
  }

  /// The places of a pattern, but for those that a shorter one shows anyway.
  private func places(of pattern: StatePattern, in world: World) -> [(path: [String], node: StateNode)] {
    StateTree.places(of: pattern, in: world).filter { !isFollowedAbove(pattern, $0.path) }
  }

  private func isFollowedAbove(_ pattern: StatePattern, _ path: [String]) -> Bool {
    patterns.contains { $0.segments.count < pattern.segments.count && $0.covers(path) }
  }

  /// Whether changes of the place are not noted by its path, but by that of the value it is in.
  private func isInsideValue(_ path: [String]) -> Bool {
    path.count > 4 || path.count == 4 && !(path[0] == Collection.overlays.rawValue && path[2] == "graphics")
  }

  private static func text(_ node: StateNode) -> String {
    var writer = JSONWriter(capacity: 64)
    node.write(to: &writer)
    return writer.string
  }
}
