// The shape of all errors on the wire: a code for generic JSON-RPC clients, a kind for clients of this server.

import JSON

/// An error answer. `kind` is the contract; the message is for people.
///
/// ```swift
/// throw RPCError.invalidRequest("not initialized").with("expected", "initialize")
/// ```
public struct RPCError: Error, Sendable {
  public var code: Int
  public var kind: String
  public var message: String
  /// A JSON Pointer from the root of the message: `/params/viewpoint/scale`.
  public var path: String?
  /// The expected form of the value at `path`.
  public var expected: String?
  /// Additional members of `data`: name and JSON text.
  public private(set) var details: [(name: String, json: String)] = []

  public init(code: Int, kind: String, message: String, path: String? = nil, expected: String? = nil) {
    self.code = code
    self.kind = kind
    self.message = message
    self.path = path
    self.expected = expected
  }

  /// The same error with one more member in `data`; unchanged if `value` is nil.
  public func with(_ name: String, _ value: (some JSONEncodable)?) -> RPCError {
    guard let value else { return self }
    var copy = self
    copy.details.append((name, value.jsonText))
    return copy
  }
}

extension RPCError: JSONEncodable {
  public func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("code", code)
    writer.member("message", message)
    writer.key("data")
    writer.beginObject()
    writer.member("kind", kind)
    writer.member("path", path)
    writer.member("expected", expected)
    for detail in details {
      writer.key(detail.name)
      writer.raw(detail.json)
    }
    writer.endObject()
    writer.endObject()
  }
}
