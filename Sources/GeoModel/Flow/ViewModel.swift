// View models: objects whose published properties a client defines, and the types that they are made of.

import Geometry
import Query

public typealias ViewModelTypeID = ID<ViewModelType>
public typealias ViewModelID = ID<ViewModel>

/// What view models of a type have in common. Defined once; never undone.
public struct ViewModelType: Entity {
  public static let collection = Collection.viewModelTypes
  public static var registry: WritableKeyPath<World, Registry<ViewModelType>> & Sendable { \.viewModelTypes }
  public static let isUndoable = false

  public let id: ViewModelTypeID
  public var revision = 0
  public let doc: String?
  public let properties: [PropertyDefinition]

  public init(id: ViewModelTypeID, doc: String?, properties: [PropertyDefinition]) {
    self.id = id
    self.doc = doc
    self.properties = properties
  }

  /// Whether the other says the same.
  func isSame(as other: ViewModelType) -> Bool { doc.isWritten(as: other.doc) && properties == other.properties }
}

/// An object with a client's properties.
public struct ViewModel: Entity {
  public static let collection = Collection.viewModels
  public static var registry: WritableKeyPath<World, Registry<ViewModel>> & Sendable { \.viewModels }

  public let id: ViewModelID
  public var revision = 0
  /// The type it was made of; nil when its properties were given with it.
  public let type: ViewModelTypeID?
  /// In the order of their definition.
  public let properties: [PropertyDefinition]
  /// The object with which it goes; nil for the session.
  public let owner: ObjectReference?
  /// By the names of the properties, each of which has one.
  public internal(set) var values: [String: Value]
  /// The places of the properties, by their names.
  let places: [ExactText: Int]

  init(
    id: ViewModelID, type: ViewModelTypeID?, properties: [PropertyDefinition], owner: ObjectReference?,
    values: [String: Value]
  ) {
    self.id = id
    self.type = type
    self.properties = properties
    self.owner = owner
    self.values = values
    places = Dictionary(properties.enumerated().map { (ExactText($1.name), $0) }) { first, _ in first }
  }

  public var parent: ObjectReference? { owner }
  public var byteCount: Int { values.reduce(1024) { $0 + $1.key.utf8.count + $1.value.byteCount } }

  /// The property of that name, or an error that names those there are.
  public func property(_ name: String) throws(ModelError) -> PropertyDefinition {
    guard let place = places[ExactText(name)] else {
      throw .flow(.unknownProperty(name, available: properties.map(\.name)))
    }
    return properties[place]
  }

  /// The value of the property of that name; nil where there is none.
  public func value(of name: String) -> Value? { places[ExactText(name)].flatMap { values[properties[$0].name] } }

  public func withoutDanglingReferences(in world: World) -> ViewModel {
    var result = self
    for (name, value) in values { result.values[name] = withoutDanglingReferences(value, of: name, in: world) }
    return result
  }

  /// Null for a reference to what is gone for good.
  func withoutDanglingReferences(_ value: Value, of name: String, in world: World) -> Value {
    guard (try? property(name))?.type == .reference, let object = value.text, object != id.rawValue,
      world.find(object) == nil
    else { return value }
    return .null
  }

  /// What a derived property reads, by the names in its expression.
  public func sources(of name: String) -> [(name: String, path: ModelPath)] {
    (try? property(name))?.derivation?.sources(in: id) ?? []
  }

  /// What each derived property reads.
  var derived: [(name: String, sources: [(name: String, path: ModelPath)])] {
    properties.compactMap { property in
      property.derivation.map { (property.name, $0.sources(in: id)) }
    }
  }
}

/// Values of a view model were others.
struct ValuesChanged: UndoRecord {
  let id: ViewModelID
  let before: [(name: String, value: Value)]
  var byteCount: Int { before.reduce(64) { $0 + $1.name.utf8.count + $1.value.byteCount } }
  var object: ObjectReference { ObjectReference(.viewModels, id.rawValue) }
  var kind: UndoRecordKind { .contents }

  func isUndoable(in world: World) -> Bool {
    // Of a view model that is gone nothing can be said; what brings it back comes before this.
    guard let model = world.viewModels[id] else { return true }
    return before.contains { entry in (try? model.property(entry.name).isUndone) ?? false }
  }

  func covers(_ later: any UndoRecord) -> Bool {
    guard let later = later as? ValuesChanged, later.id == id else { return false }
    return later.before.allSatisfy { entry in before.contains { $0.name == entry.name } }
  }

  func isAgain(_ member: RecordedMember, in world: World) -> Bool? {
    guard case .value(let name) = member, let entry = before.first(where: { $0.name == name }),
      let model = world.viewModels[id]
    else { return nil }
    return model.values[name] ?? .null == entry.value
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
