// Handlers of `binding/*`: bindings, links, and writing by path.

import Expressions
import GeoModel
import GeoProtocol
import Handlers
import JSON
import JSONRPC
import StateTree
import WireCoding

package enum BindingService: BindingHandlers {
  package static func create(_ params: Create.Params, in world: inout World) throws -> Answer<BindingProtocol.Binding> {
    if let binding = try world.existing(params.id, params.ifExists, Binding.self) {
      return { result(try $0.bindings.require(binding.id), in: $0) }
    }
    let target: Binding.Target
    switch (params.path, params.constant) {
    case (let text?, nil):
      let path = try Wire.path(text, "path")
      switch params.access {
      case .readWrite: try PathWriting.check(path, in: world)
      case .readOnly: try PathReading.check(path, in: world)
      }
      target = .path(path)
    case (nil, let value?): target = .constant(try Wire.value(value))
    default: throw ModelError.oneOf(["path", "constant"])
    }
    let binding = try world.createBinding(
      id: params.id.map { ID($0) }, to: target, isReadOnly: params.access == .readOnly,
      owner: try Wire.object(params.owner, "owner", in: world))
    return { result(try $0.bindings.require(binding.id), in: $0) }
  }

  package static func get(_ params: Get.Params, in world: World) throws -> BindingProtocol.Binding {
    result(try world.bindings.require(ID(params.binding)), in: world)
  }

  package static func list(_ params: List.Params, in world: World) throws -> List.Result {
    .init(
      revision: world.revision, bindings: world.bindings.values.map { result($0, in: world) },
      links: world.links.values.map(Wire.link))
  }

  package static func set(_ params: BindingProtocol.Set.Params, in world: inout World) throws
    -> Answer<BindingProtocol.Set.Result>
  {
    let binding = try world.bindings.require(ID(params.binding))
    guard binding.access == .readWrite, let path = binding.path else {
      throw ModelError.flow(.readOnly(binding.id.rawValue))
    }
    try PathWriting.checkPart(path, in: world)
    let written = try write(params.value, to: path, in: &world)
    return { .init(revision: $0.revision, value: try written($0)) }
  }

  package static func close(_ params: Close.Params, in world: inout World) throws {
    try world.close(BindingID(params.binding))
  }

  /// Writes a value at a path.
  ///
  /// - Returns: a function that reads the value at the path, for the answer.
  static func write(_ value: JSONOpaque?, to path: ModelPath, in world: inout World) throws -> Answer<JSONOpaque?> {
    let given = try Wire.value(value)
    try PathWriting.write(given, to: path, in: &world)
    return { world in
      let result = PathReading.value(at: path, in: world)
      // Commands ignore unknown members, so a value may be missing although nothing failed.
      if result == nil, !given.isNull, path.names.count > 3 { throw ModelError.flow(.invalidPath(path.description)) }
      return Wire.present(result)
    }
  }

  // MARK: Links

  package static func link(_ params: BindingProtocol.Link.Params, in world: inout World) throws
    -> Answer<BindingProtocol.BindingLink>
  {
    if let link = try world.existing(params.id, params.ifExists, GeoModel.Link.self) {
      return { Wire.link(try $0.links.require(link.id)) }
    }
    let first = try Wire.path(params.first, "first")
    let second = try Wire.path(params.second, "second")
    let isTwoWay =
      switch params.direction {
      case .twoWay: true
      case .firstToSecond: false
      }
    try PathWriting.check(second, in: world)
    try PathWriting.checkPart(second, in: world)
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
    return { Wire.link(try $0.links.require(link.id)) }
  }

  /// An expression over `value` alone.
  private static func expression(_ given: JSONOpaque, _ member: String) throws -> Expression {
    let path = "/params/\(member)"
    let expression = try Wire.parsed(given, at: path)
    do { try expression.check(names: ["value"]) } catch { throw RPCError(error, at: path) }
    return expression
  }

  package static func unlink(_ params: Unlink.Params, in world: inout World) throws {
    try world.close(LinkID(params.link))
  }

  private static func result(_ binding: Binding, in world: World) -> BindingProtocol.Binding {
    var value: Value?
    switch binding.target {
    case .path(let path): value = PathReading.value(at: path, in: world)
    case .constant(let constant): value = constant
    }
    let target = binding.path?.object.flatMap { world.revision(of: $0) } ?? 0
    return .init(
      binding: binding.id.rawValue, revision: max(binding.revision, target), path: binding.path?.description,
      access: binding.access.wire, owner: binding.owner?.id, value: Wire.present(value))
  }
}
