// Which objects refer to which, and which move: so that a command need not scan all objects for them.

import Geometry
import HashTreeCollections

/// An index of references by the id that they name, those to one id by the numbers of the objects that refer to it. A persistent tree makes the copy at the beginning of a command O(1).
struct References: Sendable {
  private var referrers: TreeDictionary<Text, Numbers> = [:]
  /// Views with an animation, and location sources that run.
  private(set) var moving: Numbers = [:]

  typealias Numbers = TreeDictionary<CreationNumber, ObjectReference>

  /// Updates the index for an object that was inserted (no `old`), changed, or removed (no `new`).
  mutating func update<E: Entity>(_ old: E?, _ new: E?, at number: Int) {
    guard E.isIndexed, let id = new?.id ?? old?.id else { return }
    let object = ObjectReference(E.collection, id.rawValue)
    let number = CreationNumber(number)
    let (before, now) = (old?.references ?? [], new?.references ?? [])
    if before != now {
      for id in Self.ids(before, without: now) { Self.remove(number, from: &referrers[id]) }
      for id in Self.ids(now, without: before) { referrers[id, default: [:]][number] = object }
    }
    let (moved, moves) = (old?.isMoving ?? false, new?.isMoving ?? false)
    if moves != moved { moving[number] = moves ? object : nil }
  }

  private static func ids(_ ids: [Text], without others: [Text]) -> [Text] {
    others.isEmpty ? ids : Array(Set(ids).subtracting(others))
  }

  private static func remove(_ number: CreationNumber, from referrers: inout Numbers?) {
    referrers?[number] = nil
    if referrers?.isEmpty == true { referrers = nil }
  }

  /// The objects that refer to an id.
  func all(to id: Text) -> Numbers { referrers[id] ?? [:] }
}

extension References.Numbers {
  /// The ids of the objects of one kind, in the order of creation.
  fileprivate func ids<E: Entity>(of kind: E.Type) -> [ID<E>] {
    lazy.filter { $0.value.collection == E.collection }.sorted { $0.key < $1.key }.map { ID($0.value.id) }
  }
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

  /// Whether an animation or a location source runs, so that ticks are needed.
  public var isMoving: Bool { !references.moving.isEmpty }
}
