// Bindings, which are handles to a place, and links, which keep two places equal.

import Query

public typealias BindingID = ID<Binding>
public typealias LinkID = ID<Link>

/// A handle to a property or a part of a value, or to a constant. Not undone.
public struct Binding: Entity {
  public enum Target: Sendable {
    case path(ModelPath)
    case constant(Value)
  }

  public static let collection = Collection.bindings
  public static var registry: WritableKeyPath<World, Registry<Binding>> & Sendable { \.bindings }
  public static let isUndoable = false

  public let id: BindingID
  public var revision = 0
  public let target: Target
  public let isReadOnly: Bool
  /// The object with which it goes; nil for the session.
  public let owner: ObjectReference?

  public var parent: ObjectReference? { owner }

  /// The place that it leads to; nil for a constant.
  public var path: ModelPath? { if case .path(let path) = target { path } else { nil } }
}

/// Two places that follow one another. It comes and goes with the step in which it was made; making one alone is no change of the
/// model, so that it is no step but for what it carries over at first.
public struct Link: Entity {
  public static let collection = Collection.links
  public static var registry: WritableKeyPath<World, Registry<Link>> & Sendable { \.links }

  public let id: LinkID
  public var revision = 0
  public let first: ModelPath
  public let second: ModelPath
  /// Whether the first follows the second, too.
  public let isTwoWay: Bool
  /// What the second becomes of the first, which the expression calls `value`; the same when nil.
  public let transform: Expression?
  /// The way back.
  public let inverse: Expression?
  /// The object with which it goes; nil for the session.
  public let owner: ObjectReference?

  public var parent: ObjectReference? { owner }

  public func canReturn(to world: World) -> Bool {
    [first.object, second.object, owner].allSatisfy { $0.map { world.revision(of: $0) != nil } ?? true }
  }
}

extension World {
  /// - Parameter owner: the object with which the binding goes; nil for the session.
  @discardableResult
  public mutating func createBinding(
    id: BindingID?, to target: Binding.Target, isReadOnly: Bool, owner: ObjectReference?
  ) throws(ModelError) -> Binding {
    try checkFree(id)
    if case .path(let path) = target { try requireObject(of: path) }
    let claimed = try claim(id, prefix: "binding")
    let binding = Binding(id: claimed, target: target, isReadOnly: isReadOnly, owner: owner)
    insert(binding)
    return binding
  }

  public mutating func closeBinding(_ id: BindingID) throws(ModelError) {
    _ = try bindings.require(id)
    remove(id)
  }

  /// Makes the second place follow the first, and in a two-way link the first the second. At once the second gets what the first has,
  /// as soon as what is due is done.
  @discardableResult
  public mutating func link(
    id: LinkID?, _ first: ModelPath, _ second: ModelPath, isTwoWay: Bool, transform: Expression?, inverse: Expression?,
    owner: ObjectReference?
  ) throws(ModelError) -> Link {
    try checkFree(id)
    try requireObject(of: first)
    try requireObject(of: second)
    guard !first.overlaps(second) else { throw .flow(.cycle([first.description, second.description])) }
    let claimed = try claim(id, prefix: "link")
    let link = Link(
      id: claimed, first: first, second: second, isTwoWay: isTwoWay, transform: transform, inverse: inverse,
      owner: owner)
    insert(link)
    return link
  }

  public mutating func unlink(_ id: LinkID) throws(ModelError) {
    _ = try links.require(id)
    remove(id)
  }

  /// Where a path leads into an object, the object has to be there.
  private func requireObject(of path: ModelPath) throws(ModelError) {
    guard let object = path.object else { return }
    guard revision(of: object) != nil else { throw .unknownID(object.collection, object.id) }
  }
}
