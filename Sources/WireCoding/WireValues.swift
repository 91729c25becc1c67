// Converts values of view models and of the environment between JSON of any shape and the model.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC

extension Wire {
  static let depthExpected = "a value with at most \(Value.depthLimit) levels of arrays and objects"

  /// - Throws: for values nested deeper than `Value.depthLimit`.
  package static func value(_ json: JSONValue, depth: Int = 0) throws(JSONError) -> Value {
    guard depth <= Value.depthLimit else {
      throw json.error(expected: depthExpected)
    }
    switch json.kind {
    case .absent, .null: return .null
    case .bool: return .boolean(json.isTrue)
    case .integer: return .integer(json.int64)
    case .real: return .number(try json.double())
    case .string: return .string(try json.string())
    case .array: return .array(try json.array { (element) throws(JSONError) in try value(element, depth: depth + 1) })
    case .object:
      var members = Value.Members()
      try json.forEachMember { (name, member) throws(JSONError) in
        members[String(decoding: name, as: UTF8.self)] = try value(member, depth: depth + 1)
      }
      return .object(members)
    }
  }

  package static func value(_ opaque: JSONOpaque?) throws(JSONError) -> Value {
    guard let json = opaque?.value else { return .null }
    return try value(json)
  }

  /// Values by property name, in order. The names are the client's, so null is a value, unlike in params.
  ///
  /// - Parameter nulls: further names, whose values are null.
  package static func values(
    _ opaque: JSONOpaque?, null nulls: [String]? = nil
  ) throws -> [(name: String, value: Value)] {
    var result: [(name: String, value: Value)] = []
    for (index, name) in (nulls ?? []).enumerated() {
      guard opaque?.value?.member(name).isPresent != true else {
        throw RPCError(
          .invalidParams, "\"\(name)\" is both set to a value and to null.", path: "/params/setNull/\(index)",
          expected: "a property without a value in `values`")
      }
      result.append((name, .null))
    }
    guard let json = opaque?.value else { return result }
    try json.requireObject()
    return try result + json.members.map { ($0.name, try value($0.value)) }
  }

  package static func opaque(_ value: Value) -> JSONOpaque { .written { value.encode(to: &$0) } }

  /// Converts the value to an input of an expression.
  package static func attribute(_ value: Value) -> AttributeValue {
    switch value {
    case .null: .null
    case .boolean(let flag): .bool(flag)
    case .integer(let number): .integer(number)
    case .number(let number): .double(number)
    case .string(let text): .string(text)
    case .array, .object: .json(value.jsonText)
    }
  }

  package static func value(_ attribute: AttributeValue) -> Value {
    switch attribute {
    case .null: return .null
    case .bool(let flag): return .boolean(flag)
    case .integer(let number): return .integer(number)
    case .double(let number): return number.isFinite ? .number(number) : .null
    case .string(let text): return .string(text)
    case .json(let text): return Value(json: text) ?? .null
    }
  }
}

extension AttributeValue: JSONEncodable {
  public func encode(to writer: inout JSONWriter) {
    withAttribute { FeatureWriter.write($0, to: &writer) }
  }
}

extension Value: JSONEncodable {
  /// Nil if the text is not JSON or is nested too deep.
  package init?(json text: String) {
    guard let document = try? JSONDocument(text), let value = try? document.read({ try Wire.value($0) }) else {
      return nil
    }
    self = value
  }

  /// The value as a node of a document, for decoders.
  package func node(in tree: JSONTree) -> JSONTree.Node {
    switch self {
    case .null: tree.null()
    case .boolean(let flag): tree.bool(flag)
    case .integer(let number): tree.integer(number)
    case .number(let number): tree.number(number)
    case .string(let text): tree.string(text)
    case .array(let elements): tree.array(elements.lazy.map { $0.node(in: tree) })
    case .object(let members): tree.object(members.names.lazy.map { ($0, (members[$0] ?? .null).node(in: tree)) })
    }
  }

  public func encode(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.null()
    case .boolean(let flag): writer.value(flag)
    case .integer(let number): writer.value(number)
    case .number(let number): writer.value(number)
    case .string(let text): writer.value(text)
    case .array(let elements): writer.array(elements) { $0.encode(to: &$1) }
    case .object(let members):
      writer.object(members.names.lazy.map { (name: $0, value: members[$0] ?? .null) })
    }
  }
}

/// Reads a time in a client's params.
///
/// - Parameter path: the JSON Pointer of `text`, for errors.
package func instant(_ text: String, _ path: String) throws -> Instant {
  guard let instant = Instant(text) else {
    throw RPCError(
      .invalidTime, "\"\(text.prefix(100))\" is not an RFC 3339 time.", path: path,
      expected: "a time such as 2000-01-01T00:00:00Z")
  }
  return instant
}
