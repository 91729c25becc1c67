// View models and the environment of a document: read last, since they may belong to and refer to any object.

import GeoModel
import GeoProtocol
import Handlers
import JSON
import WireCoding

extension DocumentReader {
  mutating func readFlow() throws {
    for type in try items("viewModelTypes", of: root) { try readType(type) }
    let models = try readOwned()
    for layer in entityLayers { try readLayer(layer.item, layer.role, of: layer.container, at: layer.index) }
    // View models may refer to each other in a cycle, so values are set after all are created.
    for (item, id) in models where item.json.member("values").kind == .object {
      try readValues(item, of: id) { $0?.type == .reference }
    }
    for key in try items("environmentKeys", of: root) { try readKey(key) }
    for scope in try items("environments", of: root) { try readEnvironment(scope) }
  }

  /// Reads the objects that may have owners: each list in its order, and each object after its owner, and after its entity source.
  ///
  /// - Returns: the view models.
  private mutating func readOwned() throws -> [(item: DocumentItem, id: ViewModelID)] {
    var models: [(item: DocumentItem, id: ViewModelID)] = []
    var lists: [(kind: (any ListedKind.Type)?, items: ArraySlice<DocumentItem>)] = [
      (nil, try items("viewModels", of: root)[...])
    ]
    for kind in SavedKinds.listed { lists.append((kind, try items(kind.collection.rawValue, of: root)[...])) }
    // If no owner exists, an object is read anyway, so that its error is reported.
    while let next = lists.firstIndex(where: { list in list.items.first.map { isReady($0, list.kind) } == true })
      ?? lists.firstIndex(where: { !$0.items.isEmpty })
    {
      let item = lists[next].items.removeFirst()
      if let kind = lists[next].kind {
        try readListed(item, kind)
      } else if let id = try readModel(item) {
        models.append((item, id))
      }
    }
    return models
  }

  /// Whether the objects that one cannot do without have been read.
  private func isReady(_ item: DocumentItem, _ kind: (any ListedKind.Type)?) -> Bool {
    ["owner", EntitySource.collection.noun].filter { $0 != kind?.collection.noun }.allSatisfy { name in
      guard let needed = try? item.json.member(name).string() else { return true }
      return world.find(needed) != nil
    }
  }

  private mutating func readListed<E: ListedKind>(_ item: DocumentItem, _ kind: E.Type) throws {
    let noun = E.collection.noun
    let id = try restore(item, noun, keeping: E.required) { world, json in
      let id = try json.member(noun).string()
      try E.restore(id, json, in: &world)
      return id
    }
    if let id { objects[ObjectReference(E.collection, id)] = item.json }
  }

  private mutating func readType(_ item: DocumentItem) throws {
    let id = try restore(item, "type") { world, json in
      let type = try DocumentProtocol.SavedViewModelType(from: json)
      let properties = try Wire.properties(type.properties, at: item.path + "/properties")
      try world.defineViewModel(ID(type.type), doc: type.doc, properties: properties)
      return type.type
    }
    if let id { objects[ObjectReference(.viewModelTypes, id)] = item.json }
  }

  private mutating func readKey(_ item: DocumentItem) throws {
    // A key with another type would be another key, so the type is required.
    let id = try restore(item, "key", keeping: ["type"]) { world, json in
      let key = try DocumentProtocol.SavedEnvironmentKey(from: json)
      try EnvironmentService.register(
        .init(key: key.key, type: key.type, isNullable: key.isNullable, defaultValue: key.defaultValue, doc: key.doc),
        in: &world)
      return key.key
    }
    if let id { objects[ObjectReference(.environmentKeys, id)] = item.json }
  }

  // MARK: View models

  private mutating func readModel(_ item: DocumentItem) throws -> ViewModelID? {
    let made = try restore(item, "viewModel", without: ["values"]) { world, json in
      let saved = try DocumentProtocol.SavedViewModel(from: json)
      let type = saved.type.map { ViewModelTypeID($0) }
      if let type { _ = try world.viewModelTypes.require(type) }
      try world.restoreViewModel(
        id: ID(saved.viewModel), type: type,
        properties: try saved.properties.map { try Wire.properties($0, at: item.path + "/properties") },
        owner: try Self.object(saved.owner, "owner", item, in: world), author: saved.author)
      return ViewModelID(saved.viewModel)
    }
    guard let id = made else { return nil }
    objects[ObjectReference(.viewModels, id.rawValue)] = item.json
    try readValues(item, of: id) { $0?.type != .reference && $0?.type != .status }
    return id
  }

  private static func object(
    _ id: String?, _ member: String, _ item: DocumentItem, in world: World
  ) throws -> ObjectReference? {
    do { return try Wire.object(id, member, in: world) } catch { throw placed(error, at: "\(item.path)/\(member)") }
  }

  /// Sets the values, including nulls, that a document has for a view model.
  ///
  /// - Parameter isWanted: whether to set a property's value; nil stands for an unknown property.
  private mutating func readValues(
    _ item: DocumentItem, of id: ViewModelID, where isWanted: (PropertyDefinition?) -> Bool
  ) throws {
    try readMembers("values", of: item) { world, name, value in
      guard isWanted(try? world.viewModels.require(id).property(name)) else { return }
      do { try world.setValues(of: id, [(name, try Wire.value(value))]) } catch ModelError.flow(let fault) where fault.path != nil {
        throw Self.placed(ModelError.flow(fault), at: item.path + "/values" + (fault.path ?? ""))
      }
    }
  }

  /// Calls `body` for each member of an object that is itself a member of an item. Members for which it fails are left out and
  /// reported.
  private mutating func readMembers(
    _ name: String, of item: DocumentItem, _ body: (inout World, String, JSONValue) throws -> Void
  ) throws {
    let object = item.member(name)
    guard object.json.isPresent else { return }
    do { try object.json.requireObject() } catch { return try report(error, at: object) }
    try worker.checkCancelled()
    for (name, _) in object.json.members {
      let member = object.member(name)
      world.begin(origin: .task)
      do { try body(&world, name, member.json) } catch {
        world.rollBack()
        try report(error, at: member)
      }
      world.discardChanges()
    }
  }

  // MARK: The environment

  private mutating func readEnvironment(_ item: DocumentItem) throws {
    let made = try restore(item, "node", without: ["values", "objects"]) { world, json in
      let saved = try DocumentProtocol.SavedEnvironment(from: json)
      let node = try Self.object(saved.node, "node", item, in: world)
      do { try world.checkNode(node) } catch { throw Self.placed(error, at: item.path + "/node") }
      return node
    }
    guard let node = made else { return }
    let scope = node.map { EnvironmentID($0.id) } ?? EnvironmentScope.session
    let reference = ObjectReference(.environments, scope.rawValue)
    guard objects[reference] == nil else {
      return problems.append(
        Failure(
          .invalidDocument, "The document has the environment of this node already.", path: item.path,
          expected: "one environment a node"))
    }
    objects[reference] = item.json
    try readMembers("values", of: item) { world, name, value in
      try world.setEnvironment(ID(name), at: node, to: try Wire.value(value))
    }
    try readMembers("objects", of: item) { world, name, value in
      try world.provide(ID(try value.string()), as: name, at: node)
    }
  }
}
