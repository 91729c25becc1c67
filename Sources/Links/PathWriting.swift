// Writing by path: finds the command that sets a value of the state tree, and makes its params from the value.

import GeoModel
import GeoProtocol
import Geometry
import Handlers
import JSON
import JSONRPC
import StateTree

enum PathWriting {
  /// A command that sets members of an object.
  struct Command: Sendable {
    let run: @Sendable (JSONValue, inout World) throws -> Void
    let shape: Shape

    /// The place of a value in the command's params.
    enum Shape: Equatable {
      /// A param with the member's name.
      case named
      /// The members of the value are the params.
      case spread
      /// A member `name` of a viewpoint target of type `type`.
      case target(_ type: String, _ name: String)
    }

    init<P: JSONDecodable & Sendable, R>(
      _ command: @escaping @Sendable (P, inout World) throws -> R, as shape: Shape = .named
    ) {
      run = { params, world in _ = try command(P(from: params), &world) }
      self.shape = shape
    }

    /// The names in the params on the way to the given value.
    ///
    /// - Parameter path: the path of the value in the object.
    func names(before path: ArraySlice<Text>) -> ArraySlice<Text> {
      switch shape {
      case .named: path
      case .spread: path.dropFirst()
      case .target(_, let name): ["viewpoint", Text(name)] + path.dropFirst()
      }
    }
  }

  /// Members that are not set by the commands of ``updates``.
  private static let special: [Collection: [Property: Command]] = [
    .views: [
      .viewpoint: Command(ViewService.setViewpoint),
      .center: Command(ViewService.setViewpoint, as: .target("center", "center")),
      .scale: Command(ViewService.setViewpoint, as: .target("scale", "targetScale")),
      .rotation: Command(ViewService.setViewpoint, as: .target("rotation", "rotation")),
      .cameraController: Command(ViewService.setCameraController),
      .map: Command(ViewService.setContent),
      .scene: Command(ViewService.setContent),
      .locationDisplay: Command(ViewService.setLocationDisplay, as: .spread),
    ]
  ]

  /// Sets the value at a path.
  private enum Owner {
    case viewModel(ViewModelID)
    case environment(at: ObjectReference?)
    case command(Command, Property, of: ObjectReference)
  }

  /// The JSON Pointer of the given value, for errors.
  static let given = "/params/value"

  /// Throws if no value can be written at a path.
  static func check(_ path: ModelPath, in world: World) throws { _ = try owner(of: world.resolved(path), in: world) }

  /// Throws `invalidPath` for a missing part of a client-defined value. Otherwise a binding or a link to a removed item would
  /// recreate the item, with only some of its members.
  static func checkPart(_ path: ModelPath, in world: World) throws {
    if isMissing(path, in: world) { throw ModelError.flow(.invalidPath(path.description)) }
  }

  /// Whether a path leads to a missing part of a client-defined value.
  static func isMissing(_ path: ModelPath, in world: World) -> Bool {
    let path = world.resolved(path)
    guard path.names.count > 3, let object = path.object else { return false }
    let isEnvironment = path.names.count > 4 && (path.names[2] == "values" || path.names[2] == "environment")
    return (object.collection == .viewModels || isEnvironment) && PathReading.value(at: path, in: world) == nil
  }

  /// Sets the value at a path by the command for it.
  ///
  /// - Throws: errors of the command; `notWritable` if there is none.
  static func write(_ value: Value, to path: ModelPath, in world: inout World) throws {
    let path = world.resolved(path)
    switch try owner(of: path, in: world) {
    case .viewModel(let id): try world.setValue(of: id, at: Array(path.names.dropFirst(2)), to: value)
    case .environment(let node): try setEnvironment(value, at: node, path, in: &world)
    case .command(let command, let member, let object):
      let params = try params(command, member, of: object, path, try whole(value, at: path, in: world))
      try run(command, path, params, in: &world)
    }
  }

  // MARK: -

  private static func owner(of path: ModelPath, in world: World) throws -> Owner {
    guard let object = path.object, path.names.count > 2 else { throw notWritable(path) }
    guard world.revision(of: object) != nil else { throw ModelError.unknownID(object.collection, object.id) }
    let member = path.names[2]
    let isInside = path.names.count > 3
    switch object.collection {
    case .viewModels:
      do {
        let property = try world.writable(member.string, of: try world.viewModels.require(ID(object.id)))
        _ = try property.part(at: path.names.dropFirst(3))
      } catch {
        guard case .flow(.readOnly) = error else { throw error }
        throw ModelError.flow(.readOnly(path.description))
      }
      return .viewModel(ID(object.id))
    case .environments where isInside && member == "values":
      return .environment(at: try world.environments.require(ID(object.id)).node)
    case _ where isInside && member == "environment" && (try? world.checkNode(object)) != nil:
      return .environment(at: object)
    default:
      guard let member = Property(rawValue: member.string) else { throw notWritable(path) }
      if let command = special[object.collection]?[member] { return .command(command, member, of: object) }
      guard object.collection.traits(of: member).contains(.settable), let command = updates[object.collection] else {
        throw notWritable(path)
      }
      return .command(command, member, of: object)
    }
  }

  /// The whole value of a member, with the part at a path replaced.
  private static func whole(_ value: Value, at path: ModelPath, in world: World) throws -> Value {
    guard path.names.count > 3 else { return value }
    guard var whole = PathReading.value(at: path.prefix(3), in: world),
      whole.setPart(at: path.names.dropFirst(3), to: value)
    else { throw ModelError.flow(.invalidPath(path.description)) }
    return whole
  }

  private static func setEnvironment(
    _ value: Value, at node: ObjectReference?, _ path: ModelPath, in world: inout World
  ) throws {
    let key = EnvironmentKeyID(path.names[3].string)
    var whole = value
    if path.names.count > 4 {
      whole = world.environment(key.rawValue, at: node)
      guard whole.setPart(at: path.names.dropFirst(4), to: value) else {
        throw ModelError.flow(.invalidPath(path.description))
      }
    }
    try world.setEnvironment(key, at: node, to: whole)
  }

  /// The params for the command that sets a member.
  private static func params(
    _ command: Command, _ member: Property, of object: ObjectReference, _ path: ModelPath, _ value: Value
  ) throws -> Value {
    var params = Value.Members()
    var cleared: [Value] = []
    switch command.shape {
    case .target(let type, let name):
      if value.isNull { throw wrong("a value other than null") }
      params["viewpoint"] = .object(["type": .string(type), name: value])
    case .spread:
      guard let spread = value.members else { throw wrong("object") }
      for name in spread.names {
        if let part = spread[name], !part.isNull { params[name] = part } else { cleared.append(.string(name)) }
      }
    // A command with a basemap only changes the given members of it, so a missing name has to be cleared explicitly.
    case .named where path.names.dropFirst(2) == ["basemap", "name"] && value.members?["name"]?.isNull ?? true:
      cleared.append(.string("basemap.name"))
    case .named where value.isNull:
      guard object.collection.traits(of: member).contains(.clearable) else { throw wrong("a value other than null") }
      cleared.append(.string(member.rawValue))
    case .named: params[member.rawValue] = value
    }
    if !cleared.isEmpty { params["clear"] = .array(cleared) }
    params[object.collection.noun] = .string(object.id)
    return .object(params)
  }

  private static func run(_ command: Command, _ path: ModelPath, _ params: Value, in world: inout World) throws {
    try JSONDocument(params.node).read { params in
      do { try command.run(params, &world) } catch ModelError.unknownMember {
        throw wrong("a value other than null")
      } catch {
        guard var failure = RPCError(error, in: params, at: "/params") else { throw error }
        if error is JSONError { failure = wrong(failure.expected ?? "another value", at: failure.path) }
        // Errors refer to the given value, so its path in the params is removed.
        failure.path = failure.path.map { pointer($0, past: command.names(before: path.names.dropFirst(2))) }
        throw failure
      }
    }
  }

  /// Converts a pointer into the command's params to one into the given value; to the value itself unless the pointer is at or
  /// below `names`. Other paths, such as those of files, are unchanged.
  private static func pointer(_ fault: String, past names: ArraySlice<Text>) -> String {
    guard let path = ModelPath.names(of: fault), path.first == "params" else { return fault }
    guard path.dropFirst().starts(with: names) else { return given }
    return given + ModelPath(Array(path.dropFirst(1 + names.count))).description
  }

  private static func notWritable(_ path: ModelPath) -> ModelError { .flow(.notWritable(path.description)) }

  private static func wrong(_ expected: String, at path: String? = nil) -> RPCError {
    RPCError(.wrongType, "Expected \(expected).", path: path ?? given, expected: expected)
  }
}
