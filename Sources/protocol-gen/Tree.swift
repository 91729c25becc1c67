// JSON as an ordered tree: generated text keeps the order of the definition.

import JSON

indirect enum Tree: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([Tree])
  case object([Member])

  struct Member: Hashable, Sendable {
    let name: String
    let value: Tree
  }

  init(_ value: JSONValue) throws {
    switch value.kind {
    case .null, .absent: self = .null
    case .bool: self = .bool(try value.bool())
    case .integer, .real: self = .number(try value.double())
    case .string: self = .string(try value.string())
    case .array:
      self = .array(try (0..<value.count).map { try Tree(value[$0]) })
    case .object:
      self = .object(try value.members.map { Member(name: $0.name, value: try Tree($0.value)) })
    }
  }

  static func object(_ members: KeyValuePairs<String, Tree?>) -> Tree {
    .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
  }

  static func integer(_ value: Int) -> Tree { .number(Double(value)) }
  static func strings(_ list: [String]) -> Tree { .array(list.map { .string($0) }) }

  subscript(name: String) -> Tree? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  var members: [Member] { if case .object(let members) = self { members } else { [] } }
  var elements: [Tree] { if case .array(let elements) = self { elements } else { [] } }
  var string: String? { if case .string(let text) = self { text } else { nil } }

  var number: Double? { if case .number(let value) = self { value } else { nil } }
  /// The integer value, including numbers such as `3.0`.
  var integer: Int? { number.flatMap { Int(exactly: $0) } }

  /// The types that a JSON Schema references.
  var references: [String] {
    let prefix = "#/components/schemas/"
    if let target = self["$ref"]?.string, target.hasPrefix(prefix) { return [String(target.dropFirst(prefix.count))] }
    return members.flatMap(\.value.references) + elements.flatMap(\.references)
  }

  /// The kind of value, for messages.
  var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .number: compact
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

  /// The JSON on one line without spaces.
  var compact: String {
    var writer = JSONWriter()
    encode(to: &writer)
    return writer.string
  }

  /// The JSON with spaces. A value that fits in `width` columns is on one line; otherwise each element has its own line.
  func text(_ style: TextStyle = .json, indent: Int = 0, width: Int = .max) -> String {
    func layout(_ open: String, _ close: String, _ parts: (_ indent: Int, _ width: Int) -> [String]) -> String {
      let line = open + parts(0, .max).joined(separator: ", ") + close
      if line.utf8.count <= width - indent { return line }
      let inner = "\n" + String(repeating: " ", count: indent + style.step)
      return open + inner + parts(indent + style.step, width).joined(separator: "," + inner) + style.end
        + "\n" + String(repeating: " ", count: indent) + close
    }
    return switch self {
    case .array(let elements):
      layout("[", "]") { indent, width in elements.map { $0.text(style, indent: indent, width: width) } }
    case .object(let members):
      layout("{", "}") { indent, width in
        members.map { Tree.string($0.name).compact + ": " + $0.value.text(style, indent: indent, width: width) }
      }
    default: style.words[self] ?? compact
    }
  }

  /// The syntax: JSON for readers, or a Python expression.
  struct TextStyle: Sendable {
    var step = 2
    /// Text after the last element, if each element has its own line.
    var end = ""
    var words: [Tree: String] = [:]

    static let json = TextStyle()
    static let python = TextStyle(
      step: 4, end: ",", words: [.null: "None", .bool(false): "False", .bool(true): "True"])
  }
}
