// View models: objects whose published properties a client defines, and their types.

import Geometry

/// The properties that view models of a type have in common. Defined once; never undone.
public struct ViewModelType: Entity {
  public static let isIndexed = false
  public let id: ViewModelTypeID
  public var revision = 0
  public let doc: String?
  let definitions: PropertyDefinitions

  public var properties: [PropertyDefinition] { definitions.all }

  /// Whether the definitions are equal.
  func isSame(as other: ViewModelType) -> Bool { Text(doc) == Text(other.doc) && properties == other.properties }
}

/// An object with client-defined properties.
public struct ViewModel: Entity {
  /// No table of members: clients name the members.
  public static let members: [Member<ViewModel>] = []
  public static func members(of id: String, in world: World) -> ObjectMembers? {
    world.viewModels[ID(id)].map { model in
      // All names, whatever the shapes asked for: any value may be a list.
      ObjectMembers { _ in
        model.properties.map(\.name)
      } member: { name in
        model.value(of: name).map { ($0.memberValue, model.definitions[name]?.limits.parts.shape ?? .whole) }
      }
    }
  }

  public let id: ViewModelID
  public var revision = 0
  /// The type; nil if the view model was created with properties of its own.
  public let type: ViewModelTypeID?
  let definitions: PropertyDefinitions
  /// The object that closes the view model when it closes; nil for the session.
  public let owner: ObjectReference?
  /// The origin of the request that created it, which may set properties with the access `owner`.
  public let author: Text?
  /// Values by property name; each property has one.
  public internal(set) var values: [String: Value]

  /// In the order of definition.
  public var properties: [PropertyDefinition] { definitions.all }
  public var references: [Text] {
    guard definitions.hasReferences else { return [] }
    return properties.compactMap { $0.type == .reference ? Text(values[$0.name]?.text) : nil }
  }
  public var byteCount: Int { values.reduce(1024) { $0 + $1.key.utf8.count + $1.value.byteCount } }

  /// Finds a property by name. Throws `unknownProperty` with the available names.
  public func property(_ name: String) throws(ModelError) -> PropertyDefinition {
    guard let property = definitions[name] else {
      throw .flow(.unknownProperty(name, available: properties.map(\.name)))
    }
    return property
  }

  /// The value of a property; nil if there is no such property.
  public func value(of name: String) -> Value? { (try? property(name)).flatMap { values[$0.name] } }

  public func withoutDanglingReferences(in world: World) -> ViewModel {
    var result = self
    for (name, value) in values { result.values[name] = withoutDanglingReferences(value, of: name, in: world) }
    return result
  }

  /// Replaces a reference to an object that no longer exists by null.
  func withoutDanglingReferences(_ value: Value, of name: String, in world: World) -> Value {
    guard (try? property(name))?.type == .reference, let object = value.text, object != id.rawValue,
      world.find(object) == nil
    else { return value }
    return .null
  }

  /// Whether a property is computed from others.
  var hasDerived: Bool { definitions.hasDerived }

  /// The paths of the derived properties.
  var derived: [ModelPath] { properties.filter { $0.derivation != nil }.map { ModelPath(reference, $0.name) } }

  /// The derived properties at, above or below a path in the view model; all for an empty path.
  func derived(at names: ArraySlice<Text>) -> [ModelPath] {
    guard let name = names.first?.string else { return derived }
    return definitions[name]?.derivation == nil ? [] : [ModelPath(reference, name)]
  }

  /// The value of a property, or the part of it at further names; nil if there is no value.
  public func value(at names: [Text]) -> Value? {
    names.first.flatMap { value(of: $0.string) }?.part(at: names.dropFirst())
  }
}

/// Reverts changes of values.
struct ValuesChanged: UndoRecord {
  let id: ViewModelID
  let before: [(name: String, value: Value)]
  var byteCount: Int { before.reduce(64) { $0 + $1.name.utf8.count + $1.value.byteCount } }
  var object: ObjectReference { ObjectReference(.viewModels, id.rawValue) }
  var kind: UndoRecordKind { .contents }

  func isUndoable(in world: World) -> Bool {
    // The removal of the view model has a record of its own, which undo applies first.
    guard let model = world.viewModels[id] else { return true }
    return before.contains { entry in (try? model.property(entry.name).isUndone) ?? false }
  }

  func covers(_ later: any UndoRecord) -> Bool {
    guard let later = later as? ValuesChanged, later.id == id else { return false }
    return later.before.allSatisfy { entry in before.contains { $0.name == entry.name } }
  }

  func alone(after later: [any UndoRecord], among all: [any UndoRecord], in world: World) -> (any UndoRecord)? {
    let names = Set(before.map(\.name))
    let isTouched = later.contains { other in
      guard other.object == object, other.kind != .revision else { return false }
      return (other as? ValuesChanged)?.before.contains { names.contains($0.name) } ?? true
    }
    return isTouched ? nil : self
  }

  func note(in live: inout LiveWrites) { live.add(Set(before.map { Text($0.name) }), of: object) }

  func without(_ live: LiveWrites) -> any UndoRecord {
    guard let written = live.names[object] else { return self }
    return ValuesChanged(id: id, before: before.filter { !written.contains(Text($0.name)) })
  }

  func isUnchanged(_ member: String, in world: World) -> Bool? {
    guard let entry = before.first(where: { $0.name == member }), let model = world.viewModels[id] else { return nil }
    return model.values[member] ?? .null == entry.value
  }

  func rollBack(_ world: inout World) {
    _ = world.viewModels.modify(id) { model in
      for (name, value) in before { model.values[name] = value }
    }
  }

  func undo(_ world: inout World) {
    guard let model = world.viewModels[id] else { return }
    let undone = before.filter { entry in (try? model.property(entry.name).isUndone) ?? false }
    world.write(undone.map { ($0.name, model.withoutDanglingReferences($0.value, of: $0.name, in: world)) }, of: id)
  }
}
