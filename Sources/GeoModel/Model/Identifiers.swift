// Object ids: one type per kind of object, so that a view's id cannot be passed as a map's.

import Geometry

/// The id of an object of one kind. Ids are unique among all objects of the session.
public struct ID<Entity>: Hashable, Sendable, CustomStringConvertible {
  /// The text, compared by code points.
  @usableFromInline let text: Text
  public init(_ rawValue: String) { text = Text(rawValue) }
  public var rawValue: String { text.string }
  public var description: String { rawValue }
}

/// A process in model time that ends by an event: an animation, or the start of a location source.
public struct ProcessID: Hashable, Sendable {
  let rawValue: Int
}

extension Collection {
  /// Whether undo restores the objects.
  public var isUndoable: Bool { kind.isUndoable }
}

/// A reference to an object of any kind.
public struct ObjectReference: Hashable, Sendable {
  public let collection: Collection
  let text: Text
  public init(_ collection: Collection, _ id: String) {
    self.collection = collection
    text = Text(id)
  }
  public var id: String { text.string }

  /// Hashes the id alone: ids nearly always differ, and the collection would be hashed as its text on the wire.
  public func hash(into hasher: inout Hasher) { text.hash(into: &hasher) }
}
