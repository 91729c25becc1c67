// Handlers of `viewModel/*`.

import GeoModel
import GeoProtocol
import Geometry
import Handlers
import JSONRPC
import WireCoding

package enum ViewModelService: ViewModelHandlers {
  package static func define(_ params: Define.Params, in world: inout World) throws {
    try world.defineViewModel(
      ID(params.type), doc: params.doc, properties: try Wire.newProperties(params.properties, at: "/params/properties"))
  }

  package static func create(_ params: Create.Params, in world: inout World) throws -> Answer<
    ViewModelProtocol.ViewModel
  > {
    let type = params.type.map { ViewModelTypeID($0) }
    let properties = try params.properties.map { try Wire.newProperties($0, at: "/params/properties") }
    let owner = try Wire.object(params.owner, "owner", in: world)
    func matches(_ model: ViewModel, _: World) -> KeyValuePairs<String, Bool> {
      [
        "owner": model.owner == owner, "type": model.type == type,
        "properties": properties.map { $0 == model.properties } ?? true,
      ]
    }
    if let model = try world.existing(params.id, params.ifExists, ViewModel.self, matches) { return answer(model.id) }
    let node = (try? world.checkNode(owner)) == nil ? nil : owner
    if params.ifExists == .reuse, params.id == nil, let name = params.name,
      let shared = world.shared(name, at: node)
    {
      try world.checkReuse(of: shared, matches(shared, world))
      return answer(shared.id)
    }
    let model = try world.createViewModel(
      id: params.id.map { ID($0) }, type: type, properties: properties, owner: owner,
      values: try Wire.values(params.values, null: params.setNull))
    if let name = params.name { try world.provide(model.id, as: name, at: node) }
    return answer(model.id)
  }

  package static func get(_ params: Get.Params, in world: World) throws -> ViewModelProtocol.ViewModel {
    Wire.viewModel(try world.viewModels.require(ID(params.viewModel)), withProperties: true)
  }

  package static func list(_ params: List.Params, in world: World) throws -> List.Result {
    let owner = try Wire.object(params.owner, "owner", in: world)
    let models = world.viewModels.values.filter { owner == nil || $0.owner == owner }
    return .init(revision: world.revision, viewModels: models.map { Wire.viewModel($0) })
  }

  package static func set(
    _ params: ViewModelProtocol.Set.Params, in world: inout World
  ) throws -> Answer<ViewModelProtocol.ViewModel> {
    let id = ViewModelID(params.viewModel)
    try checkUnset(params)
    try world.setValues(of: id, try Wire.values(params.values, null: params.setNull), clear: params.clear ?? [])
    if let path = params.path {
      try world.setValue(of: id, at: try Wire.path(path, "path").names, to: try Wire.value(params.value))
    }
    return answer(id)
  }

  /// Throws if `clear` names a property that the same request sets, in full or in part: one of them would be silently ignored.
  private static func checkUnset(_ params: ViewModelProtocol.Set.Params) throws {
    let values = params.values?.value
    let written = try params.path.map { try Wire.path($0, "path") }
    for (index, name) in (params.clear ?? []).enumerated() {
      // Invalid pointers are refused later, when the values are cleared.
      let names = name.hasPrefix("/") ? ModelPath(pointer: name)?.names ?? [] : [Text(name)]
      guard let property = names.first else { continue }
      let isSet = values.map { $0.member(property.string).kind != .absent } == true || params.setNull?.contains(property.string) == true
      guard isSet || written?.overlaps(ModelPath(names)) == true else { continue }
      throw RPCError(
        .invalidParams, "\"\(name)\" is both set and cleared.", path: "/params/clear/\(index)",
        expected: "a property that the request does not set")
    }
  }

  package static func close(_ params: Close.Params, in world: inout World) throws {
    try world.close(ViewModelID(params.viewModel))
  }

  private static func answer(_ id: ViewModelID) -> Answer<ViewModelProtocol.ViewModel> {
    { Wire.viewModel(try $0.viewModels.require(id)) }
  }

  // MARK: Lists

  package static func insertItems(_ params: InsertItems.Params, in world: inout World) throws {
    try world.insertItems(
      try params.items.map { try Wire.value($0) }, into: ID(params.viewModel),
      at: try Wire.path(params.path, "path").names, before: params.before)
  }

  package static func removeItems(_ params: RemoveItems.Params, in world: inout World) throws {
    try world.removeItems(params.ids, from: ID(params.viewModel), at: try Wire.path(params.path, "path").names)
  }

  package static func moveItems(_ params: MoveItems.Params, in world: inout World) throws {
    try world.moveItems(
      params.ids, in: ID(params.viewModel), at: try Wire.path(params.path, "path").names, before: params.before)
  }

  // MARK: Shared objects

  package static func provide(_ params: Provide.Params, in world: inout World) throws {
    try world.provide(ID(params.viewModel), as: params.name, at: try Wire.object(params.node, "node", in: world))
  }

  package static func withdraw(_ params: Withdraw.Params, in world: inout World) throws {
    try world.withdraw(params.name, at: try Wire.object(params.node, "node", in: world))
  }

  package static func resolve(_ params: Resolve.Params, in world: World) throws -> Resolve.Result {
    let found = try world.resolve(params.name, at: try Wire.object(params.node, "node", in: world))
    return .init(revision: world.revision, viewModel: found.model.id.rawValue, node: found.scope.node?.id)
  }
}
