// Indexes of references between objects and of moving objects, so that commands need not scan all objects for them.

import Geometry
import HashTreeCollections

/// An index of references by the id that they name. A persistent tree makes the copy at the beginning of a command O(1).
struct References: Sendable {
  private var referrers: TreeDictionary<Text, Referrers> = [:]
  /// Views with an animation, and running location sources.
  private(set) var moving = Referrers()
  /// Sources that follow a file.
  private(set) var feeding = Referrers()

  /// Updates the index for an object that was inserted (no `old`), changed, or removed (no `new`).
  mutating func update<E: Entity>(_ old: E?, _ new: E?, at number: Int) {
    guard E.isIndexed, let id = new?.id ?? old?.id else { return }
    let object = ObjectReference(E.collection, id.rawValue)
    if let old, let new, new.refersTo(sameAs: old) {
      // Views move often, and lists of references would be made for each frame.
    } else {
      let (before, now) = (Self.all(of: old), Self.all(of: new))
      if before != now {
        for id in Self.ids(before, without: now) { Self.remove(number, from: &referrers[id]) }
        for id in Self.ids(now, without: before) { referrers[id, default: Referrers()].insert(object, at: number) }
      }
    }
    let (moved, moves) = (old?.isMoving ?? false, new?.isMoving ?? false)
    if moves, !moved { moving.insert(object, at: number) }
    if moved, !moves { moving.remove(at: number) }
    let (fed, feeds) = (old?.wantedFeed != nil, new?.wantedFeed != nil)
    if feeds, !fed { feeding.insert(object, at: number) }
    if fed, !feeds { feeding.remove(at: number) }
  }

  private static func all(of object: (some Entity)?) -> [Text] {
    guard let object else { return [] }
    return object.owner.map { [$0.text] + object.references } ?? object.references
  }

  private static func ids(_ ids: [Text], without others: [Text]) -> [Text] {
    others.isEmpty ? ids : Array(Set(ids).subtracting(others))
  }

  private static func remove(_ number: Int, from referrers: inout Referrers?) {
    referrers?.remove(at: number)
    if referrers?.isEmpty == true { referrers = nil }
  }

  /// The objects that refer to an id.
  func all(to id: Text) -> Referrers { referrers[id] ?? Referrers() }
}

extension World {
  /// The objects of one kind that refer to an object, in the order of creation.
  ///
  /// - Complexity: O(k log k) for the k objects of all kinds that refer to it.
  func referrers<E: Entity>(to object: ObjectReference, of kind: E.Type) -> [ID<E>] {
    references.all(to: object.text).ids(of: kind)
  }

  /// The objects of one kind that move, in the order of creation.
  func moving<E: Entity>(_ kind: E.Type) -> [ID<E>] { references.moving.ids(of: kind) }

  /// The objects of one kind that follow a file, in the order of creation.
  func feeding<E: Entity>(_ kind: E.Type) -> [ID<E>] { references.feeding.ids(of: kind) }

  /// Whether an animation or a location source runs, so that ticks are needed.
  public var isMoving: Bool { !references.moving.isEmpty }
}
