// Swift code for kinds of objects: their collections and identifiers in the model, their lists in documents, their services.

struct SwiftKinds {
  let definition: Definition
  private var kinds: [Kind] { definition.kinds }

  // MARK: The model

  func model() -> String {
    var lines = Lines()
    lines.add(SwiftTypes.header)
    for kind in kinds { lines.add("public typealias \(kind.model)ID = ID<\(kind.model)>") }
    lines.add()
    collection(&lines)
    lines.add()
    lines.add("/// The objects of each kind.")
    lines.block("public struct Registries: Sendable {") { lines in
      for kind in kinds { lines.add("public internal(set) var \(kind.collection) = Registry<\(kind.model)>()") }
    }
    lines.add()
    lines.block("extension World {") { lines in
      for kind in kinds {
        lines.block("public internal(set) var \(kind.collection): Registry<\(kind.model)> {") { lines in
          lines.add("@inlinable _read { yield registries.\(kind.collection) }")
          lines.add("_modify { yield &registries.\(kind.collection) }")
        }
      }
    }
    for kind in kinds {
      lines.add()
      lines.block("extension \(kind.model) {") { lines in
        let path = "WritableKeyPath<World, Registry<\(kind.model)>> & Sendable"
        lines.add("public static let collection = Collection.\(kind.collection)")
        lines.add("public static var registry: \(path) { \\.registries.\(kind.collection) }")
        lines.add("public static let isUndoable = \(kind.isUndoable)")
        if !kind.isOwned { lines.add("public var owner: ObjectReference? { nil }") }
      }
    }
    return lines.text
  }

  private func collection(_ lines: inout Lines) {
    lines.add("/// The members of the state tree's root that hold objects by id.")
    lines.block("public enum Collection: String, Hashable, Sendable, CaseIterable {") { lines in
      lines.list("case", kinds.map(\.collection), "", width: 104)
      cases("var kind: any Entity.Type", "The type of the objects.", &lines) { $0.model + ".self" }
      cases(
        "public var noun: String", "The name of one object in errors, which is also the wire member that holds its id.",
        &lines
      ) { "\"\($0.noun)\"" }
      cases("public var domain: String", "The domain of the methods of these objects.", &lines) { "\"\($0.domain)\"" }
      cases(
        "var hasUniqueIDs: Bool",
        "Whether the ids are unique in the session. Other kinds have names as ids, or the ids of other objects.", &lines
      ) { "\($0.ids == .unique)" }
      cases("var isSaved: Bool", "Whether documents contain the objects.", &lines) { "\($0.document != .none)" }
      lines.add()
      lines.add("/// The kinds of object that close with their owner.")
      let owned = kinds.filter(\.isOwned).map { "." + $0.collection }.joined(separator: ", ")
      lines.add("static let owned: [Collection] = [\(owned)]")
    }
  }

  private func cases(_ signature: String, _ doc: String, _ lines: inout Lines, _ value: (Kind) -> String) {
    lines.add()
    lines.add("/// \(doc)")
    lines.block(signature + " {") { lines in
      lines.add("switch self {")
      for kind in kinds { lines.add("case .\(kind.collection): \(value(kind))") }
      lines.add("}")
    }
  }

  // MARK: Documents

  func documents() -> String {
    let listed = kinds.filter { $0.document == .listed }
    var lines = Lines(imports: ["GeoModel", "GeoProtocol", "Handlers", "JSON"])
    lines.block("enum SavedKinds {") { lines in
      let saved = kinds.filter { $0.document != .none }
      lines.add("/// The kinds of object that documents have.")
      lines.fitting("static let all: [any SavedKind.Type] =", ["[" + types(saved) + "]"])
      lines.add("/// Those in lists of the document's own, by their members.")
      lines.add("static let listed: [any ListedKind.Type] = [\(types(listed))]")
    }
    lines.add()
    lines.block("extension SavedObjects {") { lines in
      set("lists", .apart, "Members that are other objects, or long: they are written one by one.", &lines)
      set(
        "occasional", .occasional,
        "Members that are written only where something asks for them: of what was read only members unknown to this version are kept.",
        &lines)
    }
    // A kind with several commands that create it, or none, is restored by code in `Documents`.
    for kind in listed where definition.methods.contains(where: { $0.name == kind.domain + "/create" && $0.shape == .command }) {
      restoring(kind, &lines)
    }
    return lines.text
  }

  private func types(_ kinds: [Kind]) -> String { kinds.map { $0.model + ".self" }.joined(separator: ", ") }

  private func set(_ name: String, _ form: Property.Form, _ doc: String, _ lines: inout Lines) {
    let names = definition.types.flatMap(\.properties).filter { $0.form == form }.map(\.name)
    lines.prose(doc, prefix: "/// ")
    lines.list("static let \(name): Set<String> = [", Set(names).sorted().map { "\"\($0)\"" }, "]", width: 100)
  }

  /// Generates the code that restores an object by the commands of its kind, which create and change it.
  private func restoring(_ kind: Kind, _ lines: inout Lines) {
    let (scope, service) = (SwiftCoding.namespace(kind.domain), Names.upperCamel(kind.domain) + "Service")
    let create = definition.methods.first { $0.name == kind.domain + "/create" }
    let required = create?.params.properties.filter { !$0.mayBeAbsent }.map { "\"\($0.name)\"" } ?? []
    lines.add()
    lines.block("extension \(kind.model): ListedKind {") { lines in
      lines.add("static let required: Set<String> = [\(required.joined(separator: ", "))]")
      lines.block("static func restore(_ id: String, _ json: JSONValue, in world: inout World) throws {") { lines in
        lines.add("var params = try \(scope).Create.Params(from: json)")
        lines.add("params.id = id")
        lines.add("params.ifExists = .error")
        lines.add("_ = try \(service).create(params, in: &world)")
        guard definition.methods.contains(where: { $0.name == kind.domain + "/update" }) else { return }
        lines.add("var changes = try \(scope).Update.Params(from: json)")
        lines.add("changes.clear = nil")
        lines.add("_ = try \(service).update(changes, in: &world)")
      }
    }
  }

  // MARK: Services

  /// The handlers that are the same for all kinds: those that get and close one object by its id, and list all objects.
  func handlers() -> String {
    var lines = Lines(imports: ["GeoModel", "GeoProtocol", "JSON", "WireCoding"])
    for kind in kinds {
      guard let type = definition.types.first(where: { $0.collection == kind.collection }) else { continue }
      let methods = definition.methods.filter { $0.domain == kind.domain }
        .compactMap { handler(of: $0, kind, type.name) }
      guard !methods.isEmpty else { continue }
      lines.block("extension \(Names.upperCamel(kind.domain))Service {") { lines in
        for (signature, body) in methods { lines.block("package static func \(signature) {") { $0.add(body) } }
      }
      lines.add()
    }
    return lines.text
  }

  private func handler(of method: Method, _ kind: Kind, _ type: String) -> (signature: String, body: String)? {
    let id = "\(kind.model)ID(params.\(kind.noun))"
    let isOfOne = method.params.properties.map(\.name) == [kind.noun]
    switch (Names.verb(method.name), method.result) {
    case ("get", .type(.named(type))) where isOfOne:
      return ("get(_ params: Get.Params, in world: World) throws -> JSONOpaque", "try Wire.object(\(id), in: world)")
    case ("list", .properties(let result)) where method.params.properties.isEmpty && result.count == 2:
      let list = "\(kind.collection): world.\(kind.collection).values.map { Wire.object($0, world) }"
      return ("list(_ params: List.Params, in world: World) -> List.Result", ".init(revision: world.revision, \(list))")
    case ("close", .properties) where isOfOne:
      return ("close(_ params: Close.Params, in world: inout World) throws", "try world.close(\(id))")
    default: return nil
    }
  }

  /// Registers the services of all domains.
  func services(_ modules: [String]) -> String {
    var lines = Lines(imports: modules)
    lines.block("extension Client {") { lines in
      lines.block("func registerServices() {") { lines in
        for domain in definition.domains where domain.methods.contains(where: { $0.shape != .lifecycle }) {
          lines.add("\(Names.upperCamel(domain.name))Service.register(on: self)")
        }
      }
    }
    return lines.text
  }
}
