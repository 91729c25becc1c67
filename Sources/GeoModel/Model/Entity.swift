// The protocol of all objects of the model, so that generic code can change any of them.

import Geometry

/// An object with an id, which stores the revision of its last change or that of a descendant.
public protocol Entity: Sendable {
  static var collection: Collection { get }
  /// The registry of the world that holds objects of the kind.
  static var registry: WritableKeyPath<World, Registry<Self>> & Sendable { get }
  /// The table of the kind's members; empty if clients name them. There is no default, so no kind can forget it.
  static var members: [Member<Self>] { get }
  /// Whether undo restores and removes objects of the kind.
  static var isUndoable: Bool { get }

  var id: ID<Self> { get }
  var revision: Int { get set }
  /// The object that closes this one when it closes; nil for the session, and for kinds without owners.
  var owner: ObjectReference? { get }
  /// Whether objects of the kind have an owner, refer to others, or move.
  static var isIndexed: Bool { get }
  /// Whether ``references`` and ``owner`` are equal, as far as that is known without making them. False by default.
  func refersTo(sameAs other: Self) -> Bool
  /// The ids of objects, other than its owner, whose closing or change closes or changes this one: those that it shows, reads or
  /// leads to. May contain other ids.
  var references: [Text] { get }
  /// Whether the object closes when another one does.
  func closes(with object: ObjectReference) -> Bool
  /// Whether the clock changes the object: it runs an animation or emits locations.
  var isMoving: Bool { get }
  /// The file that the object wants to follow now.
  var wantedFeed: FeedFile? { get }
  /// The object that contains this one: a change here also counts as a change there.
  var parent: ObjectReference? { get }
  /// The object without its contents, to be kept for undo. Contents have undo records of their own.
  var memento: Self { get }
  /// Memory of the memento, in bytes, estimated.
  var byteCount: Int { get }

  /// The object in a world. This and the following are requirements, not extension methods, so that specialized code runs even
  /// where the kind is only known at run time.
  static func current(_ id: ID<Self>, in world: World) -> Self?
  /// The object's number, which is its position in the order of creation.
  static func number(of id: String, in world: World) -> Int?
  static func revision(of id: String, in world: World) -> Int?
  /// The members of an object; nil if there is no such object.
  static func members(of id: String, in world: World) -> ObjectMembers?
  /// The number of graphics or other items of an object that are sent in portions; for all objects of the kind if nil.
  static func itemCount(of id: String?, in world: World) -> Int
  /// Closes the objects that close with another one.
  static func closeAll(with object: ObjectReference, in world: inout World)
  /// Closes an object as its method does.
  static func close(_ id: ID<Self>, in world: inout World) throws(ModelError)
  /// Sets its revision, and that of its ancestors, to the world's.
  static func touch(_ id: String, in world: inout World)
  /// Removes the object that was inserted with a number, if it still exists.
  static func undoInsertion(of id: ID<Self>, at number: Int, in world: inout World)
  /// Inserts an object that was removed, with its earlier number.
  static func undoRemoval(of element: Self, at number: Int, in world: inout World)
  /// Whether two states differ in a member.
  static func differ(_ first: Self, _ second: Self) -> Bool
  /// This memento with the contents of `current`: the exact earlier state.
  func rolledBack(from current: Self) -> Self
  /// This memento with the parts that undo leaves alone taken from `current`.
  func undone(from current: Self) -> Self
  /// Names of the individually settable values that differ between two states.
  static func settableChanges(from before: Self, to after: Self) -> Set<Text>
  /// This state with the individually settable values of `current`, except those with one of the names.
  func keepingSettable(of current: Self, except names: Set<Text>) -> Self
  /// The object as undo restores it after its removal.
  var restoredAfterRemoval: Self { get }
  /// The object without dangling references, as undo restores it.
  func withoutDanglingReferences(in world: World) -> Self
  /// The objects, apart from its parent, without which undo does not restore it.
  var requirements: [ObjectReference] { get }
  /// The error for setting a member that this object does not have.
  func refusal(of member: String) -> ModelError
}

extension Entity {
  public static var isIndexed: Bool { true }
  public func refersTo(sameAs other: Self) -> Bool { false }
  public var references: [Text] { [] }
  public func closes(with object: ObjectReference) -> Bool { owner == object }
  public var isMoving: Bool { false }
  public var wantedFeed: FeedFile? { nil }
  public var parent: ObjectReference? { owner }
  public var memento: Self { self }
  public var byteCount: Int { 1024 }
  public var reference: ObjectReference { ObjectReference(Self.collection, id.rawValue) }

  public static func current(_ id: ID<Self>, in world: World) -> Self? { world[keyPath: registry][id] }
  public static func number(of id: String, in world: World) -> Int? { world[keyPath: registry].number(of: ID(id)) }
  public static func revision(of id: String, in world: World) -> Int? {
    world[keyPath: registry].read(ID(id)) { $0.pointee.revision }
  }
  public static func members(of id: String, in world: World) -> ObjectMembers? {
    world[keyPath: registry][ID(id)].map { object in
      ObjectMembers { isMeant in
        members.filter { isMeant($0.shape) && $0.isMember(of: object) }.map(\.name)
      } member: { name in
        guard let member = members.first(where: { Text($0.name) == Text(name) }) else { return nil }
        return member.value(of: object, in: world).map { ($0, member.shape) }
      }
    }
  }
  public static func itemCount(of id: String?, in world: World) -> Int { 0 }
  public static func closeAll(with object: ObjectReference, in world: inout World) {
    for id in world.referrers(to: object, of: Self.self) {
      if world[keyPath: registry].read(id, { $0.pointee.closes(with: object) }) == true { try? close(id, in: &world) }
    }
  }
  public static func close(_ id: ID<Self>, in world: inout World) throws(ModelError) {
    _ = try world[keyPath: registry].require(id)
    world.remove(id)
  }
  public static func touch(_ id: String, in world: inout World) { world.touch(ID<Self>(id)) }
  public static func undoInsertion(of id: ID<Self>, at number: Int, in world: inout World) {
    guard world[keyPath: registry].number(of: id) == number else { return }
    world.closeViews(showing: ObjectReference(collection, id.rawValue))
    world.remove(id)
  }
  public static func undoRemoval(of element: Self, at number: Int, in world: inout World) {
    world.insert(element.restoredAfterRemoval.withoutDanglingReferences(in: world), at: number)
  }
  public static func differ(_ first: Self, _ second: Self) -> Bool {
    members.contains { $0.differs?(first, second) == true }
  }
  public func rolledBack(from current: Self) -> Self { self }
  public func undone(from current: Self) -> Self {
    var result = rolledBack(from: current)
    result.revision = current.revision
    return result
  }
  public var restoredAfterRemoval: Self { self }
  public func withoutDanglingReferences(in world: World) -> Self { self }
  public var requirements: [ObjectReference] { [] }
  public func refusal(of member: String) -> ModelError { .unknownMember(member, allowed: []) }
}

/// The members of an object of any kind, by name.
public struct ObjectMembers {
  /// The names of the members whose shape satisfies the condition, in order.
  public let names: (_ isMeant: (MemberShape) -> Bool) -> [String]
  /// A member; nil if there is none with the name.
  public let member: (_ name: String) -> (value: MemberValue, shape: MemberShape)?
}
