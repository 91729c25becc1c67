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
    case (.integer, .real): return Int64(exactly: json_real_value(right)) == int64
    case (.real, .integer): return other.isEqual(to: self)
    default: return json_equal(node, right) == 1
    }
  }

  private func hasEqualMembers(as other: JSONValue) -> Bool {
    guard count == other.count else { return false }
    var isSame = true
    forEachMember { name, value in
      let its = JSONValue(node: other.child(named: name), container: other.node, step: .root)
      isSame = isSame && value.isEqual(to: its)
    }
    return isSame
  }
}
