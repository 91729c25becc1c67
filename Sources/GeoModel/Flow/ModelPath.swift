// Where something stands in the model's tree, as bindings, links and derived properties say it.

import Geometry

/// A way through the tree: a collection, an object's id, a member, and on into its value.
public struct ModelPath: Hashable, Sendable, CustomStringConvertible {
  public let names: [String]

  public init(_ names: [String]) { self.names = names }

  public init(_ object: ObjectReference, _ rest: String...) {
    names = [object.collection.rawValue, object.id] + rest
  }

  /// Reads a JSON Pointer (RFC 6901) to one place; nil when it is none, or has a wildcard.
  public init?(pointer text: String) {
    guard text.utf8.first == UInt8(ascii: "/") else { return nil }
    var names: [String] = []
    for part in Self.parts(of: text) {
      guard part != "*", let name = Self.unescaped(part) else { return nil }
      names.append(name)
    }
    self.names = names
  }

  /// The object it leads to or into.
  public var object: ObjectReference? {
    guard names.count >= 2, let collection = Collection(rawValue: names[0]) else { return nil }
    return ObjectReference(collection, names[1])
  }

  /// As a JSON Pointer.
  public var description: String { names.map { "/" + Self.escaped($0) }.joined() }

  /// Whether one leads to, or into, what the other leads to.
  public func overlaps(_ other: ModelPath) -> Bool { zip(names, other.names).allSatisfy { Text($0) == Text($1) } }

  public static func == (left: ModelPath, right: ModelPath) -> Bool {
    left.names.count == right.names.count && left.overlaps(right)
  }

  public func hash(into hasher: inout Hasher) { for name in names { hasher.combine(Text(name)) } }

  private static func escaped(_ name: String) -> String {
    guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
    var result = ""
    for character in name.unicodeScalars {
      switch character {
      case "~": result += "~0"
      case "/": result += "~1"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }

  /// The parts of a JSON Pointer behind its first slash. By code points, here and below: a mark that combines with a slash or a tilde
  /// must not hide it.
  public static func parts(of pointer: String) -> [Substring] {
    pointer.unicodeScalars.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { Substring($0) }
  }

  /// The name that a part of a JSON Pointer stands for; nil when it stands for none.
  public static func unescaped(_ part: Substring) -> String? {
    guard part.utf8.contains(UInt8(ascii: "~")) else { return String(part) }
    var result = ""
    var rest = part.unicodeScalars
    while let character = rest.popFirst() {
      guard character == "~" else {
        result.unicodeScalars.append(character)
        continue
      }
      switch rest.popFirst() {
      case "0": result += "~"
      case "1": result += "/"
      default: return nil
      }
    }
    return result
  }
}

extension Change.Event {
  /// Where in the tree it happened.
  var path: ModelPath {
    switch self {
    case .created(let object), .closed(let object): ModelPath(object)
    case .changed(let object, let property): ModelPath(object, property.rawValue)
    case .member(let object, let name): ModelPath(object, name)
    case .graphics(let overlay, _): ModelPath(ObjectReference(.overlays, overlay.rawValue), "graphics")
    case .clock(let property): ModelPath(["clock", property.rawValue])
    case .history(let property): ModelPath(["edit", property.rawValue])
    case .document(let property): ModelPath(["document", property.rawValue])
    }
  }
}
