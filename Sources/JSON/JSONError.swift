// What can be wrong with a text or a value, and where: enough to tell the sender precisely what was expected.

import CJansson

/// Why a text is no JSON document.
public struct JSONSyntaxError: Error, Hashable, Sendable {
  public enum Kind: String, Sendable {
    /// Not JSON by RFC 8259, or a number beyond any double, or a lone surrogate.
    case malformed
    /// A member's name stands twice in one object.
    case duplicateKey
    /// Nested deeper than 2,048 levels.
    case tooDeep
    /// More values than ``JSONLimits/values``.
    case tooManyValues
    /// Bytes that are not UTF-8.
    case invalidUTF8
    /// The allocator gave up.
    case outOfMemory
  }
  public let kind: Kind
  /// What the parser says of it.
  public let reason: String
  /// Bytes from the start of the text to where it was noticed.
  public let offset: Int
}

/// A value that is not what it has to be, and where it stands.
///
/// The place is kept as the container and the step into it, and turned into a path (``path(from:)``) only when somebody
/// asks: decoding pays nothing for errors that do not happen.
public struct JSONError: Error {
  /// What was expected there: "number", "integer in 1...1000", "one of \"real\", \"manual\"".
  public let expected: String
  /// What was found: "string", "absent", "-3".
  public let found: String
  let place: JSONPlace

  init(expected: String, found: String, place: JSONPlace) {
    self.expected = expected
    self.found = found
    self.place = place
  }

  /// The place as a JSON Pointer below `root`, which must be or contain the value: `/params/viewpoint/scale`.
  ///
  /// - Complexity: linear in the document, paid only by the sender of a bad value.
  public func path(from root: JSONValue) -> String { place.path(from: root) }
}

/// The step from a container into it.
// Safe to send, as JSONPlace is: the name's bytes belong to the document or are static.
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
  // By code points: a mark that combines with a slash must not hide it.
  for character in name.unicodeScalars {
    switch character {
    case "~": result += "~0"
    case "/": result += "~1"
    default: result.unicodeScalars.append(character)
    }
  }
  return result
}

/// Where a value stands: jansson shares `true`, `false` and `null`, so only its container tells.
// Safe to send: the tree it points into never changes, and is read only while its document lives.
struct JSONPlace: @unchecked Sendable {
  let container: UnsafeMutablePointer<json_t>?
  let step: JSONStep

  func path(from root: JSONValue) -> String {
    // A member looked up in what is absent: the path is from there.
    guard let container else { return step.pointer }
    guard let start = root.node else { return step.pointer }
    return (Self.search(for: container, in: start) ?? "") + step.pointer
  }

  /// Depth first; the parser keeps documents at most 2,048 deep.
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
