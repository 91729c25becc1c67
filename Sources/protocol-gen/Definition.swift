// The definition of the protocol: the typed contents of the files under Protocol/.

struct Definition {
  var domains: [Domain] = [] {
    didSet { typesByName = Dictionary(types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }) }
  }
  private(set) var typesByName: [String: TypeDefinition] = [:]
  /// The kinds of object of all domains, in their order in the state tree.
  var kinds: [Kind] = []
  var errors: [ErrorDefinition] = []
  /// Error kinds that any method may return.
  var commonErrors: [String] = []
  /// Hash of names and contents of all files: equal hashes mean equal protocols.
  var hash = ""
  /// Version of the server and its clients, from the file VERSION.
  var productVersion = ""

  var types: [TypeDefinition] { domains.flatMap(\.types) }
  var methods: [Method] { domains.flatMap(\.methods) }
  var notifications: [Notification] { domains.flatMap(\.notifications) }
  var statePaths: [StatePath] { domains.flatMap(\.statePaths) }

  var abouts: [About] {
    domains.map(\.about) + types.map(\.about) + groups.map(\.about) + methods.map(\.about) + notifications.map(\.about)
      + statePaths.map(\.about) + errors.map(\.about)
  }

  /// Version of the protocol: major and minor number of `VERSION`. No `since` is newer.
  var version: String { productVersion.split(separator: ".").prefix(2).joined(separator: ".") }

  /// The names in `start` and all names reachable from them; `next` returns the direct references of a type.
  func reachable(
    from start: [String], _ next: (TypeDefinition) -> [String] = \.references
  ) -> Set<String> {
    var waiting = start
    var found: Set<String> = []
    while let name = waiting.popLast() {
      if found.insert(name).inserted, let type = typesByName[name] { waiting += next(type) }
    }
    return found
  }
}

struct Version: Comparable {
  let parts: [Int]
  init(parts: [Int]) { self.parts = parts }
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 3, !parts.contains(nil) else { return nil }
    self.parts = parts.compactMap(\.self)
  }
  static func < (left: Version, right: Version) -> Bool { left.parts.lexicographicallyPrecedes(right.parts) }
}

/// Members that every element has.
struct About {
  var path: Path
  var doc = ""
  /// Inherited from the containing element if absent.
  var since = ""
  var isExperimental = false
  var deprecated: String?
}

struct Domain {
  var name: String
  var about: About
  /// The root type of the domain's files, if the domain defines a file format.
  var file: String?
  var kinds: [Kind] = []
  var types: [TypeDefinition] = []
  var groups: [ParamGroup] = []
  var methods: [Method] = []
  var notifications: [Notification] = []
  var statePaths: [StatePath] = []
}

indirect enum TypeExpression: Hashable {
  case string, number, integer, boolean, json
  case named(String)
  case array(TypeExpression, Constraints)
  case map(TypeExpression)

  /// Whether it is a list of members to be cleared.
  var namesMembers: Bool { if case .array(.named("MemberName"), _) = self { true } else { false } }

  /// The type names it references.
  var names: [String] {
    switch self {
    case .named(let name): [name]
    case .array(let element, _), .map(let element): element.names
    case .string, .number, .integer, .boolean, .json: []
    }
  }
}

struct Constraints: Hashable {
  var minimum: Tree?
  var maximum: Tree?
  var exclusiveMinimum: Tree?
  var exclusiveMaximum: Tree?
  var minLength: Int?
  var maxLength: Int?
  var minItems: Int?
  var maxItems: Int?
  /// A regular expression for the whole string.
  var pattern: String?

  var isEmpty: Bool { self == Constraints() }
}

struct Property {
  var name: String
  var type: TypeExpression
  var about: About
  var isOptional = false
  /// Whether another standard defines the name, so that it may be a keyword in some language.
  var isForeign = false
  /// Whether it is present if the params ask for the form that has it: types of clients do not make them check.
  var isUsual = false
  var defaultValue: Tree?
  var unit: String?
  var constraints = Constraints()
  /// For a member of an object of the state tree: its changes are published and coalesced in this way.
  var coalescing: Coalescing?
  /// The type in the params of commands that set it; nil if no command does.
  var settable: TypeExpression?
  var isClearable = false
  var saved: Saved?
  var example: Tree?
  var form: Form?

  /// The form of a member of an object in documents, if it differs from that of others.
  enum Form: String, CaseIterable {
    /// After the others and in pieces: other objects, or long data.
    case apart
    /// Only in some cases.
    case occasional
  }

  /// Whether documents contain it as a member of its object.
  var isInDocuments: Bool { saved == .written || saved == .unnoticed }

  var mayBeAbsent: Bool { isOptional || defaultValue != nil }
}

struct TypeDefinition {
  enum Kind {
    case object([Property])
    case union([Variant])
    case enumeration([EnumValue])
    case scalar(TypeExpression, Constraints)
    case opaque(schema: Tree)
  }
  struct Variant {
    var tag: String
    var about: About
    var properties: [Property]
  }
  struct EnumValue {
    var value: String
    var about: About
  }
  var name: String
  var domain: String
  var about: About
  var kind: Kind
  var unit: String?
  /// Its Python type, and the parameter type for arrays of it.
  var python: String?
  var pythonArray: String?
  /// For an opaque type: which members strict clients may send; nil for any.
  var strictness: Strictness?
  /// The collection of the state tree whose objects it describes. Their members are read from the model's tables.
  var collection: String?
  /// For an enumeration: the enumeration of the model with the same cases.
  var model: ModelType?
  /// The type of objects whose saved members are properties of this type.
  var members: String?
  var example: Tree?

  var properties: [Property] {
    switch kind {
    case .object(let properties): properties
    case .union(let variants): variants.flatMap(\.properties)
    case .enumeration, .scalar, .opaque: []
    }
  }

  /// The names of the types that it references.
  var references: [String] {
    if case .opaque(let schema) = kind { schema.references } else { properties.flatMap(\.type.names) }
  }

  /// The names of the types that its values contain directly, not in an array or a map.
  var contained: [String] {
    properties.compactMap { if case .named(let name) = $0.type { name } else { nil } }
  }
}

/// An enumeration of the server, with the name of its module in front: `GeoModel.Layer.Kind`.
struct ModelType {
  let module: String
  let name: String

  init?(_ text: String) {
    guard let parts = text.wholeMatch(of: /([A-Z][A-Za-z0-9]*)\.([A-Z][A-Za-z0-9]*(?:\.[A-Z][A-Za-z0-9]*)*)/) else {
      return nil
    }
    (module, name) = (String(parts.1), String(parts.2))
  }
}

/// When strict clients may only send the members that an opaque type's schema names.
enum Strictness: String, CaseIterable { case always, untagged }
enum Coalescing: String, CaseIterable { case latest, merge, keyed, every }
/// How a document stores a member: with the object; with the object, though its changes do not modify the document; or
/// in another form, such as the order of a list.
enum Saved: String, CaseIterable { case written, unnoticed, elsewhere }
enum Shape: String, CaseIterable { case query, command, process, task, session, lifecycle }
enum Direction: String, CaseIterable { case serverToClient, clientToServer }

/// The params or result of a message.
enum Payload {
  case properties([Property])
  /// One object or union type, or any JSON value.
  case type(TypeExpression)

  var properties: [Property] { if case .properties(let list) = self { list } else { [] } }
  var references: [String] { if case .type(let type) = self { type.names } else { properties.flatMap(\.type.names) } }
}

struct Method {
  var name: String
  var domain: String
  var about: About
  var shape: Shape
  var params: Payload
  /// Names of included groups, which add params and errors.
  var includes: [String] = []
  /// The type of objects whose settable members are added as params.
  var members: String?
  var result: Payload
  /// The members of a part, if the method can send its result in parts; else empty.
  var part: [Property] = []
  var errors: [String]
  var exampleParams: Tree?
  var exampleResult: Tree?

  /// Whether it is a command whose result is the world's revision alone.
  var answersRevision: Bool { shape == .command && result.properties.map(\.name) == ["revision"] }
}

struct Notification {
  var name: String
  var domain: String
  var about: About
  var direction: Direction
  var coalescing: Coalescing?
  var params: Payload
  var exampleParams: Tree?
}

struct StatePath {
  var path: String
  var domain: String
  var about: About
  var type: TypeExpression
  /// The names of the members of an object that no type describes.
  var members: [String] = []
  var coalescing: Coalescing
}

struct ErrorDefinition {
  var kind: String
  var code: Int
  var about: About
  var data: [Property]
  var example: Tree?
}
