// Handlers of `environment/*`.

import GeoModel
import GeoProtocol
import JSON
import WireCoding

package enum EnvironmentService: EnvironmentHandlers {
  package static func register(_ params: Register.Params, in world: inout World) throws {
    try world.registerEnvironmentKey(
      PropertyDefinition(
        name: params.key, type: .init(params.type), isNullable: params.isNullable,
        defaultValue: try params.defaultValue.map { try Wire.value($0) }, doc: params.doc, derivation: nil))
  }

  package static func set(_ params: EnvironmentProtocol.Set.Params, in world: inout World) throws {
    try world.setEnvironment(
      ID(params.key), at: try Wire.object(params.node, "node", in: world), to: try Wire.value(params.value))
  }

  package static func get(_ params: Get.Params, in world: World) throws -> Get.Result {
    let node = try Wire.object(params.node, "node", in: world)
    try world.checkNode(node)
    let keys = try params.key.map { [try world.environmentKeys.require(ID($0))] } ?? Array(world.environmentKeys.values)
    return .init(
      revision: world.revision, values: keys.map { Wire.environmentValue($0, at: node, in: world) })
  }

  package static func clear(_ params: Clear.Params, in world: inout World) throws {
    try world.clearEnvironment(
      params.keys.map { $0.map { ID($0) } }, at: try Wire.object(params.node, "node", in: world))
  }

  package static func listKeys(_ params: ListKeys.Params, in world: World) throws -> ListKeys.Result {
    .init(revision: world.revision, keys: world.environmentKeys.values.map(Wire.environmentKey))
  }
}
