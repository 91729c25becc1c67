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
    let target: Binding.Target
    switch (params.path, params.constant) {
    case (let text?, nil): target = .path(try Wire.statePath(text, "path"))
    case (nil, let value?): target = .constant(try Wire.value(value))
    default: throw ModelError.oneOf(["path", "constant"])
    }
    let owner = try Wire.object(params.owner, "owner", in: world)
    let existing = try world.existing(params.id, params.ifExists, Binding.self) { binding, _ in
      [
        params.path == nil ? "constant" : "path": binding.target == target, "owner": binding.owner == owner,
        "access": binding.isReadOnly == (params.access == .readOnly),
      ]
    }
    if let existing { return { result(try $0.bindings.require(existing.id), in: $0) } }
    if case .path(let path) = target {
      switch params.access {
      case .readWrite: try PathWriting.check(path, in: world)
      case .readOnly: try PathReading.check(path, in: world)
      }
    }
    let binding = try world.createBinding(
      id: params.id.map { ID($0) }, to: target, isReadOnly: params.access == .readOnly, owner: owner)
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
    let first = try Wire.statePath(params.first, "first")
    let second = try Wire.statePath(params.second, "second")
    let isTwoWay = params.direction == .twoWay
    let transform = try params.transform.map { try expression($0, "transform") }
    let inverse = try params.inverse.map { try expression($0, "inverse") }
    let owner = try Wire.object(params.owner, "owner", in: world)
    let existing = try world.existing(params.id, params.ifExists, GeoModel.Link.self) { link, _ in
      [
        "first": link.first == first, "second": link.second == second, "direction": link.isTwoWay == isTwoWay,
        "transform": link.transform == transform, "inverse": link.inverse == inverse, "owner": link.owner == owner,
      ]
    }
    if let existing { return { Wire.link(try $0.links.require(existing.id)) } }
    try checking("second") {
      try PathWriting.check(second, in: world)
      try PathWriting.checkPart(second, in: world)
    }
    try checking("first") {
      if isTwoWay { try PathWriting.check(first, in: world) } else { try PathReading.check(first, in: world) }
    }
    if isTwoWay, (params.transform == nil) != (params.inverse == nil) {
      throw RPCError(
        .invalidParams, "A two-way link has both `transform` and `inverse`, or neither.",
        path: params.transform == nil ? "/params/transform" : "/params/inverse", expected: "an expression")
    }
    if transform == nil { try LinkTypes.check(from: first, to: second, "second", in: world) }
    if isTwoWay, inverse == nil { try LinkTypes.check(from: second, to: first, "first", in: world) }
    let link = try world.link(
      id: params.id.map { ID($0) }, first, second, isTwoWay: isTwoWay, transform: transform, inverse: inverse,
      owner: owner)
    return { Wire.link(try $0.links.require(link.id)) }
  }

  /// Adds the param whose path is checked to an error that does not know which it is.
  private static func checking(_ param: String, _ check: () throws -> Void) throws {
    do { try check() } catch {
      guard var failure = RPCError(error, in: nil, at: "/params"), failure.path == nil else { throw error }
      failure.path = "/params/\(param)"
      throw failure
    }
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
    let target = binding.path.map { [$0, world.resolved($0)] }?.compactMap(\.object).compactMap(world.revision).max()
    return .init(
      binding: binding.id.rawValue, revision: max(binding.revision, target ?? 0), path: binding.path?.description,
      access: binding.access.wire, owner: binding.owner?.id, value: Wire.present(value))
  }
}
