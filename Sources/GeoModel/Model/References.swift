// Which objects refer to which, and which move: so that a command need not scan all objects for them.

import Geometry
import HashTreeCollections

/// An index of references by the id that they name. A persistent tree makes the copy at the beginning of a command O(1).
struct References: Sendable {
  private var referrers: TreeDictionary<Text, TreeSet<ObjectReference>> = [:]
  /// Views with an animation, and location sources that run.
  private(set) var moving: TreeSet<ObjectReference> = []

  /// Updates the index for an object that was inserted (no `old`), changed, or removed (no `new`).
  mutating func update<E: Entity>(_ old: E?, _ new: E?) {
    guard E.isIndexed, let id = new?.id ?? old?.id else { return }
    let object = ObjectReference(E.collection, id.rawValue)
    let (before, now) = (old?.references ?? [], new?.references ?? [])
    if before != now {
      for id in Self.ids(before, without: now) { remove(object, from: id) }
      for id in Self.ids(now, without: before) { add(object, to: id) }
    }
    let (moved, moves) = (old?.isMoving ?? false, new?.isMoving ?? false)
    if moves, !moved { moving.insert(object) }
    if moved, !moves { moving.remove(object) }
  }

  private static func ids(_ ids: [Text], without others: [Text]) -> [Text] {
    others.isEmpty ? ids : Array(Set(ids).subtracting(others))
  }

  mutating func add(_ object: ObjectReference, to id: Text) { referrers[id, default: []].insert(object) }

  mutating func remove(_ object: ObjectReference, from id: Text) {
    Self.remove(object, from: &referrers[id])
  }

  private static func remove(_ object: ObjectReference, from referrers: inout TreeSet<ObjectReference>?) {
    referrers?.remove(object)
    if referrers?.isEmpty == true { referrers = nil }
  }

  /// The objects that refer to an id, in no order.
  func all(to id: Text) -> TreeSet<ObjectReference> { referrers[id] ?? [] }
}

extension World {
  /// The objects of one kind that refer to an object, in the order of creation.
  ///
  /// - Complexity: O(k log k) for the k objects of all kinds that refer to it.
  func referrers<E: Entity>(to object: ObjectReference, of kind: E.Type) -> [ID<E>] {
    let referrers = references.all(to: object.text)
    guard !referrers.isEmpty else { return [] }
    let registry = self[keyPath: E.registry]
    return referrers.lazy.filter { $0.collection == E.collection }
      .compactMap { referrer in registry.number(of: ID(referrer.id)).map { (number: $0, id: ID<E>(referrer.id)) } }
      .sorted { $0.number < $1.number }.map(\.id)
  }

  /// The objects of one kind that move, in the order of creation.
  func moving<E: Entity>(_ kind: E.Type) -> [ID<E>] {
    let registry = self[keyPath: E.registry]
    return references.moving.lazy.filter { $0.collection == E.collection }
      .compactMap { object in registry.number(of: ID(object.id)).map { (number: $0, id: ID<E>(object.id)) } }
      .sorted { $0.number < $1.number }.map(\.id)
  }

  /// Whether an animation or a location source runs, so that ticks are needed.
  public var isMoving: Bool { !references.moving.isEmpty }
}
