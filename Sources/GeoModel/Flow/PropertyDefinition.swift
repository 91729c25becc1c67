// What a property of a view model, or a key of the environment, may hold.

import Geometry
import Query

/// The type of a property's values.
public enum PropertyType: String, Hashable, Sendable, CaseIterable {
  case boolean, integer, number, string
  /// Anything, null included.
  case json
  /// An array.
  case list
  /// An object with members of any name.
  case dictionary
  /// The id of an object of the session, or null; null from when that object goes.
  case reference
  /// A tagged union: processing, empty, idle with its items, or failed with its error.
  case status

  /// What a property holds when nobody says otherwise.
  var initial: Value {
    switch self {
    case .boolean: .boolean(false)
    case .integer: .integer(0)
    case .number: .number(0)
    case .string: .string("")
    case .json, .reference: .null
    case .list: .array([])
    case .dictionary: .object(Value.Members())
    case .status: .object(["type": .string("empty")])
    }
  }

  /// Whether null is one of its values whatever a definition says.
  var isNullable: Bool { self == .json || self == .reference }

  /// In words.
  public var expected: String {
    switch self {
    case .boolean: "boolean"
    case .integer: "integer"
    case .number: "number"
    case .string: "string"
    case .json: "any value"
    case .list: "array"
    case .dictionary: "object"
    case .reference: "the id of an object, or null"
    case .status:
      #"{"type": "processing"}, {"type": "empty"}, {"type": "idle", "items"} or {"type": "failed", "error"}"#
    }
  }

  /// The value as one of this type, or nil when it is none. Of a reference only the form is checked.
  func accepted(_ value: Value) -> Value? {
    switch (self, value) {
    case (.json, _), (.boolean, .boolean), (.integer, .integer), (.number, .integer), (.number, .number),
      (.string, .string), (.list, .array), (.dictionary, .object), (.reference, .string), (.reference, .null):
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

/// A value computed from others.
public struct Derivation: Equatable, Sendable {
  public let expression: Expression
  /// What names in the expression stand for: a path from the root (`/views/v/...`) or from the view model's own properties
  /// (`./list/0`). Other names are the view model's properties.
  public let inputs: [ExactText: ExactText]

  /// An input that cannot be followed.
  public struct InputFault: Error, Hashable, Sendable {
    public let name: String
    public let expected: String
    public let found: String
  }

  /// - Throws: ``InputFault`` for the first input, by name, that is no path to one place, or leads to something that has no end: to a
  ///   whole collection, or to all graphics of an overlay.
  public init(expression: Expression, inputs: [String: String]) throws(InputFault) {
    for (name, text) in inputs.sorted(by: { $0.key < $1.key }) {
      if let expected = Self.wanted(insteadOf: text) {
        throw InputFault(name: name, expected: expected, found: text)
      }
    }
    self.expression = expression
    self.inputs = Dictionary(uniqueKeysWithValues: inputs.map { (ExactText($0), ExactText($1)) })
  }

  /// What would have to stand in place of an input; nil for one that can be followed.
  private static func wanted(insteadOf text: String) -> String? {
    if text.begins(with: "./"), ModelPath(pointer: String(text.dropFirst())) != nil { return nil }
    guard let path = ModelPath(pointer: text) else {
      return "a JSON Pointer without wildcards, such as /layers/l1/opacity, or ./ and a property"
    }
    guard path.names.count > 1 else { return "a path to one object or into it, such as /layers/l1/opacity" }
    if let object = path.object, object.collection == .overlays,
      path.names.count == 2 || path.names.count == 3 && path.names[2] == "graphics"
    {
      return "a path to one member of an overlay, or one graphic, such as /overlays/o1/graphics/1"
    }
    return nil
  }

  /// What it reads, by the names in the expression; nil for a path that is none.
  func sources(in model: ViewModelID) -> [(name: String, path: ModelPath)]? {
    let own = ModelPath(ObjectReference(.viewModels, model.rawValue)).names
    var result: [(name: String, path: ModelPath)] = []
    for name in expression.properties {
      guard let text = inputs[ExactText(name)]?.text else {
        result.append((name, ModelPath(own + [name])))
        continue
      }
      let isOwn = text.begins(with: "./")
      guard let path = ModelPath(pointer: isOwn ? String(text.dropFirst()) : text) else { return nil }
      result.append((name, isOwn ? ModelPath(own + path.names) : path))
    }
    return result
  }
}

/// A property that view models of a type have.
public struct PropertyDefinition: Equatable, Sendable {
  @Exact public private(set) var name: String
  public let type: PropertyType
  public let isNullable: Bool
  /// What it is at first; of a derived one nobody sees it.
  public let defaultValue: Value
  @Exact public private(set) var doc: String?
  public let derivation: Derivation?

  /// - Parameter defaultValue: nil for the type's own, or null where that is allowed.
  public init(
    name: String, type: PropertyType, isNullable: Bool, defaultValue: Value?, doc: String?, derivation: Derivation?
  ) {
    self.name = name
    self.type = type
    self.isNullable = isNullable || type.isNullable || derivation != nil
    self.defaultValue = defaultValue ?? (self.isNullable ? .null : type.initial)
    self.doc = doc
    self.derivation = derivation
  }

  /// Whether undo brings back what it was, and documents keep what it is: not what is computed, nor how some work stands.
  public var isUndone: Bool { derivation == nil && type != .status }

  /// The value as it will be kept.
  ///
  /// - Parameter place: where it stands among the values given, as a JSON Pointer.
  func accepted(_ value: Value, at place: String) throws(ModelError) -> Value {
    if value.isNull, isNullable { return .null }
    guard let value = type.accepted(value) else {
      let orNull = isNullable && !type.isNullable ? ", or null" : ""
      throw .flow(.wrongType(place: place, expected: type.expected + orNull))
    }
    guard value.byteCount <= Value.byteLimit else { throw .flow(.valueTooLarge(place: place)) }
    if type == .list { try checkItems(of: value, at: place) }
    return value
  }

  /// Items go by their ids: each is there once.
  private func checkItems(of list: Value, at place: String) throws(ModelError) {
    var seen: Set<ExactText> = []
    for (index, item) in (list.elements ?? []).enumerated() {
      guard let id = item.itemID, !seen.insert(ExactText(id)).inserted else { continue }
      throw .flow(.duplicateItem(id, place: "\(place)/\(index)"))
    }
  }
}
