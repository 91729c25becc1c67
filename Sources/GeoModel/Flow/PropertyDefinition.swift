// What a property of a view model, or a key of the environment, may hold.

import Geometry

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

/// A property that view models of a type have.
public struct PropertyDefinition: Equatable, Sendable {
  public let name: String
  public let type: PropertyType
  public let isNullable: Bool
  /// What it is at first; of a derived one nobody sees it.
  public let defaultValue: Value
  public let doc: Text?
  public let derivation: Derivation?

  /// - Parameter defaultValue: nil for the type's own, or null where that is allowed.
  public init(
    name: String, type: PropertyType, isNullable: Bool, defaultValue: Value?, doc: String?, derivation: Derivation?
  ) {
    self.name = name
    self.type = type
    self.isNullable = isNullable || type.isNullable || derivation != nil
    self.defaultValue = defaultValue ?? (self.isNullable ? .null : type.initial)
    self.doc = Text(doc)
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
    var seen: Set<Text> = []
    for (index, item) in (list.elements ?? []).enumerated() {
      guard let id = item.itemID, !seen.insert(Text(id)).inserted else { continue }
      throw .flow(.duplicateItem(id, place: "\(place)/\(index)"))
    }
  }
}
