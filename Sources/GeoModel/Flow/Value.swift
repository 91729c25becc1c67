// What clients keep in the model for themselves: values of view models and of the environment, of any shape that JSON has.

import Geometry

/// A value as a client gave it. Members of objects keep their order; it does not count when values are compared.
public indirect enum Value: Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([Value])
  case object(Members)

  /// The members of an object: names, each once as it is written, and their values.
  public struct Members: Sendable {
    public private(set) var names: [String] = []
    private var values: [Text: Value] = [:]

    public init() {}

    public var count: Int { names.count }

    /// - Complexity: linear in the members when one is taken out, else constant.
    public subscript(name: String) -> Value? {
      get { values[Text(name)] }
      set {
        guard let newValue else {
          if values.removeValue(forKey: Text(name)) != nil { names.removeAll { Text($0) == Text(name) } }
          return
        }
        if values.updateValue(newValue, forKey: Text(name)) == nil { names.append(name) }
      }
    }

    static func hasEqual(_ left: Members, _ right: Members) -> Bool { left.values == right.values }
  }
}

extension Value.Members: Equatable {
  public static func == (left: Self, right: Self) -> Bool { hasEqual(left, right) }
}

extension Value: Equatable {
  /// Numbers are compared by value: 1 and 1.0 are equal; texts as they are written.
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
  /// How deep arrays and objects may lie in one another.
  public static let depthLimit = 64
  /// How many bytes one value may take, roughly.
  public static let byteLimit = 16 << 20

  public var isNull: Bool { if case .null = self { true } else { false } }
  public var text: String? { if case .string(let text) = self { text } else { nil } }
  public var double: Double? {
    switch self {
    case .number(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }
  public var elements: [Value]? { if case .array(let elements) = self { elements } else { nil } }
  public var members: Members? { if case .object(let members) = self { members } else { nil } }

  /// Memory that it takes, roughly.
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

  /// The id by which a list knows an element: its own text, or its member `id`.
  public var itemID: String? {
    switch self {
    case .string(let text): text
    case .object(let members): members["id"]?.text
    default: nil
    }
  }

  /// An object of these members.
  public static func object(_ members: KeyValuePairs<String, Value>) -> Value {
    var result = Members()
    for (name, value) in members { result[name] = value }
    return .object(result)
  }
}

// MARK: - Parts

extension Value {
  /// The part at a way through members and places of lists; nil when nothing stands there.
  public func part(at names: some Swift.Collection<String>) -> Value? {
    guard let name = names.first else { return self }
    let rest = names.dropFirst()
    switch self {
    case .object(let members): return members[name]?.part(at: rest)
    case .array(let elements): return Self.place(name, in: elements).flatMap { elements[$0].part(at: rest) }
    default: return nil
    }
  }

  /// Puts a part in its place: a member that is there or new, or an element that is there.
  ///
  /// - Parameter part: nil takes the part out.
  /// - Returns: false, with nothing changed, when the way to it leads nowhere.
  public mutating func setPart(at names: some Swift.Collection<String>, to part: Value?) -> Bool {
    guard let name = names.first else {
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
      guard let place = Self.place(name, in: elements) else { return false }
      if rest.isEmpty, part == nil {
        elements.remove(at: place)
      } else {
        guard elements[place].setPart(at: rest, to: part) else { return false }
      }
      self = .array(elements)
    default: return false
    }
    return true
  }

  private static func place(_ name: String, in elements: [Value]) -> Int? {
    guard let index = Int(name), String(index) == name, elements.indices.contains(index) else { return nil }
    return index
  }
}
