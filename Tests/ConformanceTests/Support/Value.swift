// JSON as a value of its own, so that tests can write, compare and patch it without a schema.

import JSON

/// Any JSON value. Equal values are equal text.
enum Value: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int)
  case real(Double)
  case string(String)
  case array([Value])
  case object([String: Value])

  init(_ text: [UInt8]) throws { self = try JSONDocument(text).read { try Value($0) } }
  init(_ text: String) throws { try self.init(Array(text.utf8)) }

  init(_ value: JSONValue) throws {
    switch value.kind {
    case .null, .absent: self = .null
    case .bool: self = .bool(value.isTrue)
    case .integer: self = .integer(Int(value.int64))
    case .real: self = .real(try value.double())
    case .string: self = .string(value.withUTF8 { String(decoding: $0, as: UTF8.self) })
    case .array: self = .array(try (0..<value.count).map { try Value(value[$0]) })
    case .object:
      var members: [String: Value] = [:]
      try value.forEachMember { name, member in members[String(decoding: name, as: UTF8.self)] = try Value(member) }
      self = .object(members)
    }
  }

  /// Compares strings by code points: Swift's `==` ignores differences of Unicode normalization.
  static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.real(let left), .real(let right)): left == right
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    default: false
    }
  }

  subscript(name: String) -> Value? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  var string: String? { if case .string(let text) = self { text } else { nil } }
  var integer: Int? { if case .integer(let number) = self { number } else { nil } }
  var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
  var array: [Value]? { if case .array(let elements) = self { elements } else { nil } }
  var object: [String: Value]? { if case .object(let members) = self { members } else { nil } }
  var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }
}

extension Value: JSONEncodable, CustomStringConvertible {
  /// With members in the order of their names, so that equal values have equal texts.
  func encode(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.null()
    case .bool(let flag): writer.value(flag)
    case .integer(let number): writer.value(number)
    case .real(let number): writer.value(number)
    case .string(let text): writer.value(text)
    case .array(let elements): writer.array(elements) { $0.encode(to: &$1) }
    case .object(let members):
      writer.beginObject()
      for (name, value) in members.sorted(by: { $0.key < $1.key }) {
        writer.key(name)
        value.encode(to: &writer)
      }
      writer.endObject()
    }
  }

  var text: String {
    var writer = JSONWriter(capacity: 256)
    encode(to: &writer)
    return writer.string
  }

  var description: String { text }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  init(stringLiteral value: String) { self = .string(value) }
  init(integerLiteral value: Int) { self = .integer(value) }
  init(floatLiteral value: Double) { self = .real(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(arrayLiteral elements: Value...) { self = .array(elements) }
  init(dictionaryLiteral elements: (String, Value)...) {
    self = .object(Dictionary(elements) { $1 })
  }
}
