// Request ids, which the client chooses and gets back exactly as written.

import JSON

/// The id of a request. 1 and "1" are different ids, as are strings that differ in a single byte.
public enum RequestID: Sendable, JSONEncodable {
  case integer(Int64)
  /// An integer written as `1.0` or `1e0`: the same id as the integer, answered as it was written.
  case whole(Int64, written: String)
  case string(String)
  /// An invalid id as written, a fraction or an integer beyond 64 bits: the refused request is answered under it.
  case number(String)

  /// The largest integer up to which a double is exact.
  private static let maximumExact = Int64(1) << 53

  /// The id in `value`; nil for invalid ids: null, a fraction, a container, absent.
  public init?(_ value: JSONValue) {
    switch value.kind {
    case .integer: self = .integer(value.int64)
    case .real:
      guard let number = value.number.flatMap(Int64.init(exactly:)), number.magnitude <= Self.maximumExact else {
        return nil
      }
      self = .integer(number)
    case .string: self = .string(value.withUTF8 { String(decoding: $0, as: UTF8.self) })
    default: return nil
    }
  }

  @inline(__always)
  public func encode(to writer: inout JSONWriter) {
    switch self {
    case .integer(let number): writer.value(number)
    case .string(let text): writer.value(text)
    case .number(let text), .whole(_, let text): writer.raw(text)
    }
  }

  private var integer: Int64? {
    switch self {
    case .integer(let number), .whole(let number, _): number
    case .string, .number: nil
    }
  }
}

// Compared by bytes: Swift's strings are equal if they are canonically equivalent.
extension RequestID: Hashable {
  public static func == (left: RequestID, right: RequestID) -> Bool {
    switch (left, right) {
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    default: left.integer != nil && left.integer == right.integer
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .integer(let number), .whole(let number, _): hasher.combine(number)
    case .string(let text):
      var text = text
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .number(let text): hasher.combine(text)
    }
  }
}

extension RequestID: CustomStringConvertible {
  /// As JSON, so that 1 and "1" differ in a log; equal ids have equal texts.
  public var description: String { integer.map(String.init) ?? jsonText }
}
