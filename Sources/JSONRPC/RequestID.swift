// Request ids, which the client chooses and gets back exactly as written.

import JSON

/// The id of a request. 1 and "1" are different ids, as are strings that differ in a single byte.
public enum RequestID: Sendable, JSONEncodable {
  case integer(Int64)
  case string(String)
  /// An invalid id as written, a fraction or an integer beyond 64 bits: the refused request is answered under it.
  case number(String)

  /// The id in `value`; nil for invalid ids: null, a fraction, a container, absent.
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
    case .number(let text): writer.raw(text)
    }
  }
}

// Compared by bytes: Swift's strings are equal if they are canonically equivalent.
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
    case .number(let text): hasher.combine(text)
    }
  }
}

extension RequestID: CustomStringConvertible {
  /// As JSON, so that 1 and "1" differ in a log.
  public var description: String { jsonText }
}
