// Paths in the state tree. Change records, bindings, links, derived properties and subscriptions refer to values by path.

import Geometry
import JSON

/// A path in the state tree: a collection, an object's id, a member, and names inside its value.
///
/// ```swift
/// let path = ModelPath(pointer: "/layers/roads/opacity")
/// path?.object       // layers, roads
/// path?.description  // "/layers/roads/opacity"
/// ```
public struct ModelPath: Hashable, Sendable, CustomStringConvertible {
  public let names: [Text]

  public init(_ names: [Text]) { self.names = names }

  public init(_ object: ObjectReference) { names = [Text(object.collection.rawValue), object.text] }

  public init(_ object: ObjectReference, _ member: String) {
    names = [Text(object.collection.rawValue), object.text, Text(member)]
  }

  /// Reads a JSON Pointer (RFC 6901); nil if it is malformed or has a wildcard.
  public init?(pointer text: String) {
    guard let names = Self.names(of: text), !names.contains("*") else { return nil }
    self.names = names
  }

  /// The object at or above the path.
  public var object: ObjectReference? {
    guard names.count >= 2, let collection = Collection(rawValue: names[0].string) else { return nil }
    return ObjectReference(collection, names[1].string)
  }

  /// The JSON Pointer.
  public var description: String {
    var text = ""
    for name in names {
      text += "/"
      text += jsonPointerEscaped(name.string)
    }
    return text
  }

  public func appending(_ name: String) -> ModelPath { ModelPath(names + [Text(name)]) }

  /// The path of the first `count` names.
  public func prefix(_ count: Int) -> ModelPath { ModelPath(Array(names.prefix(count))) }

  public func isBelow(_ other: ModelPath) -> Bool { names.count > other.names.count && names.starts(with: other.names) }

  /// Whether one path is equal to, above or below the other.
  public func overlaps(_ other: ModelPath) -> Bool { zip(names, other.names).allSatisfy(==) }

  /// The names in a JSON Pointer, wildcards included; nil if it is malformed. NUL is malformed: no key in a document has it.
  ///
  /// Splits by code points, here and below: a split by characters misses a slash or tilde that a combining mark follows.
  public static func names(of pointer: String) -> [Text]? {
    guard pointer.utf8.first == UInt8(ascii: "/"), !pointer.utf8.contains(0) else { return nil }
    var names: [Text] = []
    for part in pointer.unicodeScalars.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      guard let name = unescaped(part) else { return nil }
      names.append(Text(name))
    }
    return names
  }

  /// The name that a part of a JSON Pointer stands for; nil if it has an invalid escape.
  private static func unescaped(_ part: Substring.UnicodeScalarView) -> String? {
    guard part.contains("~") else { return String(part) }
    var result = ""
    var rest = part
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
  public var path: ModelPath {
    switch self {
    case .replaced: ModelPath([])
    case .created(let object), .closed(let object): ModelPath(object)
    case .changed(let object, let property): ModelPath(object, property.rawValue)
    case .member(let object, let name): ModelPath(object, name)
    case .graphics(let overlay, _): ModelPath(ObjectReference(.overlays, overlay.rawValue), "graphics")
    case .entities(let source, _): ModelPath(ObjectReference(.entitySources, source.rawValue), "entities")
    case .clock(let property): ModelPath(["clock", Text(property.rawValue)])
    case .history(let property): ModelPath(["edit", Text(property.rawValue)])
    case .document(let property): ModelPath(["document", Text(property.rawValue)])
    }
  }
}
