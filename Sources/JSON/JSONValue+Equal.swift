// Equality of values, by which equal requests share one task.

import CJansson

extension JSONValue {
  /// Whether the values are equal: members in any order, elements in the same order, numbers by value (1 equals 1.0).
  ///
  /// - Complexity: O(n) in the smaller value; stops at the first difference.
  public func isEqual(to other: JSONValue) -> Bool {
    guard let node, let right = other.node else { return node == nil && other.node == nil }
    switch (kind, other.kind) {
    case (.object, .object): return hasEqualMembers(as: other)
    case (.array, .array):
      let count = json_array_size(node)
      return count == json_array_size(right) && (0..<count).allSatisfy { self[$0].isEqual(to: other[$0]) }
    case (.integer, .integer): return json_integer_value(node) == json_integer_value(right)
    case (.integer, .real): return Int64(exactly: json_real_value(right)) == int64
    case (.real, .integer): return Int64(exactly: json_real_value(node)) == other.int64
    case (.real, .real): return json_real_value(node) == json_real_value(right)
    default: return json_equal(node, right) == 1
    }
  }

  private func hasEqualMembers(as other: JSONValue) -> Bool {
    guard json_object_size(node) == json_object_size(other.node) else { return false }
    var iterator = json_object_iter(node)
    while let current = iterator {
      let there = json_object_getn(other.node, json_object_iter_key(current), json_object_iter_key_len(current))
      guard let there, let here = json_object_iter_value(current) else { return false }
      let place = JSONPlace(container: nil, step: .root)
      guard JSONValue(node: here, place: place).isEqual(to: JSONValue(node: there, place: place)) else { return false }
      iterator = json_object_iter_next(node, current)
    }
    return true
  }
}
