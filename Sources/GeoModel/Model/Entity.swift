// What all objects of the model have in common, so that there is one way to change any of them.

import Geometry
import Query

/// An object that has an id and remembers the revision of its last change, or of one below it.
public protocol Entity: Sendable {
  static var collection: Collection { get }
  /// Where the world holds objects of the kind.
  static var registry: WritableKeyPath<World, Registry<Self>> & Sendable { get }
  /// The table of its members.
  static var members: [Member<Self>] { get }
  /// The members that changes are told of, by their names in the state tree.
  static var observed: [Observed<Self>] { get }
  /// Whether undo brings such objects back and takes them away.
  static var isUndoable: Bool { get }

  var id: ID<Self> { get }
  var revision: Int { get set }
  /// The object that this one lies in: a change here counts for it too.
  var parent: ObjectReference? { get }
  /// This object without its contents, to be kept as what was; contents have reversals of their own.
  var memento: Self { get }
  /// Memory that keeping it takes, in bytes, roughly.
  var byteCount: Int { get }

  /// This earlier state with the contents that are in `current`.
  func rolledBack(from current: Self) -> Self
  /// This earlier state with all that undo leaves alone as it is in `current`.
  func undone(from current: Self) -> Self
  /// This object as it comes back after it was removed.
  var restoredAfterRemoval: Self { get }
  /// This object, as undo is about to make it, without what leads to objects that are gone for good.
  func withoutDanglingReferences(in world: World) -> Self
  /// Whether all is there without which it cannot be, now that undo is about to bring it back.
  func canReturn(to world: World) -> Bool
  /// Why a member of the kind cannot be set of this object, which does not have it.
  func refusal(of property: Property) -> ModelError
  /// Takes an edit of the contents back, wholly.
  mutating func rollBackContents(_ undoRecord: StoreUndoRecord)
}

extension Entity {
  public static var members: [Member<Self>] { [] }
  public static var isUndoable: Bool { true }
  public var parent: ObjectReference? { nil }
  public var memento: Self { self }
  public var byteCount: Int { 1024 }
  public var reference: ObjectReference { ObjectReference(Self.collection, id.rawValue) }

  public func rolledBack(from current: Self) -> Self { self }
  public func undone(from current: Self) -> Self {
    var result = rolledBack(from: current)
    result.revision = current.revision
    return result
  }
  public var restoredAfterRemoval: Self { self }
  public func withoutDanglingReferences(in world: World) -> Self { self }
  public func canReturn(to world: World) -> Bool { true }
  public func refusal(of property: Property) -> ModelError { .unknownMember(property.rawValue, allowed: []) }
  public mutating func rollBackContents(_ undoRecord: StoreUndoRecord) {}
}

/// A member of an object, and how two states of it are told apart.
public struct Observed<Element>: Sendable {
  let property: Property
  let differs: @Sendable (Element, Element) -> Bool

  static func all(_ members: [Member<Element>]) -> [Observed<Element>] where Element: Entity {
    members.compactMap { member in member.differs.map { Observed(member.property, differs: $0) } }
  }

  init(_ property: Property, differs: @escaping @Sendable (Element, Element) -> Bool) {
    self.property = property
    self.differs = differs
  }

  init<Value: Equatable & SendableMetatype>(_ property: Property, _ value: @escaping @Sendable (Element) -> Value) {
    self.init(property) { value($0) != value($1) }
  }
}
