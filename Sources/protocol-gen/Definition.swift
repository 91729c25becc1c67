// The protocol as protocol-gen understands it: what the files under Protocol/ say, typed.

struct Definition {
  var domains: [Domain] = []
  var errors: [ErrorDefinition] = []
  /// Kinds that any method may answer.
  var commonErrors: [String] = []
  /// Of all files, names and bytes: equal hashes, equal protocols.
  var hash = ""
  /// Of the server and its clients, from the file VERSION.
  var productVersion = ""

  var types: [TypeDefinition] { domains.flatMap(\.types) }
  var methods: [Method] { domains.flatMap(\.methods) }
  var notifications: [Notification] { domains.flatMap(\.notifications) }
  var statePaths: [StatePath] { domains.flatMap(\.statePaths) }

  /// Version of the protocol: major and minor number of the newest `since`.
  var version: String {
    let all =
      domains.map(\.about) + types.map(\.about) + methods.map(\.about) + notifications.map(\.about)
      + errors.map(\.about)
    let newest = all.compactMap { Version($0.since) }.max() ?? Version(parts: [0, 0, 0])
    return newest.parts.prefix(2).map(String.init).joined(separator: ".")
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

/// What every element carries.
struct About {
  var place: Place
  var doc = ""
  /// Inherited from what contains it, where it is not given.
  var since = ""
  var isExperimental = false
  var deprecated: String?
}

struct Domain {
  var name: String
  var about: About
  /// The type of what stands in the domain's files, if it has files.
  var file: String?
  var types: [TypeDefinition] = []
  var methods: [Method] = []
  var notifications: [Notification] = []
  var statePaths: [StatePath] = []
}

indirect enum TypeExpression: Hashable {
  case string, number, integer, boolean, json
  case named(String)
  case array(TypeExpression, Constraints)
  case map(TypeExpression)

  /// Whether it is a list of members beside it that are to be taken away.
  var namesMembers: Bool { if case .array(.named("MemberName"), _) = self { true } else { false } }

  /// The names it mentions.
  var names: [String] {
    switch self {
    case .named(let name): [name]
    case .array(let element, _), .map(let element): element.names
    default: []
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
  /// Of the whole string.
  var pattern: String?

  var isEmpty: Bool { self == Constraints() }
}

struct Property {
  var name: String
  var type: TypeExpression
  var about: About
  var isOptional = false
  /// Whether another standard names it, so that it may be a keyword somewhere.
  var isForeign = false
  var defaultValue: Tree?
  var unit: String?
  var constraints = Constraints()
  /// Of a member of an object of the state tree: that its changes are published, and how.
  var coalescing: Coalescing?
  /// The type in the params of the commands that set it; nil for what none sets.
  var settable: TypeExpression?
  var isClearable = false
  var saved: Saved?
  var example: Tree?

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
  /// What Python calls it, and what it takes where an array of these is a parameter.
  var python: String?
  var pythonArray: String?
  /// Of an opaque type; nil where strict clients may send any members.
  var strictness: Strictness?
  /// The collection of the state tree whose objects it describes: their members are read from the model's tables.
  var collection: String?
  /// The type of objects whose saved members are properties of this one.
  var members: String?
  var example: Tree?

  var properties: [Property] {
    switch kind {
    case .object(let properties): properties
    case .union(let variants): variants.flatMap(\.properties)
    default: []
    }
  }
}

/// When the members that an opaque type's schema names are all that strict clients may send.
enum Strictness: String, CaseIterable { case always, untagged }
enum Coalescing: String, CaseIterable { case latest, merge, keyed, every }
/// What a document has of a member: written with the object; written, though its changes leave the document unmodified; or kept in
/// another form, such as the order of a list.
enum Saved: String, CaseIterable { case written, unnoticed, elsewhere }
enum Shape: String, CaseIterable { case query, command, process, task, session, lifecycle }
enum Direction: String, CaseIterable { case serverToClient, clientToServer }

/// What a message carries.
enum Payload {
  case properties([Property])
  /// One object or union type, or any JSON value.
  case type(TypeExpression)

  var properties: [Property] { if case .properties(let list) = self { list } else { [] } }
}

struct Method {
  var name: String
  var domain: String
  var about: About
  var shape: Shape
  var params: Payload
  /// The type of objects whose settable members are params.
  var members: String?
  var result: Payload
  var errors: [String]
  var exampleParams: Tree?
  var exampleResult: Tree?
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
  var coalescing: Coalescing
}

struct ErrorDefinition {
  var kind: String
  var code: Int
  var about: About
  var data: [Property]
  var example: Tree?
}
