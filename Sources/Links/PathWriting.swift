// Writing by path: which command sets a value of the state tree, and how the value becomes its params.

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

    /// Where a value stands in the command's params.
    enum Shape: Equatable {
      /// Under the member's name.
      case named
      /// The params are the value's own members.
      case spread
      /// In a viewpoint target of a type, under a name.
      case target(_ type: String, _ name: String)
    }

    init<P: JSONDecodable & Sendable, R>(
      _ command: @escaping @Sendable (P, inout World) throws -> R, as shape: Shape = .named
    ) {
      run = { params, world in _ = try command(P(from: params), &world) }
      self.shape = shape
    }

    /// The names in the params that lead to the given value.
    ///
    /// - Parameter path: of the value in the object.
    func names(before path: ArraySlice<Text>) -> ArraySlice<Text> {
      switch shape {
      case .named: path
      case .spread: path.dropFirst()
      case .target(_, let name): ["viewpoint", Text(name)] + path.dropFirst()
      }
    }
  }

  /// Members that other commands set than those of ``updates``.
  private static let special: [Collection: [Property: Command]] = [
    .views: [
      .viewpoint: Command(ViewService.setViewpoint),
      .center: Command(ViewService.setViewpoint, as: .target("center", "center")),
      .scale: Command(ViewService.setViewpoint, as: .target("scale", "targetScale")),
      .rotation: Command(ViewService.setViewpoint, as: .target("rotation", "rotation")),
      .map: Command(ViewService.setContent),
      .scene: Command(ViewService.setContent),
      .locationDisplay: Command(ViewService.setLocationDisplay, as: .spread),
    ]
  ]

  /// What sets the value at a path.
  private enum Owner {
    case viewModel(ViewModelID)
    case environment(at: ObjectReference?)
    case command(Command, Property, of: ObjectReference)
  }

  /// The JSON Pointer of the value to be written, in errors.
  static let given = "/params/value"

  /// Refuses a path at which nothing can be written, whatever the value.
  static func check(_ path: ModelPath, in world: World) throws { _ = try owner(of: path, in: world) }

  /// Throws `invalidPath` for a part of a client's own value that is not there: a binding or a link to an item that was removed would
  /// bring it back with what it knows of it.
  static func checkPart(_ path: ModelPath, in world: World) throws {
    if isMissing(path, in: world) { throw ModelError.flow(.invalidPath(path.description)) }
  }

  /// Whether a path leads to a part of a client's own value that is not there.
  static func isMissing(_ path: ModelPath, in world: World) -> Bool {
    guard path.names.count > 3, let object = path.object else { return false }
    let isEnvironment = path.names.count > 4 && (path.names[2] == "values" || path.names[2] == "environment")
    return (object.collection == .viewModels || isEnvironment) && PathReading.value(at: path, in: world) == nil
  }

  /// Sets what stands at a path, by the command that owns it.
  ///
  /// - Throws: what the command throws; `notWritable` where there is none.
  static func write(_ value: Value, to path: ModelPath, in world: inout World) throws {
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
      do { _ = try world.writable(member.string, of: try world.viewModels.require(ID(object.id))) } catch {
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

  /// A part of a member's value is written with all of it.
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

  /// The params with which a command sets a member.
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
    // What a command changes of a basemap it is given, not all of it.
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
        // The way to what was given: past the member, or the part of it, that the path leads to.
        failure.path = failure.path.map { pointer($0, past: command.names(before: path.names.dropFirst(2))) }
        throw failure
      }
    }
  }

  /// The pointer into the value given for a pointer into the command's params: to the value itself unless it is at or below `names`.
  /// Other paths, such as those of files, stay.
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
