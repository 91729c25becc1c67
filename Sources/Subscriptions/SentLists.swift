// The model's lists as of the last recorded changes: list deltas are computed against them.

import GeoModel
import Geometry
import StateTree

/// The properties that are sent as steps, of all observed kinds of objects: one copy for all subscriptions, kept while there are
/// any.
struct SentLists {
  private var lists: [ObjectReference: [Text: SentList]] = [:]
  private var kept: Set<Collection> = []
  /// Collections with objects whose lists are not kept yet. Until they are, a list that changes is sent whole.
  private var waiting: [World.IDCursor] = []
  /// Objects whose lists are added in one turn: 2 to 3 ms.
  private static let objectsAtOnce = 200
  /// Lists of the previous document's objects, for ``takeReplaced()``: freeing many takes long.
  private var replaced: [ObjectReference: [Text: SentList]] = [:]

  var isComplete: Bool { waiting.isEmpty }

  /// Keeps the lists in `world` of objects that the patterns reach: of the first objects now, of further ones in
  /// ``keepMore(_:)``.
  mutating func keep(_ patterns: [StatePattern], _ world: World) {
    for collection in Collection.allCases where !kept.contains(collection) {
      guard patterns.contains(where: { $0.segments.first?.matches(Text(collection.rawValue)) ?? true }) else {
        continue
      }
      kept.insert(collection)
      waiting.append(World.IDCursor(collection))
    }
    reserve(world)
    keepMore(world)
  }

  /// Reserves room for all lists, because growing a large dictionary would block the loop.
  private mutating func reserve(_ world: World) {
    lists.reserveCapacity(kept.reduce(0) { $0 + world.count(of: $1) })
  }

  /// Adds the lists of further objects.
  ///
  /// - Parameter world: a world whose changes have all been recorded.
  mutating func keepMore(_ world: World) {
    var left = Self.objectsAtOnce
    while left > 0, var cursor = waiting.popLast() {
      let ids = cursor.next(left, in: world)
      for id in ids { keep(ObjectReference(cursor.collection, id), world) }
      if ids.count == left { waiting.append(cursor) }
      left -= ids.count
    }
  }

  /// Replaces the lists of the previous document's objects by those of the new ones.
  private mutating func restart(_ world: World) {
    replaced = lists
    lists = [:]
    waiting = Collection.allCases.filter(kept.contains).map(World.IDCursor.init)
    reserve(world)
    keepMore(world)
  }

  mutating func takeReplaced() -> [ObjectReference: [Text: SentList]] {
    defer { replaced = [:] }
    return replaced
  }

  mutating func drop() { self = SentLists() }

  private mutating func keep(_ object: ObjectReference, _ world: World) {
    var known: [Text: SentList] = [:]
    for (name, node) in StateTree.lists(of: object, in: world) { known[Text(name)] = SentList(node) }
    if !known.isEmpty { lists[object] = known }
  }

  /// The list at a path before the changes that are being recorded; nil if the value is not sent as steps.
  func list(at path: ModelPath) -> SentList? {
    guard path.names.count > 2, !lists.isEmpty, let object = path.object else { return nil }
    return lists[object]?[path.names[2]]
  }

  /// Updates the lists that have changed.
  mutating func update(_ changes: [Change], _ world: World) {
    guard !kept.isEmpty else { return }
    for change in changes {
      switch change.event {
      case .replaced: restart(world)
      case .created(let object): if kept.contains(object.collection) { keep(object, world) }
      case .closed(let object): lists[object] = nil
      case .changed(let object, let property):
        guard lists[object]?[Text(property.rawValue)] != nil else { continue }
        lists[object]?[Text(property.rawValue)] = SentList(StateTree.node(at: change.event.path, in: world))
      case .member(let object, let name):
        guard kept.contains(object.collection) else { continue }
        // The value of a client's member may become a list, or stop being one.
        lists[object, default: [:]][Text(name)] = SentList(StateTree.node(at: change.event.path, in: world))
      case .clock, .history, .document, .graphics, .entities: break
      }
    }
  }
}
