// A path in the state tree by its names. Changes are recorded under it, so that no pointer text is built per change.

import GeoModel
import Geometry
import JSON

/// A path: collection (or root member), object id, member, and names below the member.
package struct StatePath: Hashable {
  package let root: Text
  package let id: Text
  package let member: Text?
  /// Names below the member.
  let rest: [Text]

  package init(_ root: String, _ id: String, _ member: String? = nil, _ rest: [String] = []) {
    self.root = Text(root)
    self.id = Text(id)
    self.member = Text(member)
    self.rest = rest.map { Text($0) }
  }

  package init(_ object: ObjectReference, _ member: String? = nil) {
    self.init(object.collection.rawValue, object.id, member)
  }

  /// - Parameter names: two at least.
  package init(_ names: [String]) {
    self.init(names[0], names[1], names.count > 2 ? names[2] : nil, Array(names.dropFirst(3)))
  }

  /// Number of names.
  package var depth: Int { member == nil ? 2 : 3 + rest.count }

  /// The name at a level below the root.
  @inline(__always)
  package subscript(level: Int) -> Text {
    switch level {
    case 0: root
    case 1: id
    case 2: member ?? ""
    default: rest[level - 3]
    }
  }

  package var names: [String] { (0..<depth).map { self[$0].string } }

  /// The path of the object.
  package var object: StatePath { StatePath(root.string, id.string) }

  /// The path of a graphic, where this is the path of a container of graphics.
  package func graphic(_ id: Int) -> StatePath { StatePath(root.string, self.id.string, member?.string, [String(id)]) }

  package func isBelow(_ other: StatePath) -> Bool {
    depth > other.depth && (0..<other.depth).allSatisfy { self[$0] == other[$0] }
  }

  /// Its JSON Pointer.
  package var pointer: String {
    var text = ""
    for level in 0..<depth {
      let name = self[level].string
      text += "/"
      text +=
        name.utf8.contains { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") } ? jsonPointerEscaped(name) : name
    }
    return text
  }
}

extension StatePattern {
  /// A member of an object.
  package init(_ object: StatePath, _ member: String) {
    segments = [.name(object.root), .name(object.id), .name(Text(member))]
  }

  /// Whether the path, or one above it, matches.
  package func covers(_ path: StatePath) -> Bool {
    guard path.depth >= segments.count else { return false }
    for level in segments.indices where !segments[level].matches(path[level]) { return false }
    return true
  }

  /// Whether paths below this one may match.
  package func isBelow(_ path: StatePath) -> Bool {
    guard path.depth < segments.count else { return false }
    for level in 0..<path.depth where !segments[level].matches(path[level]) { return false }
    return true
  }
}

extension Change.Event {
  /// The path that changed.
  package var path: StatePath {
    switch self {
    case .created(let object), .closed(let object): StatePath(object)
    case .changed(let object, let property): StatePath(object, property.rawValue)
    case .member(let object, let name): StatePath(object, name)
    case .clock(let property): StatePath("clock", property.rawValue)
    case .history(let property): StatePath("edit", property.rawValue)
    case .document(let property): StatePath("document", property.rawValue)
    case .graphics(let overlay, _): StatePath(Collection.overlays.rawValue, overlay.rawValue, "graphics")
    }
  }
}
