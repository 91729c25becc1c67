// The ids that a session has used: none is minted twice, and none is used twice within a document.

import HashTreeCollections

/// Persistent trees make the copy at the beginning of a command O(1).
struct UsedIDs: Sendable {
  /// Ids in use in the document, by living and removed objects.
  private(set) var taken: TreeSet<String> = []
  /// Ids of earlier documents. Clients may choose them again; the server mints none of them.
  private var retired: [TreeSet<String>] = []
  private var minted = 0

  func isTaken(_ id: String) -> Bool { taken.contains(id) }

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

  /// Frees the ids of another document, from which the session goes on to this one: no undo can restore its objects.
  mutating func replace(_ other: UsedIDs) {
    retired = other.retired
    minted = max(minted, other.minted)
    // Large sets are kept apart: joining them would hold up the loop.
    if let last = retired.indices.last, other.taken.count < 1000 {
      retired[last].formUnion(other.taken)
    } else {
      retired.append(other.taken)
    }
  }
}

extension World {
  /// Returns the id for a new object: `wanted`, if the document has never used it, or a minted one.
  mutating func claim<Element: Entity>(_ wanted: ID<Element>?, prefix: String) throws(ModelError) -> ID<Element> {
    if let wanted {
      guard usedIDs.take(wanted.rawValue) else { throw .idExists(wanted.rawValue) }
      return wanted
    }
    return ID(mint(prefix))
  }

  /// Returns an id that the session has never used.
  mutating func mint(_ prefix: String) -> String { usedIDs.mint(prefix) }

  /// Takes the id of an object that is read from a document.
  mutating func reclaim(_ id: String) { usedIDs.take(id) }

  /// Throws `idExists` if a new object cannot have this id. Called before other checks, so that this error wins.
  public func checkFree<Element: Entity>(_ wanted: ID<Element>?) throws(ModelError) {
    if let wanted, usedIDs.isTaken(wanted.rawValue) { throw .idExists(wanted.rawValue) }
  }
}
