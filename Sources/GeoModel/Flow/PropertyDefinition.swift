// Definitions of the properties of view models and the keys of the environment.

import Geometry

/// The type of a property's values.
public enum PropertyType: String, Hashable, Sendable, CaseIterable {
  case boolean, integer, number, string
  /// Any value, null included.
  case json
  /// An array.
  case list
  /// An object with members of any name.
  case dictionary
  /// An object with the fields that the definition names.
  case `struct`
  /// The id of an object of the session, or null. Becomes null when the object closes.
  case reference
  /// A tagged union: processing, empty, idle with items, or failed with an error.
  case status
  /// A tagged union of cases that the definition names.
  case union

  /// The default value of a property without one.
  var initial: Value {
    switch self {
    case .boolean: .boolean(false)
    case .integer: .integer(0)
    case .number: .number(0)
    case .string: .string("")
    case .json, .reference: .null
    case .list: .array([])
    case .dictionary, .struct, .union: .object(Value.Members())
    case .status: .object(["type": .string("empty")])
    }
  }

  /// Whether null is always a value of the type.
  var isNullable: Bool { self == .json || self == .reference }

  /// The type in words, for errors.
  public var expected: String {
    switch self {
    case .boolean: "boolean"
    case .integer: "integer"
    case .number: "number"
    case .string: "string"
    case .json: "any value"
    case .list: "array"
    case .dictionary, .struct: "object"
    case .reference: "the id of an object, or null"
    case .status:
      #"{"type": "processing"}, {"type": "empty"}, {"type": "idle", "items"} or {"type": "failed", "error"}"#
    case .union: "object with a `type`"
    }
  }

  /// The value converted to the type; nil if it has another type. Of a reference, only the form is checked.
  func accepted(_ value: Value) -> Value? {
    switch (self, value) {
    case (.json, _), (.boolean, .boolean), (.integer, .integer), (.number, .integer), (.number, .number),
      (.string, .string), (.list, .array), (.dictionary, .object), (.reference, .string), (.reference, .null),
      (.struct, .object), (.union, .object):
      value
    case (.integer, .number(let real)): Int64(exactly: real).map { .integer($0) }
    case (.status, .object(let members)): Self.isStatus(members) ? value : nil
    default: nil
    }
  }

  private static func isStatus(_ members: Value.Members) -> Bool {
    switch members["type"]?.text {
    case "processing", "empty": members.count == 1
    case "idle": members.count == 2 && members["items"]?.elements != nil
    case "failed":
      members.count == 2 && members["error"]?.members?["kind"]?.text != nil
        && members["error"]?.members?["message"]?.text != nil
    default: false
    }
  }
}

/// Who may set a property.
public enum PropertyAccess: Hashable, Sendable {
  case all
  /// Requests with the same origin as the request that created the view model.
  case owner
}

/// Name, type and default of a property of view models, or of an environment key.
public struct PropertyDefinition: Equatable, Sendable {
  public let name: String
  public let type: PropertyType
  public let isNullable: Bool
  /// The initial value. A derived property has it while its expression has no valid value.
  public private(set) var defaultValue: Value
  public let limits: ValueLimits
  public let access: PropertyAccess
  public let doc: Text?
  public let derivation: Derivation?

  /// - Parameter defaultValue: nil for null if the property is nullable, else for the type's own.
  public init(
    name: String, type: PropertyType, isNullable: Bool, defaultValue: Value?, doc: String?, derivation: Derivation?,
    limits: ValueLimits = ValueLimits(), access: PropertyAccess = .all
  ) {
    self.name = name
    self.type = type
    self.isNullable = isNullable || type.isNullable || derivation != nil && defaultValue == nil
    self.defaultValue = defaultValue ?? (self.isNullable ? .null : limits.initial(type.initial))
    self.limits = limits
    self.access = access
    self.doc = Text(doc)
    self.derivation = derivation
    // With the defaults of its parts. One that is not valid is refused later, as it was given.
    if case .any = limits.parts { return }
    self.defaultValue = (try? accepted(self.defaultValue, at: "")) ?? self.defaultValue
  }

  /// Whether undo restores the value and documents save it. False for derived properties and for statuses.
  public var isUndone: Bool { derivation == nil && type != .status }

  /// The value as stored.
  ///
  /// - Parameter path: JSON Pointer of the value from the values given, for errors.
  func accepted(_ value: Value, at path: String) throws(ModelError) -> Value {
    if value.isNull, isNullable { return .null }
    let orNull = isNullable && !type.isNullable ? ", or null" : ""
    switch (limits.parts, value.members) {
    case (.cases, _): return try acceptedSize(of: try acceptedCase(value, at: path), at: path)
    case (.fields(let fields), let members?): return try acceptedSize(of: fields.accepted(members, at: path), at: path)
    case (.fields(let fields), nil): throw .flow(.wrongType(path: path, expected: fields.sample().shown + orNull))
    case (.values(let each), var members?):
      for name in members.names {
        guard let part = members[name] else { continue }
        members[name] = try each.accepted(part, at: path + ModelPath([Text(name)]).description)
      }
      return try acceptedSize(of: .object(members), at: path)
    case (.values, nil), (.any, _): break
    }
    guard let value = type.accepted(value) else {
      throw .flow(.wrongType(path: path, expected: type.expected + orNull))
    }
    if let fault = limits.fault(value) {
      throw .flow(.notAllowed(path: path, rule: fault.rule, expected: fault.expected))
    }
    return try acceptedSize(of: value, at: path)
  }

  /// The definition of a part of the values, or of the part around it below which parts may be of any type, with the number of
  /// names that lead there.
  ///
  /// - Throws: `unknownField` if a struct on the way has no such field.
  public func part(at names: some Swift.Collection<Text>) throws(ModelError) -> (definition: PropertyDefinition, depth: Int) {
    guard let name = names.first else { return (self, 0) }
    let inner: PropertyDefinition
    switch limits.parts {
    case .any, .cases: return (self, 0)
    case .values(let each): inner = each
    case .fields(let fields):
      guard let field = fields.properties.first(where: { Text($0.name) == name }) else {
        throw .flow(.unknownField(name.string, path: nil, available: fields.properties.map(\.name)))
      }
      inner = field
    }
    let (definition, depth) = try inner.part(at: names.dropFirst())
    return (definition, depth + 1)
  }

  func acceptedSize(of value: Value, at path: String) throws(ModelError) -> Value {
    guard value.byteCount <= Value.byteLimit else { throw .flow(.valueTooLarge(path: path)) }
    // Parts set within a value may themselves have the depth of a whole value, so the result is checked again.
    guard value.depth <= Value.depthLimit else {
      throw .flow(
        .wrongType(path: path, expected: "a value with at most \(Value.depthLimit) levels of arrays and objects"))
    }
    if type == .list { try checkItems(of: value, at: path) }
    return value
  }

  /// Throws if two items have the same id.
  private func checkItems(of list: Value, at path: String) throws(ModelError) {
    var seen: Set<Text> = []
    for (index, item) in (list.elements ?? []).enumerated() {
      guard let id = item.itemID, !seen.insert(Text(id)).inserted else { continue }
      throw .flow(.duplicateItem(id, path: "\(path)/\(index)"))
    }
  }
}

/// The properties of a view model. View models of a type share them.
final class PropertyDefinitions: Sendable {
  /// In the order of definition.
  let all: [PropertyDefinition]
  /// Whether values may refer to objects.
  let hasReferences: Bool
  private let indexes: [Text: Int]
  /// Indexes of the derived properties.
  private let derived: [Int]
  /// Indexes of the derived properties by the names that they depend on in their view model. Each also depends on its own name,
  /// so that inserting the view model computes it even from a constant expression.
  private let dependents: [Text: [Int]]

  init(_ all: [PropertyDefinition]) {
    self.all = all
    indexes = Dictionary(all.enumerated().map { (Text($1.name), $0) }) { first, _ in first }
    hasReferences = all.contains { $0.type == .reference }
    derived = all.indices.filter { all[$0].derivation != nil }
    var dependents: [Text: [Int]] = [:]
    for index in derived {
      let sources = all[index].derivation?.innerSources.compactMap(\.first) ?? []
      for name in Set(sources + [Text(all[index].name)]) { dependents[name, default: []].append(index) }
    }
    self.dependents = dependents
  }

  var hasDerived: Bool { !derived.isEmpty }

  subscript(name: String) -> PropertyDefinition? { indexes[Text(name)].map { all[$0] } }

  /// Indexes of the derived properties that depend on the value at a path in their view model; all for an empty path.
  ///
  /// - Complexity: O(1) plus the result for paths of at most one name.
  func dependents(of names: ArraySlice<Text>) -> [Int] {
    guard let first = names.first else { return derived }
    let found = dependents[first] ?? []
    guard names.count > 1 else { return found }
    return found.filter { index in
      Text(all[index].name) == first
        || all[index].derivation?.innerSources.contains { zip($0, names).allSatisfy(==) } == true
    }
  }
}
