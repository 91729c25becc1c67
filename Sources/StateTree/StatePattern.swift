// Patterns of paths in the state tree: JSON Pointers (RFC 6901) in which `*` matches any one segment.

import GeoModel
import Geometry

/// A pattern as a client gives it: `/layers/*/opacity`.
package struct StatePattern: Hashable {
  package enum Segment: Hashable {
    case any
    case name(Text)

    package var text: String { if case .name(let name) = self { name.string } else { "*" } }

    package var hasPartialWildcard: Bool {
      if case .name(let name) = self { name.string.utf8.contains(UInt8(ascii: "*")) } else { false }
    }

    package func matches(_ name: Text) -> Bool { self == .any || self == .name(name) }
  }
  package let segments: [Segment]

  /// - Returns: nil when `text` is not a JSON Pointer.
  package init?(_ text: String) {
    guard let names = text.isEmpty ? [] : ModelPath.names(of: text) else { return nil }
    segments = names.map { $0 == "*" ? .any : .name($0) }
  }

  /// A member of an object.
  package init(_ object: ObjectReference, _ member: String) {
    segments = ModelPath(object, member).names.map { .name($0) }
  }

  /// All objects of a collection.
  package init(objectsOf collection: Collection) { segments = [.name(Text(collection.rawValue)), .any] }

  /// The one object to which all matching paths lead; nil if there are several objects, or none.
  package var object: ObjectReference? {
    guard segments.count > 1, case .name(let collection) = segments[0], case .name(let id) = segments[1] else {
      return nil
    }
    return ModelPath([collection, id]).object
  }

  /// Whether the pattern matches the path or a path above it.
  package func covers(_ path: ModelPath) -> Bool {
    guard path.names.count >= segments.count else { return false }
    for level in segments.indices where !segments[level].matches(path.names[level]) { return false }
    return true
  }

  /// Whether paths below this one may match.
  package func isBelow(_ path: ModelPath) -> Bool {
    guard path.names.count < segments.count else { return false }
    for level in path.names.indices where !segments[level].matches(path.names[level]) { return false }
    return true
  }
}
