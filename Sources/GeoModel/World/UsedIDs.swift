// The ids used in a session: none is minted twice, and clients may reuse those of closed objects.

import Geometry
import HashTreeCollections

/// The ids used so far. Persistent trees make the copy at the beginning of a command O(1).
struct UsedIDs: Sendable {
  /// Ids that the document has used, of living and closed objects.
  private(set) var taken: TreeSet<String> = []
  /// Ids of earlier documents. Clients may reuse them; the server mints none of them.
  private var retired: [TreeSet<String>] = []
  private var minted = 0

  func wasUsed(_ id: String) -> Bool { taken.contains(id) }

  /// - Returns: whether the document had not used the id.
  @discardableResult
  mutating func take(_ id: String) -> Bool { taken.insert(id).inserted }

  /// An id that the session has never used.
  mutating func mint(_ prefix: String) -> String {
    while true {
      minted += 1
      let id = prefix + String(minted)
      if !retired.contains(where: { $0.contains(id) }), take(id) { return id }
    }
  }

  /// Frees the ids of the document that this one replaces: no undo can restore its objects.
  mutating func replace(_ other: UsedIDs) {
    retired = other.retired
    minted = max(minted, other.minted)
    // Large sets are kept apart, since joining them would block the loop.
    if let last = retired.indices.last, other.taken.count < 1000 {
      retired[last].formUnion(other.taken)
    } else {
      retired.append(other.taken)
    }
  }
}

extension World {
  /// Returns the id for a new object: `wanted`, if it is free, or a minted one.
  mutating func claim<Element: Entity>(_ wanted: ID<Element>?, prefix: String) throws(ModelError) -> ID<Element> {
    guard let wanted else { return ID(mint(prefix)) }
    try checkFree(wanted)
    usedIDs.take(wanted.rawValue)
    return wanted
  }

  /// Returns an id that the session has never used.
  mutating func mint(_ prefix: String) -> String { usedIDs.mint(prefix) }

  /// Takes the id of an object that was read from a document.
  mutating func reclaim(_ id: String) { usedIDs.take(id) }

  /// Throws `idExists` if a new object cannot have this id. Called before other checks, so that this error has precedence.
  ///
  /// The id of a closed object is free, because undo reverts the creation of the later object before it restores the earlier one.
  /// Objects whose creation is not a step cannot have an id that undo or redo would restore.
  ///
  /// - Complexity: O(1) for an id that the document has not used.
  public mutating func checkFree<Element: Entity>(_ wanted: ID<Element>?) throws(ModelError) {
    guard let id = wanted?.rawValue, usedIDs.wasUsed(id) else { return }
    if let holder = holder(of: id) { throw .idExists(id, holder: holder, isClosed: false) }
    guard !Element.isUndoable || Element.collection == .links else { return }
    let restorable = Collection.allCases.filter { $0.hasUniqueIDs && $0.kind.isUndoable && $0 != .links }
      .map { ObjectReference($0, id) }
    if let closed = restorable.first(where: { history.remembers($0) }) {
      throw .idExists(id, holder: closed.collection.noun, isClosed: true)
    }
  }

  /// The noun of the object with an id; nil if the id is free.
  public func holder(of id: String) -> String? {
    if let object = find(id) { return object.collection.noun }
    return references.all(to: Text(id)).contains { $0.collection == .scenes } ? "elevationSource" : nil
  }
}
