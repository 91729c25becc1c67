// Arrays as operands of array functions, which CQL2 compares as sets.

import Calendar
import Geometry
import JSON

/// The set of an array's elements. Order and repetition are ignored.
///
/// Elements of different types differ. A null element or a JSON object is unknown.
struct ArrayValue: Hashable, Sendable {
  /// An element in a form that is identical for equal values.
  enum Key: Hashable, Sendable {
    case bool(Bool)
    case integer(Int64)
    /// A number that is not a 64-bit integer.
    case double(Double)
    case text(Text)
    case period(Period)
    case geometry(Geometry)
    case array(Set<Key>)
  }

  private(set) var keys: Set<Key> = []
  private(set) var hasUnknown = false
  private var hasPeriod = false

  init() {}

  mutating func insert(_ key: Key?) {
    guard let key else {
      hasUnknown = true
      return
    }
    if case .period = key { hasPeriod = true }
    keys.insert(key)
  }

  var isEmpty: Bool { keys.isEmpty && !hasUnknown }

  /// The set as an element of another set; nil if an element is unknown.
  var key: Key? { hasUnknown ? nil : .array(keys) }

  /// The set with texts that denote an instant replaced by instants.
  private var timed: ArrayValue {
    var copy = self
    copy.keys = Set(
      keys.map { key in
        guard case .text(let text) = key, let time = CivilTime(text.string) else { return key }
        return .period(Period(time))
      })
    return copy
  }

  /// Whether the relation holds; nil if unknown.
  ///
  /// - Complexity: O(n).
  func holds(_ relation: ArrayRelation, _ other: ArrayValue) -> Bool? {
    // As in comparisons, an instant equals a text that denotes it.
    if hasPeriod != other.hasPeriod {
      return hasPeriod ? plain(relation, other.timed) : timed.plain(relation, other)
    }
    return plain(relation, other)
  }

  private func plain(_ relation: ArrayRelation, _ other: ArrayValue) -> Bool? {
    switch relation {
    case .contains: return contains(other)
    case .containedBy: return other.contains(self)
    case .equals:
      switch (contains(other), other.contains(self)) {
      case (false?, _), (_, false?): return false
      case (true?, true?): return true
      default: return nil
      }
    case .overlaps:
      if !keys.isDisjoint(with: other.keys) { return true }
      return hasUnknown && !other.isEmpty || other.hasUnknown && !isEmpty ? nil : false
    }
  }

  private func contains(_ other: ArrayValue) -> Bool? {
    guard other.keys.isSubset(of: keys) else { return hasUnknown ? nil : false }
    return other.hasUnknown ? nil : true
  }
}

enum ArrayRelation: Sendable { case equals, contains, containedBy, overlaps }

extension ArrayValue.Key {
  init?(_ value: Scalar) {
    switch value {
    case .null: return nil
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .integer(value)
    case .double(let value): self = Int64(exactly: value).map { .integer($0) } ?? .double(value)
    case .bytes(let text): self = .text(Text(String(decoding: text, as: UTF8.self)))
    case .text(let text): self = .text(Text(text))
    case .instant(let instant): self = .period(Period(instant.time))
    case .json(let text):
      guard let key = ArrayValue(json: text)?.key else { return nil }
      self = key
    }
  }

  fileprivate init?(_ value: JSONValue) {
    switch value.kind {
    case .bool: self = .bool(value.isTrue)
    case .integer: self = .integer(value.int64)
    case .real:
      guard let number = value.number else { return nil }
      self.init(.double(number))
    case .string: self = .text(Text(value.withUTF8 { String(decoding: $0, as: UTF8.self) }))
    case .array:
      guard let key = ArrayValue(value).key else { return nil }
      self = key
    case .object, .null, .absent: return nil
    }
  }
}

extension ArrayValue {
  /// Nil if the text is not an array.
  init?(json text: String) {
    guard let document = try? JSONDocument(text) else { return nil }
    let value = document.read { $0.kind == .array ? ArrayValue($0) : nil }
    guard let value else { return nil }
    self = value
  }

  fileprivate init(_ array: JSONValue) {
    for index in 0..<array.count { insert(Key(array[index])) }
  }

  /// The value of an array's nodes; nil unless all are constant.
  init?(_ nodes: [Int], of parts: ExpressionTree.Parts) {
    for node in nodes {
      switch parts.nodes[node] {
      case .literal(let number): insert(Key(Scalar(parts.literals[number])))
      case .instant(let number): insert(Key(.instant(parts.instants[number])))
      case .geometry(let number): insert(.geometry(parts.geometries[number].geometry))
      case .array(_, let constant?): insert(parts.arrays[constant].key)
      case .property, .time, .not, .and, .or, .compare, .isNull, .isIn, .between, .like, .chain, .power, .negate, .call,
        .choice, .format, .formatDate, .interval, .array, .shape:
        return nil
      }
    }
  }
}
