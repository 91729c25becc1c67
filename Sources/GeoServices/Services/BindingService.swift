// Handlers of `binding/*`: bindings, links, and writing by path.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import Query

enum BindingService: BindingHandlers {
  typealias Types = Server

  static func create(_ params: BindingProtocol.Create.Params, in world: inout World) throws -> BindingProtocol.Binding {
    if let binding = existing(world.bindings, params.id, params.ifExists) { return Wire.binding(binding, in: world) }
    let target: Binding.Target
    switch (params.path, params.constant) {
    case (let text?, nil):
      let path = try Wire.path(text, "path")
      if params.access == .readWrite {
        try PathWriting.check(path, in: world)
      } else {
        try PathReading.check(path, in: world)
      }
      target = .path(path)
    case (nil, let value?): target = .constant(try Wire.value(value))
    default: throw ModelError.oneOf(["path", "constant"])
    }
    let binding = try world.createBinding(
      id: params.id.map { ID($0) }, to: target, isReadOnly: params.access == .readOnly,
      owner: try Wire.object(params.owner, "owner", in: world))
    return Wire.binding(try world.bindings.require(binding.id), in: world)
  }

  static func get(_ params: BindingProtocol.Get.Params, in world: World) throws -> BindingProtocol.Binding {
    Wire.binding(try world.bindings.require(ID(params.binding)), in: world)
  }

  static func list(_ params: BindingProtocol.List.Params, in world: World) throws -> BindingProtocol.List.Result {
    .init(
      revision: world.revision, bindings: world.bindings.values.map { Wire.binding($0, in: world) },
      links: world.links.values.map(Wire.link))
  }

  static func set(_ params: BindingProtocol.Set.Params, in world: inout World) throws -> BindingProtocol.Set.Result {
    let binding = try world.bindings.require(ID(params.binding))
    guard binding.access == .readWrite, let path = binding.path else {
      throw ModelError.flow(.readOnly(binding.id.rawValue))
    }
    let value = try write(params.value, to: path, in: &world)
    return .init(revision: world.revision, value: Wire.present(value))
  }

  static func close(
    _ params: BindingProtocol.Close.Params, in world: inout World
  ) throws -> BindingProtocol.Close.Result {
    try world.closeBinding(ID(params.binding))
    return .init(revision: world.revision)
  }

  /// Writes by path and propagates.
  ///
  /// - Returns: the value at the path afterwards.
  static func write(_ value: JSONOpaque?, to path: ModelPath, in world: inout World) throws -> Value? {
    try PathWriting.write(try Wire.value(value), to: path, in: &world)
    try Propagation.propagate(&world)
    return PathReading.value(at: path, in: world)
  }

  // MARK: Links

  static func link(_ params: BindingProtocol.Link.Params, in world: inout World) throws -> BindingProtocol.BindingLink {
    if let link = existing(world.links, params.id, params.ifExists) { return Wire.link(link) }
    let first = try Wire.path(params.first, "first")
    let second = try Wire.path(params.second, "second")
    let isTwoWay = params.direction == .twoWay
    try PathWriting.check(second, in: world)
    if isTwoWay { try PathWriting.check(first, in: world) } else { try PathReading.check(first, in: world) }
    if isTwoWay, (params.transform == nil) != (params.inverse == nil) {
      throw RPCError(
        .invalidParams, "A two-way link has both `transform` and `inverse`, or neither.",
        path: params.transform == nil ? "/params/transform" : "/params/inverse", expected: "an expression")
    }
    let link = try world.link(
      id: params.id.map { ID($0) }, first, second, isTwoWay: isTwoWay,
      transform: try params.transform.map { try expression($0, "transform") },
      inverse: try params.inverse.map { try expression($0, "inverse") },
      owner: try Wire.object(params.owner, "owner", in: world))
    try Propagation.propagate(&world)
    return Wire.link(try world.links.require(link.id))
  }

  /// An expression over `value` alone.
  private static func expression(_ text: String, _ member: String) throws -> Expression {
    let path = "/params/\(member)"
    let expression = try Wire.parsed(text, at: path)
    do { try expression.check(names: ["value"]) } catch { throw RPCError(error, at: path) }
    return expression
  }

  static func unlink(
    _ params: BindingProtocol.Unlink.Params, in world: inout World
  ) throws -> BindingProtocol.Unlink.Result {
    try world.unlink(ID(params.link))
    return .init(revision: world.revision)
  }
}
