// The objects that refer to one id, by their numbers.

import HashTreeCollections

/// Objects by number: a list if there are few, as for most ids, else a persistent tree.
struct Referrers: Sendable {
  /// Maximum length of the list.
  private static let limit = 16

  /// In ascending order; empty if `many` is in use.
  private var few: [(number: Int, object: ObjectReference)] = []
  private var many: TreeDictionary<CreationNumber, ObjectReference> = [:]

  var isEmpty: Bool { few.isEmpty && many.isEmpty }

  /// - Complexity: O(log n).
  mutating func insert(_ object: ObjectReference, at number: Int) {
    guard many.isEmpty else {
      many[CreationNumber(number)] = object
      return
    }
    let index = few.firstIndex { $0.number >= number } ?? few.count
    if index < few.count, few[index].number == number {
      few[index].object = object
    } else if few.count < Self.limit {
      few.insert((number, object), at: index)
    } else {
      for (number, object) in few { many[CreationNumber(number)] = object }
      many[CreationNumber(number)] = object
      few = []
    }
  }

  /// - Complexity: O(log n).
  mutating func remove(at number: Int) {
    if many.isEmpty { few.removeAll { $0.number == number } } else { many[CreationNumber(number)] = nil }
  }

  func contains(where holds: (ObjectReference) -> Bool) -> Bool {
    few.contains { holds($0.object) } || many.values.contains(where: holds)
  }

  /// The ids of the objects of one kind, in the order of creation.
  ///
  /// - Complexity: O(n log n), where n counts objects of all kinds.
  func ids<E: Entity>(of kind: E.Type) -> [ID<E>] {
    if many.isEmpty { return few.lazy.filter { $0.object.collection == E.collection }.map { ID($0.object.id) } }
    return many.lazy.filter { $0.value.collection == E.collection }.sorted { $0.key < $1.key }.map { ID($0.value.id) }
  }
}
