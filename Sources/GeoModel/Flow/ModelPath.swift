// Paths in the state tree, as bindings, links and derived properties use them.

import Geometry

/// A path in the state tree: a collection, an object's id, a member, and names inside its value.
///
/// ```swift
/// let path = ModelPath(pointer: "/layers/roads/opacity")
/// path?.object       // layers, roads
/// path?.description  // "/layers/roads/opacity"
/// ```
public struct ModelPath: Hashable, Sendable, CustomStringConvertible {
  public let names: [String]

  public init(_ names: [String]) { self.names = names }

  public init(_ object: ObjectReference, _ rest: String...) {
    names = [object.collection.rawValue, object.id] + rest
  }

  /// Reads a JSON Pointer (RFC 6901); nil if it is malformed or has a wildcard.
  public init?(pointer text: String) {
    guard text.utf8.first == UInt8(ascii: "/") else { return nil }
    var names: [String] = []
    for part in Self.parts(of: text) {
      guard part != "*", let name = Self.unescaped(part) else { return nil }
      names.append(name)
    }
    self.names = names
  }

  /// The object at or above the path.
  public var object: ObjectReference? {
    guard names.count >= 2, let collection = Collection(rawValue: names[0]) else { return nil }
    return ObjectReference(collection, names[1])
  }

  /// The JSON Pointer.
  public var description: String { names.map { "/" + Self.escaped($0) }.joined() }

  /// Whether one path is equal to, above or below the other.
  public func overlaps(_ other: ModelPath) -> Bool { zip(names, other.names).allSatisfy { Text($0) == Text($1) } }

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

  /// The parts of a JSON Pointer after its first slash. Splits by code points, here and below: a combining mark after a
  /// slash or a tilde would hide it from a split by characters.
  public static func parts(of pointer: String) -> [Substring] {
    pointer.unicodeScalars.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { Substring($0) }
  }

  /// The name that a part of a JSON Pointer stands for; nil if it has an invalid escape.
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
  /// The path that changed.
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
