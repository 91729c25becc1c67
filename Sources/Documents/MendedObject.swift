// An object of a document without its invalid members, so that the rest can be read.

import Geometry
import JSON

/// The remaining members of an object. Members and elements of lists are left out one by one until the rest is valid.
struct MendedObject {
  private struct Member {
    let name: String
    let value: JSONValue
    /// The indexes of the remaining elements; nil if all remain.
    var elements: [Int]?
    /// Its name in a pointer.
    var step: Text { Text(jsonPointerEscaped(name)) }
  }

  private let whole: JSONValue
  private var members: [Member] = []
  /// Members without which the object is invalid.
  private let required: Set<String>
  /// Whether nothing is left out, so that the object is read in place.
  private var isWhole = true

  /// - Parameters:
  ///   - json: an object.
  ///   - lists: members that contain other objects and are read separately.
  init(_ json: JSONValue, required: Set<String>, without lists: Set<String>) {
    whole = json
    self.required = required
    for (name, value) in json.members {
      if lists.contains(name) { isWhole = false } else { members.append(Member(name: name, value: value)) }
    }
  }

  /// The names of the members that can be left out.
  var optional: [String] { members.map(\.name).filter { !required.contains($0) } }

  /// The object with its required members and only some optional ones.
  func keeping(_ names: ArraySlice<String>) -> MendedObject {
    let kept = required.union(names)
    var result = self
    result.members.removeAll { !kept.contains($0.name) }
    result.isWhole = false
    return result
  }

  /// Leaves out the element of a list or the member at a pointer.
  ///
  /// - Returns: false if nothing at the pointer can be left out.
  mutating func leaveOut(_ pointer: String) -> Bool {
    let steps = Self.steps(pointer)
    guard let name = steps.first, let position = members.firstIndex(where: { $0.step == name }) else { return false }
    let member = members[position]
    if member.value.kind == .array, let index = steps.dropFirst().first.flatMap({ Int($0.string) }) {
      var left = member.elements ?? Array(0..<member.value.count)
      if left.indices.contains(index) {
        left.remove(at: index)
        members[position].elements = left
        isWhole = false
        return true
      }
    }
    guard !required.contains(member.name) else { return false }
    members.remove(at: position)
    isWhole = false
    return true
  }

  /// Converts a pointer into the remaining object to one into the object as read.
  func original(_ pointer: String) -> String {
    let steps = Self.steps(pointer)
    guard let name = steps.first, let left = members.first(where: { $0.step == name })?.elements,
      let index = steps.dropFirst().first.flatMap({ Int($0.string) }), left.indices.contains(index)
    else { return pointer }
    let rest = steps.dropFirst(2).map { "/" + $0.string }.joined()
    return "/\(name.string)/\(left[index])\(rest)"
  }

  private static func steps(_ pointer: String) -> ArraySlice<Text> {
    pointer.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Text(String(Substring($0))) }
      .dropFirst()
  }

  /// Calls `body` with the remaining object.
  func read<R>(_ body: (JSONValue) throws -> R) throws -> R {
    if isWhole { return try body(whole) }
    return try parsed().read(body)
  }

  /// The remaining object as a document of its own.
  func parsed() throws(JSONSyntaxError) -> JSONDocument {
    var writer = JSONWriter(capacity: 1024)
    writer.beginObject()
    for member in members {
      writer.key(member.name)
      if let elements = member.elements {
        writer.array(elements) { member.value[$0].encode(to: &$1) }
      } else {
        member.value.encode(to: &writer)
      }
    }
    writer.endObject()
    return try JSONDocument(writer.bytes)
  }
}
