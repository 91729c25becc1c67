// What a request is called: the client chooses it, and gets it back exactly as it was written.

import JSON

/// The id of a request. 1 and "1" are different ids, and so are two strings that differ in a single byte.
public enum RequestID: Sendable, JSONEncodable {
  case integer(Int64)
  case string(String)

  /// The id that `value` is; nil for anything that cannot be one: null, a fraction, a container, nothing.
  public init?(_ value: JSONValue) {
    switch value.kind {
    case .integer: self = .integer(value.int64)
    case .string: self = .string(value.withUTF8 { String(decoding: $0, as: UTF8.self) })
    default: return nil
    }
  }

  @inline(__always)
  public func encode(to writer: inout JSONWriter) {
    switch self {
    case .integer(let number): writer.value(number)
    case .string(let text): writer.value(text)
    }
  }
}

// By bytes, not by characters: Swift's strings are equal when Unicode says that they look the same.
extension RequestID: Hashable {
  public static func == (left: RequestID, right: RequestID) -> Bool {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): a == b
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .integer(let number): hasher.combine(number)
    case .string(let text):
      var text = text
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
  }
}

extension RequestID: CustomStringConvertible {
  /// As JSON, so that 1 and "1" can be told apart in a log.
  public var description: String {
    var writer = JSONWriter(capacity: 64)
    encode(to: &writer)
    return writer.string
  }
}
