// Errors of texts and of values, with the expected form and the position.

import CJansson

/// Why a text is not a JSON document.
public struct JSONSyntaxError: Error, Hashable, Sendable {
  public enum Kind: String, Sendable {
    /// Not JSON by RFC 8259, a number beyond the range of a double, or a lone surrogate.
    case malformed
    /// A member name occurs twice in one object.
    case duplicateKey
    /// Nested deeper than 2,048 levels.
    case tooDeep
    /// More values than allowed.
    case tooManyValues
    /// Bytes that are not UTF-8.
    case invalidUTF8
    /// Out of memory.
    case outOfMemory
  }
  public let kind: Kind
  /// The parser's message.
  public let reason: String
  /// Offset in bytes where the parser stopped.
  public let offset: Int
}

/// A value has another form than expected.
///
/// The value's pointer (``path(from:)``) is computed only on demand: decoding pays nothing for errors that do not occur.
public struct JSONError: Error {
  /// What was expected: "number", "integer in 1...1000", "one of \"real\", \"manual\"".
  public let expected: String
  /// What was found: "string", "absent", "-3".
  public let found: String
  let value: JSONValue

  /// The word that was probably meant, where one of several is expected.
  public var meant: String? {
    guard expected.hasPrefix("one of \""), value.kind == .string, let word = try? value.string() else { return nil }
    let words = expected.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
    return Suggestion(for: word, among: words.filter { $0.offset % 2 == 1 }.map { String($0.element) }).meant
  }

  /// As ``JSONValue/path(from:)``.
  public func path(from root: JSONValue) -> String { value.path(from: root) }

  /// The number found, or the `wkid` of an object found, as other systems write spatial references.
  public var foundCode: Int? {
    if value.kind == .object { return (try? value["latestWkid"].integer()) ?? (try? value["wkid"].integer()) }
    return try? value.integer()
  }
}

/// A step from a container to a value in it.
// Safe to send, as JSONValue is: the name's bytes belong to the document or are static.
enum JSONStep: @unchecked Sendable {
  case root
  case member(UnsafePointer<UInt8>, count: Int)
  case element(Int)

  var pointer: String {
    switch self {
    case .root: ""
    case .element(let index): "/\(index)"
    case .member(let start, let count):
      "/" + jsonPointerEscaped(String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
    }
  }
}

/// A name as one segment of a JSON Pointer (RFC 6901, section 3).
public func jsonPointerEscaped(_ name: String) -> String {
  guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
  var result = ""
  // By code points: a combining mark after a slash must not hide it.
  for character in name.unicodeScalars {
    switch character {
    case "~": result += "~0"
    case "/": result += "~1"
    default: result.unicodeScalars.append(character)
    }
  }
  return result
}

extension JSONValue {
  /// The JSON Pointer of the value below `root`, which must be or contain the value: `/params/viewpoint/scale`.
  ///
  /// - Complexity: O(n) in the document.
  public func path(from root: JSONValue) -> String {
    if container == root.container, step.pointer == root.step.pointer { return "" }
    // Without a container the path starts here.
    guard let container, let start = root.node else { return step.pointer }
    return (Self.search(for: container, in: start) ?? "") + step.pointer
  }

  /// Depth first; documents are at most 2,048 levels deep.
  private static func search(
    for target: UnsafeMutablePointer<json_t>, in node: UnsafeMutablePointer<json_t>
  ) -> String? {
    if node == target { return "" }
    switch node.pointee.type {
    case JSON_ARRAY:
      for index in 0..<json_array_size(node) {
        guard let child = json_array_get(node, index) else { continue }
        if let rest = search(for: target, in: child) { return "/\(index)" + rest }
      }
    case JSON_OBJECT:
      var iterator = json_object_iter(node)
      while let current = iterator {
        if let child = json_object_iter_value(current), let rest = search(for: target, in: child) {
          return "/" + jsonPointerEscaped(String(cString: json_object_iter_key(current))) + rest
        }
        iterator = json_object_iter_next(node, current)
      }
    default: break
    }
    return nil
  }
}
