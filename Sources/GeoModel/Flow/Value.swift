// Client-defined values of view models and of the environment: any JSON value.

import Geometry
import OrderedCollections

/// A JSON value. Objects keep the order of their members, which does not count in comparisons.
///
/// ```swift
/// let person = Value.object(["id": .string("p1"), "name": .string("Ada")])
/// person.members?["name"]?.text  // "Ada"
/// person.itemID                  // "p1"
/// ```
public indirect enum Value: Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([Value])
  case object(Members)

  /// The members of an object, in order. Names are unique by code points.
  public struct Members: Sendable {
    private var values: OrderedDictionary<Text, Value> = [:]

    public init() {}

    public var count: Int { values.count }
    public var names: [String] { values.keys.map(\.string) }

    /// - Complexity: O(1); O(n) when a member is removed.
    public subscript(name: String) -> Value? {
      get { values[Text(name)] }
      set { values[Text(name)] = newValue }
    }
  }
}

extension Value.Members: Equatable {
  public static func == (left: Self, right: Self) -> Bool {
    left.count == right.count && left.values.allSatisfy { right.values[$0.key] == $0.value }
  }
}

extension Value: Equatable {
  /// Numbers are equal by value (1 and 1.0), texts by code points.
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.boolean(let left), .boolean(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.integer(let whole), .number(let real)), (.number(let real), .integer(let whole)):
      Int64(exactly: real) == whole
    case (.string(let left), .string(let right)): Text(left) == Text(right)
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    default: false
    }
  }
}

extension Value {
  /// Maximum nesting of arrays and objects.
  public static let depthLimit = 64
  /// Maximum size of a value, in bytes, estimated.
  public static let byteLimit = 16 << 20

  public var isNull: Bool { if case .null = self { true } else { false } }
  public var text: String? { if case .string(let text) = self { text } else { nil } }
  public var double: Double? {
    switch self {
    case .number(let number): number
    case .integer(let number): Double(number)
    case .null, .boolean, .string, .array, .object: nil
    }
  }
  public var elements: [Value]? { if case .array(let elements) = self { elements } else { nil } }
  public var members: Members? { if case .object(let members) = self { members } else { nil } }

  /// Memory of the value, in bytes, estimated.
  ///
  /// - Complexity: linear in its parts.
  public var byteCount: Int {
    switch self {
    case .null, .boolean, .integer, .number: 16
    case .string(let text): 16 + text.utf8.count
    case .array(let elements): elements.reduce(32) { $0 + $1.byteCount }
    case .object(let members):
      members.names.reduce(64) { $0 + $1.utf8.count + 48 + (members[$1]?.byteCount ?? 0) }
    }
  }

  /// How deep its innermost values are in arrays and objects.
  ///
  /// - Complexity: linear in its parts.
  public var depth: Int {
    switch self {
    case .null, .boolean, .integer, .number, .string: 0
    case .array(let elements): elements.reduce(0) { max($0, $1.depth + 1) }
    case .object(let members): members.names.reduce(0) { max($0, (members[$1]?.depth ?? 0) + 1) }
    }
  }

  /// The id of an element of a list: its text, or its member `id`.
  public var itemID: String? {
    switch self {
    case .string(let text): text
    case .object(let members): members["id"]?.text
    case .null, .boolean, .integer, .number, .array: nil
    }
  }

  /// An object with the given members.
  public static func object(_ members: KeyValuePairs<String, Value>) -> Value {
    var result = Members()
    for (name, value) in members { result[name] = value }
    return .object(result)
  }
}

// MARK: - Parts

extension Value {
  /// The part at a path of member names, list indexes and ids of list elements (`@p1`); nil if there is none.
  public func part(at names: some Swift.Collection<Text>) -> Value? {
    guard let name = names.first else { return self }
    let rest = names.dropFirst()
    switch self {
    case .object(let members): return members[name.string]?.part(at: rest)
    case .array(let elements): return Self.index(of: name.string, in: elements).flatMap { elements[$0].part(at: rest) }
    case .null, .boolean, .integer, .number, .string: return nil
    }
  }

  /// Sets the part at a path: an existing or new member, or an existing element.
  ///
  /// - Parameter part: nil removes the part.
  /// - Returns: false, with nothing changed, if the path leads nowhere.
  public mutating func setPart(at names: some Swift.Collection<Text>, to part: Value?) -> Bool {
    guard let name = names.first?.string else {
      self = part ?? .null
      return true
    }
    let rest = names.dropFirst()
    switch self {
    case .object(var members):
      guard !rest.isEmpty else {
        if part == nil, members[name] == nil { return false }
        members[name] = part
        self = .object(members)
        return true
      }
      guard var child = members[name], child.setPart(at: rest, to: part) else { return false }
      members[name] = child
      self = .object(members)
    case .array(var elements):
      guard let index = Self.index(of: name, in: elements) else { return false }
      if rest.isEmpty, part == nil {
        elements.remove(at: index)
      } else {
        guard elements[index].setPart(at: rest, to: part) else { return false }
      }
      self = .array(elements)
    case .null, .boolean, .integer, .number, .string: return false
    }
    return true
  }

  /// The index of the element that a name in a path stands for: an index, or `@` and the element's id.
  private static func index(of name: String, in elements: [Value]) -> Int? {
    if name.utf8.first == UInt8(ascii: "@") {
      let id = Text(String(name.dropFirst()))
      return elements.firstIndex { Text($0.itemID) == id }
    }
    guard let index = Int(name), String(index) == name, elements.indices.contains(index) else { return nil }
    return index
  }
}
