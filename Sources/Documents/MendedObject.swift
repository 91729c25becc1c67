// An object of a document without the members in it that are not valid, so that the rest can be read.

import GeoModel
import Geometry
import JSON

/// What is left of an object. Members, and elements of lists, are left out one by one until the rest is valid.
struct MendedObject {
  private struct Member {
    let name: String
    let value: JSONValue
    /// The indexes of the elements that are left; nil while all are.
    var elements: [Int]?
  }

  private let whole: JSONValue
  private var members: [Member] = []
  /// Members that the object cannot be without.
  private let required: Set<String>
  /// Whether it is read in place, as nothing is left out.
  private var isWhole = true

  /// - Parameters:
  ///   - json: an object.
  ///   - lists: members that are other objects' and not part of this one.
  init(_ json: JSONValue, required: Set<String>, without lists: Set<String>) {
    whole = json
    self.required = required
    json.forEachMember { name, value in
      let name = String(decoding: name, as: UTF8.self)
      if lists.contains(name) { isWhole = false } else { members.append(Member(name: name, value: value)) }
    }
  }

  /// The names of the members that can be left out.
  var optional: [String] { members.map(\.name).filter { !required.contains($0) } }

  /// The object with some of its optional members alone.
  func keeping(_ names: ArraySlice<String>) -> MendedObject {
    let kept = required.union(names)
    var result = self
    result.members.removeAll { !kept.contains($0.name) }
    result.isWhole = false
    return result
  }

  /// Leaves out what a pointer in the object leads to: an element of a list, or a member.
  ///
  /// - Returns: false where it leads to nothing that can be left out.
  mutating func leaveOut(_ pointer: String) -> Bool {
    let steps = pointer.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
    guard let name = steps.first, let position = members.firstIndex(where: { Self.isStep(name, $0.name) }) else {
      return false
    }
    let member = members[position]
    if member.value.kind == .array, let step = steps.dropFirst().first, let index = Int(String(Substring(step))) {
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

  /// The pointer in the object as it was read, of one in what is left of it.
  func original(_ pointer: String) -> String {
    let steps = pointer.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
    guard let name = steps.first, let member = members.first(where: { Self.isStep(name, $0.name) }),
      let left = member.elements, let step = steps.dropFirst().first, let index = Int(String(Substring(step))),
      left.indices.contains(index)
    else { return pointer }
    let rest = steps.dropFirst(2).map { "/" + String(Substring($0)) }.joined()
    return "/\(String(Substring(name)))/\(left[index])\(rest)"
  }

  private static func isStep(_ step: Substring.UTF8View, _ name: String) -> Bool {
    Text(String(Substring(step))) == Text(jsonPointerEscaped(name))
  }

  /// Reads what is left.
  func read<R>(_ body: (JSONValue) throws -> R) throws -> R {
    if isWhole { return try body(whole) }
    return try parsed().read(body)
  }

  /// What is left, as a document of its own.
  func parsed() throws(JSONSyntaxError) -> JSONDocument {
    var writer = JSONWriter(capacity: 1024)
    writer.beginObject()
    for member in members {
      writer.key(member.name)
      guard let elements = member.elements else {
        member.value.encode(to: &writer)
        continue
      }
      writer.beginArray()
      for index in elements { member.value[index].encode(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
    return try JSONDocument(writer.bytes)
  }
}
