// Writes a parsed value again, for echoes, traces and opaque attributes.

import CJansson

extension JSONValue: JSONEncodable {
  /// Writes the same value, members in the original order; an absent value as null.
  public func encode(to writer: inout JSONWriter) {
    guard let node else {
      writer.null()
      return
    }
    switch node.pointee.type {
    case JSON_OBJECT:
      // Beyond its message the bytes are known only as base64.
      if let attached = Attached(node) { return attached.withBytes { writer.value(.bytes(Array($0))) } }
      writer.beginObject()
      forEachMember { name, value in
        writer.key(utf8: name)
        value.encode(to: &writer)
      }
      writer.endObject()
    case JSON_ARRAY:
      writer.beginArray()
      for index in 0..<json_array_size(node) { self[index].encode(to: &writer) }
      writer.endArray()
    case JSON_STRING: withUTF8 { writer.value(utf8: $0) }
    case JSON_INTEGER: writer.value(Int64(json_integer_value(node)))
    case JSON_REAL: writer.value(json_real_value(node))
    case JSON_TRUE: writer.value(true)
    case JSON_FALSE: writer.value(false)
    default: writer.null()
    }
  }
}

extension JSONEncodable {
  /// The value, written now.
  public func made(isAttaching: Bool = false) -> JSONOpaque { .made(isAttaching: isAttaching) { encode(to: &$0) } }

  /// The value as compact text.
  public var jsonText: String {
    var writer = JSONWriter(capacity: 256)
    encode(to: &writer)
    return writer.string
  }
}

/// A type that can be read from one JSON value.
public protocol JSONDecodable {
  init(from value: JSONValue) throws(JSONError)
}

/// A value that the protocol leaves to its handler: a geometry, a list of features, attributes.
///
/// Incoming, it is the parsed value, read in place; outgoing, a closure that writes from the model into the buffer.
/// Neither is copied into wire types.
public enum JSONOpaque: JSONDecodable, JSONEncodable, Sendable {
  case parsed(JSONValue)
  case written(@Sendable (inout JSONWriter) -> Void)

  public init(from value: JSONValue) { self = .parsed(value) }

  /// An outgoing value whose text is made now, so that nothing that `write` reads is retained until the message is sent.
  ///
  /// - Parameter isAttaching: whether bytes are to follow the message, where it may have them.
  public static func made(isAttaching: Bool = false, _ write: (inout JSONWriter) throws -> Void) rethrows -> JSONOpaque {
    var writer = JSONWriter(capacity: 512)
    writer.setAttaching(isAttaching)
    try write(&writer)
    let text = WrittenText(writer)
    return .written { writer in text.append(to: &writer) }
  }

  public func encode(to writer: inout JSONWriter) {
    switch self {
    case .parsed(let value): value.encode(to: &writer)
    case .written(let write): write(&writer)
    }
  }

  /// The parsed value; nil for an outgoing one.
  public var value: JSONValue? {
    if case .parsed(let value) = self { value } else { nil }
  }
}

/// The text of a value.
// Safe to send: nothing writes to it.
private final class WrittenText: @unchecked Sendable {
  private let writer: JSONWriter

  init(_ writer: consuming JSONWriter) {
    writer.trim()
    self.writer = writer
  }

  func append(to other: inout JSONWriter) { other.raw(writer) }
}
