// Finds the subject of an error in the params of a request, for the error's path: the model does not know where a value came from.

import JSON

/// The params of a request, or an item of a list in them.
struct ErrorPlace {
  let root: JSONValue?
  /// The JSON Pointer of the root.
  let prefix: String

  /// Maximum depth of the search; nothing deeper can be the subject of an error.
  private static let depthLimit = 8

  /// The pointer to the first text that equals one of these; nil if there is none.
  ///
  /// - Parameter names: the members of the root to search; nil for all.
  func path(toText texts: String..., in names: [String]? = nil) -> String? {
    path(in: names) { texts.contains($0) }
  }

  /// The pointer to the first text that is a pointer to the object at `pointer` or into it.
  func path(toPathOf pointer: String) -> String? {
    path(in: nil) { $0.utf8.elementsEqual(pointer.utf8) || $0.utf8.starts(with: (pointer + "/").utf8) }
  }

  private func path(in names: [String]?, _ isWanted: (String) -> Bool) -> String? {
    guard let root else { return nil }
    guard let names else { return Self.find(isWanted, in: root, Self.depthLimit).map { prefix + $0 } }
    for name in names {
      if let found = Self.find(isWanted, in: root.member(name), Self.depthLimit) { return "\(prefix)/\(name)\(found)" }
    }
    return nil
  }

  private static func find(_ isWanted: (String) -> Bool, in value: JSONValue, _ depth: Int) -> String? {
    switch value.kind {
    case .string: return (try? value.string()).map(isWanted) == true ? "" : nil
    case .array where depth > 0:
      for index in 0..<value.count {
        if let found = find(isWanted, in: value[index], depth - 1) { return "/\(index)\(found)" }
      }
      return nil
    case .object where depth > 0:
      for (name, member) in value.members {
        if let found = find(isWanted, in: member, depth - 1) { return "/" + jsonPointerEscaped(name) + found }
      }
      return nil
    default: return nil
    }
  }

  /// The pointer to the first member with one of these names, at any depth of objects.
  ///
  /// - Parameter index: the index of an element; the pointer leads to the element if the member is a list that has it.
  func path(toMember names: String..., index: Int? = nil) -> String? {
    root.flatMap { Self.find(names, in: $0, index, Self.depthLimit) }.map { prefix + $0 }
  }

  private static func find(_ names: [String], in value: JSONValue, _ index: Int?, _ depth: Int) -> String? {
    guard value.kind == .object, depth > 0 else { return nil }
    for name in names {
      let member = value.member(name)
      guard member.isPresent else { continue }
      guard let index, member.kind == .array, index < member.count else { return "/" + name }
      return "/\(name)/\(index)"
    }
    for (name, member) in value.members {
      if let found = find(names, in: member, index, depth - 1) { return "/" + jsonPointerEscaped(name) + found }
    }
    return nil
  }

  /// The geometry of a request that has one.
  var pathToGeometry: String? {
    path(toMember: "center", "geometry", "line", "observer", "points", "locations", "envelope", "maxExtent", "value")
  }

  /// The pointer to the position at an index: to an element of a list of points, or to the geometry that contains it.
  func path(toPosition index: Int) -> String? {
    path(toMember: "points", "locations", index: index) ?? pathToGeometry
  }
}
