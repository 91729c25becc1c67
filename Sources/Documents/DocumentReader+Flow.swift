// View models and the environment of a document: made last, as they may belong to anything and refer to anything.

import GeoModel
import GeoProtocol
import Handlers
import JSON
import StateTree
import WireCoding

extension DocumentReader {
  mutating func readFlow(_ document: DocumentProtocol.Document) throws {
    for (index, type) in document.viewModelTypes.enumerated() {
      try make(root["viewModelTypes"][index], "type") { world in
        let properties = try Wire.properties(type.properties, at: "/viewModelTypes/\(index)/properties")
        try world.defineViewModel(ID(type.type), doc: type.doc, properties: properties)
      }
    }
    for (index, model) in document.viewModels.enumerated() { try read(model, index) }
    // View models may refer to each other in a ring.
    for (index, model) in document.viewModels.enumerated() {
      let json = root["viewModels"][index]
      let references = try values(json, of: ViewModelID(model.viewModel)) { $0.type == .reference }
      try make(json, "viewModel") { try $0.setValues(of: ID(model.viewModel), references) }
    }
    for (index, key) in document.environmentKeys.enumerated() {
      try make(root["environmentKeys"][index], "key") { world in
        _ = try EnvironmentService.register(
          .init(key: key.key, type: key.type, isNullable: key.isNullable, defaultValue: key.defaultValue, doc: key.doc),
          in: &world)
      }
    }
    for (index, scope) in document.environments.enumerated() { try read(scope, root["environments"][index]) }
  }

  // MARK: View models

  private mutating func read(_ saved: DocumentProtocol.SavedViewModel, _ index: Int) throws {
    let json = root["viewModels"][index]
    let type = saved.type.map { ViewModelTypeID($0) }
    let owner = try at(json["owner"], "owner") { try Wire.object(saved.owner, "owner", in: world) }
    try at(json["type"], "type") { if let type { _ = try world.viewModelTypes.require(type) } }
    try make(json, "viewModel") { world in
      try world.restoreViewModel(
        id: ID(saved.viewModel), type: type,
        properties: try saved.properties.map { try Wire.properties($0, at: "/viewModels/\(index)/properties") },
        owner: owner, values: [])
    }
    let given = try values(json, of: ViewModelID(saved.viewModel)) { $0.type != .reference && $0.type != .status }
    try make(json, "viewModel") { try $0.setValues(of: ID(saved.viewModel), given) }
  }

  /// The values that a document has for a view model, null included.
  ///
  /// - Parameter isWanted: whether the value of a property is asked for.
  private func values(
    _ json: JSONValue, of id: ViewModelID, where isWanted: (PropertyDefinition) -> Bool
  ) throws -> [(name: String, value: Value)] {
    let model = try world.viewModels.require(id)
    var result: [(name: String, value: Value)] = []
    try at(json, "viewModel") {
      try forEachMember(of: json["values"]) { name, value in
        if try isWanted(model.property(name)) { result.append((name, try Wire.value(value))) }
      }
    }
    return result
  }

  private func forEachMember(of json: JSONValue, _ body: (String, JSONValue) throws -> Void) throws {
    guard json.isPresent else { return }
    try json.requireObject()
    try json.forEachMember { name, value in try body(String(decoding: name, as: UTF8.self), value) }
  }

  // MARK: The environment

  private mutating func read(_ saved: DocumentProtocol.SavedEnvironment, _ json: JSONValue) throws {
    let node = try at(json["node"], "node") { try Wire.object(saved.node, "node", in: world) }
    try at(json, "node") { try world.checkNode(node) }
    for (name, value) in try members(json, json["values"]) {
      try make(value, "key") { try $0.setEnvironment(ID(name), at: node, to: try Wire.value(value)) }
    }
    for (name, value) in try members(json, json["objects"]) {
      try make(value, "viewModel") { try $0.provide(ID(try value.string()), as: name, at: node) }
    }
  }

  /// The members of an object, whose errors name their own places.
  private func members(_ owner: JSONValue, _ object: JSONValue) throws -> [(name: String, json: JSONValue)] {
    var result: [(name: String, json: JSONValue)] = []
    try at(owner, "node") { try forEachMember(of: object) { result.append(($0, $1)) } }
    return result
  }

  // MARK: What newer versions know

  mutating func recordFlow(_ saved: SavedObjects) throws {
    for json in elements(root["viewModelTypes"]) {
      guard let type = world.viewModelTypes[ID(try json["type"].string())] else { continue }
      try record(type.reference, json, saved.viewModelType(type))
    }
    for (model, json) in zip(world.viewModels.values, elements(root["viewModels"])) {
      try record(model.reference, json, saved.viewModel(model))
    }
    for json in elements(root["environmentKeys"]) {
      guard let key = world.environmentKeys[ID(try json["key"].string())] else { continue }
      try record(key.reference, json, saved.environmentKey(key))
    }
    for json in elements(root["environments"]) {
      let id = json["node"].isPresent ? EnvironmentID(try json["node"].string()) : EnvironmentScope.session
      guard let scope = world.environments[id] else { continue }
      try record(scope.reference, json, saved.environment(scope))
    }
  }
}
