// Bindings, which are handles to paths of the state tree, and links, which keep the values at two paths equal.

import Expressions
import Geometry

/// A handle to a property, a part of a value, or a constant. Creating one is not undone.
public struct Binding: Entity {
  public enum Target: Equatable, Sendable {
    case path(ModelPath)
    case constant(Value)
  }

  public let id: BindingID
  public var revision = 0
  public let target: Target
  public let isReadOnly: Bool
  /// The object that closes the binding when it closes; nil for the session.
  public let owner: ObjectReference?

  public var references: [Text] { (path?.object).map { [$0.text] } ?? [] }
  public func closes(with object: ObjectReference) -> Bool { owner == object || path?.object == object }

  /// The path that the binding leads to; nil for a constant.
  public var path: ModelPath? { if case .path(let path) = target { path } else { nil } }
}

/// Keeps the values at two paths equal.
/// Undo removes or restores a link with the step that created or removed it. Creating a link is not a step of history by itself;
/// copying its first value is.
///
/// ```swift
/// // A slider sets the opacity of a layer, and follows it.
/// try world.link(
///   id: nil, ModelPath(["viewModels", "panel", "opacity"]), ModelPath(["layers", "roads", "opacity"]),
///   isTwoWay: true, transform: nil, inverse: nil, owner: nil)
/// ```
public struct Link: Entity {
  public let id: LinkID
  public var revision = 0
  public let first: ModelPath
  public let second: ModelPath
  /// Whether the first path also follows the second.
  public let isTwoWay: Bool
  /// Computes the second value from the first, named `value`; nil copies it.
  public let transform: Expression?
  /// Computes the first value from the second; nil copies it.
  public let inverse: Expression?
  /// The object that removes the link when it closes; nil for the session.
  public let owner: ObjectReference?

  public var references: [Text] { [first.object, second.object].compactMap { $0?.text } }
  public func closes(with object: ObjectReference) -> Bool {
    [owner, first.object, second.object].contains(object)
  }

  public var requirements: [ObjectReference] { [first.object, second.object, owner].compactMap { $0 } }
}

extension World {
  /// - Parameter owner: the object that closes the binding when it closes; nil for the session.
  @discardableResult
  public mutating func createBinding(
    id: BindingID?, to target: Binding.Target, isReadOnly: Bool, owner: ObjectReference?
  ) throws(ModelError) -> Binding {
    try checkFree(id)
    try checkNesting(inOwner: owner)
    if case .path(let path) = target { try requireObject(of: path) }
    let id = try claim(id, prefix: "binding")
    return insert(Binding(id: id, target: target, isReadOnly: isReadOnly, owner: owner))
  }

  /// Makes the second path follow the first, and in a two-way link the first the second. Propagation after the command
  /// copies the first value to the second path.
  @discardableResult
  public mutating func link(
    id: LinkID?, _ first: ModelPath, _ second: ModelPath, isTwoWay: Bool, transform: Expression?, inverse: Expression?,
    owner: ObjectReference?
  ) throws(ModelError) -> Link {
    try checkFree(id)
    try checkNesting(inOwner: owner)
    try requireObject(of: first)
    try requireObject(of: second)
    guard !first.overlaps(second), !first.isViewpoint(with: second) else {
      throw .flow(.cycle([first.description, second.description]))
    }
    return insert(
      Link(
        id: try claim(id, prefix: "link"), first: first, second: second, isTwoWay: isTwoWay, transform: transform,
        inverse: inverse, owner: owner))
  }

  /// Throws if the path names an object that does not exist.
  private func requireObject(of path: ModelPath) throws(ModelError) {
    guard let object = path.object else { return }
    guard revision(of: object) != nil else { throw .unknownID(object.collection, object.id) }
  }
}

extension ModelPath {
  /// Whether both paths lead to the same state of one view: its viewpoint, and a part of it.
  fileprivate func isViewpoint(with other: ModelPath) -> Bool {
    guard let object, object == other.object, object.collection == .views, names.count > 2, other.names.count > 2 else {
      return false
    }
    let parts: Set<Text> = ["center", "scale", "rotation"]
    return names[2] == "viewpoint" && parts.contains(other.names[2])
      || other.names[2] == "viewpoint" && parts.contains(names[2])
  }
}
