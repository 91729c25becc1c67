// Writing by path: which command owns a place of the state tree, and how a value becomes its params.

import GeoModel
import GeoProtocol
import Handlers
import JSON
import JSONRPC
import StateTree

enum PathWriting {
  private typealias Command = @Sendable (JSONValue, inout World) throws -> Void

  /// What sets members of an object.
  private struct Setter: Sendable {
    let members: Set<String>
    /// Whether `clear` of the command takes a member's name for null.
    let hasClear: Bool
    /// Whether the params are the value's own members, not the value under its name.
    let isSpread: Bool
    let run: Command

    /// - Parameters:
    ///   - params: of the command, by name.
    ///   - member: the object's member that has them as its own; when nil they are the object's.
    init(_ params: [String], member: String? = nil, _ run: @escaping Command) {
      members = Set(member.map { [$0] } ?? params).subtracting(["map", "layer", "scene", "overlay", "view", "clear"])
      hasClear = params.contains("clear")
      isSpread = member != nil
      self.run = run
    }
  }

  /// The members of each kind of object that can be written: the params of its commands, but for those that name it.
  private static let setters: [Collection: [Setter]] = [
    .maps: [
      Setter(MapProtocol.Update.params) { _ = try MapService.update(.init(from: $0), in: &$1) }
    ],
    .layers: [
      Setter(LayerProtocol.Update.params) { _ = try LayerService.update(.init(from: $0), in: &$1) }
    ],
    .overlays: [
      Setter(OverlayProtocol.Update.params) { _ = try OverlayService.update(.init(from: $0), in: &$1) }
    ],
    .scenes: [
      Setter(SceneProtocol.Update.params) { _ = try SceneService.update(.init(from: $0), in: &$1) }
    ],
    .views: [
      Setter(ViewProtocol.SetViewpoint.params) { _ = try ViewService.setViewpoint(.init(from: $0), in: &$1) },
      Setter(ViewProtocol.Resize.params) { _ = try ViewService.resize(.init(from: $0), in: &$1) },
      Setter(ViewProtocol.SetLocationDisplay.params, member: "locationDisplay") {
        _ = try ViewService.setLocationDisplay(.init(from: $0), in: &$1)
      },
    ],
  ]

  /// Where errors say that the value lies that was to be written.
  static let given = "/params/value"

  /// Refuses a path at which nothing can be written, whatever the value.
  static func check(_ path: ModelPath, in world: World) throws {
    guard let object = path.object, path.names.count > 2 else { throw notWritable(path) }
    guard world.revision(of: object) != nil else { throw ModelError.unknownID(object.collection, object.id) }
    switch object.collection {
    case .viewModels:
      let property = try world.viewModels.require(ID(object.id)).property(path.names[2])
      if property.derivation != nil { throw ModelError.flow(.readOnly(path.description)) }
    case .environments:
      guard path.names.count > 3, path.names[2] == "values" else { throw notWritable(path) }
    default:
      if path.names[2] == "environment", path.names.count > 3, (try? world.checkNode(object)) != nil { return }
      guard setter(path, object) != nil else { throw notWritable(path) }
    }
  }

  /// Sets what stands at a path, by the command that owns it.
  ///
  /// - Throws: what the command throws; `notWritable` where there is none.
  static func write(_ value: Value, to path: ModelPath, in world: inout World) throws {
    try check(path, in: world)
    guard let object = path.object else { return }
    switch object.collection {
    case .viewModels:
      try world.setValue(of: ID(object.id), at: Array(path.names.dropFirst(2)), to: value)
    case .environments:
      let scope = try world.environments.require(ID(object.id))
      try setEnvironment(value, at: scope.node, path, in: &world)
    default:
      if path.names[2] == "environment" { return try setEnvironment(value, at: object, path, in: &world) }
      guard let setter = setter(path, object) else { throw notWritable(path) }
      let whole = try whole(value, at: path, in: world)
      try run(setter, object, path, whole, in: &world)
    }
  }

  // MARK: -

  private static func setter(_ path: ModelPath, _ object: ObjectReference) -> Setter? {
    setters[object.collection]?.first { $0.members.contains(path.names[2]) }
  }

  /// A part of a member's value is written with all of it.
  private static func whole(_ value: Value, at path: ModelPath, in world: World) throws -> Value {
    guard path.names.count > 3 else { return value }
    let member = ModelPath(Array(path.names.prefix(3)))
    guard var whole = PathReading.value(at: member, in: world), whole.setPart(at: path.names.dropFirst(3), to: value)
    else { throw ModelError.flow(.invalidPath(path.description)) }
    return whole
  }

  private static func setEnvironment(
    _ value: Value, at node: ObjectReference?, _ path: ModelPath, in world: inout World
  ) throws {
    let key = EnvironmentKeyID(path.names[3])
    var whole = value
    if path.names.count > 4 {
      whole = world.environment(key.rawValue, at: node)
      guard whole.setPart(at: path.names.dropFirst(4), to: value) else {
        throw ModelError.flow(.invalidPath(path.description))
      }
    }
    try world.setEnvironment(key, at: node, to: whole)
  }

  private static func run(
    _ setter: Setter, _ object: ObjectReference, _ path: ModelPath, _ value: Value, in world: inout World
  ) throws {
    let member = path.names[2]
    var members: [(String, Value)] = [(object.collection.noun, .string(object.id))]
    var cleared: [Value] = []
    func add(_ name: String, _ value: Value) {
      if value.isNull { cleared.append(.string(name)) } else { members.append((name, value)) }
    }
    if setter.isSpread {
      guard let spread = value.members else { throw wrong("object") }
      for name in spread.names { add(name, spread[name] ?? .null) }
    } else if path.names.dropFirst(2).elementsEqual(["basemap", "name"]), value.members?["name"]?.isNull ?? true {
      // What a command changes of a basemap it is given, not all of it.
      add("basemap.name", .null)
    } else {
      add(member, value)
    }
    if !cleared.isEmpty {
      guard setter.hasClear else { throw wrong("a value other than null") }
      members.append(("clear", .array(cleared)))
    }
    var params = Value.Members()
    for (name, value) in members { params[name] = value }
    let document = try JSONDocument(Value.object(params).jsonText)
    try document.read { params in
      do { try setter.run(params, &world) } catch ModelError.unknownMember {
        throw wrong("a value other than null")
      } catch {
        guard var failure = RPCError(error, in: params, at: "/params") else { throw error }
        if error is JSONError { failure = wrong(failure.expected ?? "another value", at: failure.path) }
        // The way to what was given: past the member, or the part of it, that the path leads to.
        failure.path = failure.path.map { place(of: $0, past: path.names.dropFirst(setter.isSpread ? 3 : 2)) }
        throw failure
      }
    }
  }

  /// Where in the value given an error lies that names a place in the command's params; the value itself where it lies elsewhere in
  /// them. Other places, such as files, stay.
  private static func place(of fault: String, past names: ArraySlice<String>) -> String {
    guard fault == "/params" || fault.hasPrefix("/params/") else { return fault }
    let own = ModelPath(["params"] + names).description
    guard fault == own || fault.hasPrefix(own + "/") else { return given }
    return given + fault.dropFirst(own.count)
  }

  private static func notWritable(_ path: ModelPath) -> ModelError { .flow(.notWritable(path.description)) }

  private static func wrong(_ expected: String, at path: String? = nil) -> RPCError {
    RPCError(.wrongType, "Expected \(expected).", path: path ?? given, expected: expected)
  }
}
