// JSON as an ordered tree: generated text keeps the order of the definition.

import JSON

indirect enum Tree: Hashable {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([Tree])
  case object([Member])

  struct Member: Hashable {
    let name: String
    let value: Tree
  }

  init(_ value: JSONValue) throws {
    switch value.kind {
    case .null, .absent: self = .null
    case .bool: self = .bool(try value.bool())
    case .integer: self = .integer(try value.integer())
    case .real: self = .number(try value.double())
    case .string: self = .string(try value.string())
    case .array:
      self = .array(try (0..<value.count).map { try Tree(value[$0]) })
    case .object:
      var members: [Member] = []
      try value.forEachMember { (name, member) throws in
        members.append(Member(name: String(decoding: name, as: UTF8.self), value: try Tree(member)))
      }
      self = .object(members)
    }
  }

  static func object(_ members: KeyValuePairs<String, Tree?>) -> Tree {
    .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
  }

  static func strings(_ list: [String]) -> Tree { .array(list.map { .string($0) }) }

  subscript(name: String) -> Tree? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  var members: [Member] { if case .object(let members) = self { members } else { [] } }
  var elements: [Tree] { if case .array(let elements) = self { elements } else { [] } }
  var string: String? { if case .string(let text) = self { text } else { nil } }

  var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  /// An integer, also written as `3.0`.
  var integer: Int? {
    switch self {
    case .integer(let value): value
    case .number(let value): Int(exactly: value)
    default: nil
    }
  }

  /// The kind of value, for messages.
  var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .string(let text): "\"\(text.prefix(64))\""
    case .array: "array"
    case .object: "object"
    }
  }
}

// MARK: - Text

extension Tree: JSONEncodable {
  func encode(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.null()
    case .bool(let flag): writer.value(flag)
    case .integer(let value): writer.value(value)
    case .number(let value):
      // Whole numbers are written without a fraction: 800, not 800.0.
      if let whole = Int(exactly: value) { writer.value(whole) } else { writer.value(value) }
    case .string(let text): writer.value(text)
    case .array(let elements): writer.array(elements) { $0.encode(to: &$1) }
    case .object(let members):
      writer.beginObject()
      for member in members {
        writer.key(member.name)
        member.value.encode(to: &writer)
      }
      writer.endObject()
    }
  }

  /// One line without spaces.
  var compact: String {
    var writer = JSONWriter()
    encode(to: &writer)
    return writer.string
  }

  /// One line with spaces.
  var line: String {
    switch self {
    case .array(let elements): "[" + elements.map(\.line).joined(separator: ", ") + "]"
    case .object(let members):
      "{" + members.map { Tree.string($0.name).compact + ": " + $0.value.line }.joined(separator: ", ") + "}"
    default: compact
    }
  }

  /// Indented; what fits into `width` columns stays on one line.
  func pretty(indent: Int = 0, width: Int = 110) -> String {
    let short = line
    if short.utf8.count + indent <= width { return short }
    let inner = String(repeating: " ", count: indent + 2)
    let outer = String(repeating: " ", count: indent)
    switch self {
    case .array(let elements):
      return "[\n" + elements.map { inner + $0.pretty(indent: indent + 2, width: width) }.joined(separator: ",\n")
        + "\n" + outer + "]"
    case .object(let members):
      return "{\n"
        + members.map {
          inner + Tree.string($0.name).compact + ": " + $0.value.pretty(indent: indent + 2, width: width)
        }.joined(separator: ",\n") + "\n" + outer + "}"
    default: return short
    }
  }
}
