// Replacement of the document: which subscriptions get the differences of its objects, and which a fresh snapshot.

import GeoModel
import StateTree

extension Subscribers {
  /// Maximum number of objects, old and new, that are compared one by one: about 10 ms.
  private static let maxCompared = 500

  /// The changes, with a change for each observed object inserted after the replacement of the document.
  ///
  /// Subscriptions to collections with too many objects to compare without blocking the loop get a snapshot instead.
  package mutating func expanded(_ changes: [Change], from before: World, to world: World) -> [Change] {
    guard count > 0 else { return changes }
    let (whole, named) = observed
    let compared = compared(of: whole, before, world)
    for entry in entries.values
    where entry.subscriber.interests.contains(where: { Self.isWhole($0, whole.subtracting(compared)) }) {
      entry.subscriber.resync()
      entry.recordedAt = nil
      resyncs += 1
      markDirty(entry.number)
    }
    return changes.flatMap { change in
      guard case .replaced = change.event else { return [change] }
      return [change]
        + world.replacement(of: before, by: change) { collection in
          compared.contains(collection) ? .all : named[collection].map { .named($0) } ?? .none
        }
    }
  }

  /// The collections that are observed whole, and the objects that are observed by their ids.
  private var observed: (whole: Set<Collection>, named: [Collection: Set<String>]) {
    var whole: Set<Collection> = []
    var named: [Collection: Set<String>] = [:]
    for pattern in entries.values.flatMap(\.subscriber.interests) {
      if let object = pattern.object {
        named[object.collection, default: []].insert(object.id)
      } else {
        whole.formUnion(Collection.allCases.filter { Self.isWhole(pattern, [$0]) })
      }
    }
    return (whole, named)
  }

  /// Whether a pattern leads to all objects of one of the collections.
  private static func isWhole(_ pattern: StatePattern, _ collections: Set<Collection>) -> Bool {
    guard pattern.object == nil else { return false }
    guard case .name(let name)? = pattern.segments.first else { return !collections.isEmpty }
    return Collection(rawValue: name.string).map(collections.contains) ?? false
  }

  /// The smallest collections whose objects together do not exceed ``maxCompared``.
  private func compared(of whole: Set<Collection>, _ before: World, _ world: World) -> Set<Collection> {
    var left = Self.maxCompared
    let counts = whole.map { (collection: $0, count: before.count(of: $0) + world.count(of: $0)) }
    return Set(
      counts.sorted { $0.count < $1.count }.prefix { each in
        left -= each.count
        return left >= 0
      }.map(\.collection))
  }
}
