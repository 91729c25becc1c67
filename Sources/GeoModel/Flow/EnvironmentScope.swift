// The environment: values and shared view models that are set at a node of the object tree and inherited by all nodes below.

import Geometry

public typealias EnvironmentID = EnvironmentScopeID

/// A key of the environment, with its type and default. Registered once; never undone.
public struct EnvironmentKey: Entity {
  /// Constraints on values of a built-in key beyond their type.
  enum Rule: Sendable {
    case oneOf([String])
    /// A color as `#RRGGBB` or `#RRGGBBAA`.
    case color
    /// The form of a BCP 47 tag: letters and digits in parts of at most eight.
    case languageTag
    /// The form of an IANA time zone: `Area/Location`, or `UTC`.
    case timeZone
    case positive
  }

  public static let isIndexed = false
  public let id: EnvironmentKeyID
  public var revision = 0
  public let definition: PropertyDefinition
  let rule: Rule?

  public var isBuiltIn: Bool { rule != nil }

  init(_ definition: PropertyDefinition, rule: Rule? = nil) {
    id = EnvironmentKeyID(definition.name)
    self.definition = definition
    self.rule = rule
  }

  /// The value as stored, converted to the key's type.
  func accepted(_ value: Value) throws(ModelError) -> Value {
    let value = try definition.accepted(value, at: "")
    if let rule, value != .null, !rule.allows(value) { throw .flow(.wrongType(path: "", expected: rule.expected)) }
    return value
  }

  static let timeZone = EnvironmentKeyID("timeZone")

  static let builtIn: [EnvironmentKey] = [
    key(
      "units", .string("metric"), "Units of formatLength, formatArea and formatSpeed.",
      .oneOf(["metric", "imperial"])),
    key("locale", .string("en"), "How numbers are formatted: a BCP 47 tag.", .languageTag),
    key(
      "language", .null, "Language of month and day names: a BCP 47 tag; the language of the locale when null.",
      .languageTag),
    key(
      "timeZone", .string("UTC"), "Time zone of formatDate: an IANA name for which this machine has data.",
      .timeZone),
    key("selectionColor", .string("#00FFFF"), "Color of selections, for overlays without their own.", .color),
    key("symbolScale", .number(1), "Factor for the sizes of symbols.", .positive),
  ]

  private static func key(_ name: String, _ value: Value, _ doc: String, _ rule: Rule) -> EnvironmentKey {
    let type: PropertyType = value.double == nil ? .string : .number
    return EnvironmentKey(
      PropertyDefinition(
        name: name, type: type, isNullable: value == .null, defaultValue: value, doc: doc, derivation: nil),
      rule: rule)
  }
}

extension EnvironmentKey.Rule {
  var expected: String {
    switch self {
    case .oneOf(let names): "one of " + names.map { "\"\($0)\"" }.joined(separator: ", ")
    case .color: "a colour such as #FF8000 or #FF800080"
    case .languageTag: "a BCP 47 tag such as de-CH"
    case .timeZone: "an IANA time zone such as Europe/Zurich, or UTC"
    case .positive: "a number in 0.01...100"
    }
  }

  func allows(_ value: Value) -> Bool {
    switch (self, value) {
    case (.oneOf(let names), .string(let text)): names.contains(text)
    case (.color, .string(let text)): Color(text) != nil
    case (.languageTag, .string(let text)):
      text.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { part in
        (1...8).contains(part.utf8.count) && part.allSatisfy(Self.isAlphanumeric)
      } && text.prefix { $0 != "-" }.allSatisfy(\.isLetter)
    case (.timeZone, .string(let text)):
      text.utf8.count <= 64
        && text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
          !part.isEmpty && part.allSatisfy { Self.isAlphanumeric($0) || "_-+".contains($0) }
        }
    case (.positive, .integer(let number)): (1...100).contains(number)
    case (.positive, .number(let number)): (0.01...100).contains(number)
    default: false
    }
  }

  private static func isAlphanumeric(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber)
  }
}

/// The values set and objects shared at one node: a map, scene, view, overlay or layer, or the session.
public struct EnvironmentScope: Entity {
  /// The scope of the session. No object has this id.
  public static let session = EnvironmentID("$session")

  /// The id of the node.
  public let id: EnvironmentID
  public var revision = 0
  /// The node; nil for the session.
  public let node: ObjectReference?
  public internal(set) var values: [String: Value] = [:]
  /// Shared view models by name.
  public internal(set) var objects: [String: ViewModelID] = [:]

  init(_ node: ObjectReference?) {
    id = node.map { EnvironmentID($0.id) } ?? Self.session
    self.node = node
  }

  public var parent: ObjectReference? { node }
  public var references: [Text] {
    // Texts longer than an id can be do not refer to objects.
    values.values.compactMap { Text($0.text) }.filter { $0.string.utf8.count <= 64 }
      + objects.values.map { Text($0.rawValue) }
  }
  public func withoutDanglingReferences(in world: World) -> EnvironmentScope {
    var result = self
    result.objects = objects.filter { world.viewModels[$0.value] != nil }
    for (name, value) in values {
      guard let key = world.environmentKeys[EnvironmentKeyID(name)], world.isDangling(value, of: key.definition) else {
        continue
      }
      result.values[name] = .null
    }
    return result
  }
  public var byteCount: Int { values.reduce(512) { $0 + $1.key.utf8.count + $1.value.byteCount } }
}
