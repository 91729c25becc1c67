// The possible types of a value, so that type errors are found before evaluation.

import Geometry

/// A set of types; null belongs to none.
struct ScalarTypes: OptionSet {
  let rawValue: UInt8
  static let boolean = ScalarTypes(rawValue: 1)
  static let number = ScalarTypes(rawValue: 2)
  static let text = ScalarTypes(rawValue: 4)
  static let instant = ScalarTypes(rawValue: 8)
  static let json = ScalarTypes(rawValue: 16)
  /// Only an operand of temporal functions.
  static let interval = ScalarTypes(rawValue: 32)
  /// An array literal; arrays of attributes are JSON. Only an operand of array functions.
  static let array = ScalarTypes(rawValue: 64)
  /// Only an operand of spatial functions.
  static let geometry = ScalarTypes(rawValue: 128)
  /// All types that a whole expression can have.
  static let any: ScalarTypes = [.boolean, .number, .text, .instant, .json]
  fileprivate static let comparable: ScalarTypes = [.boolean, .number, .text, .instant]

  /// Whether values of both can be compared. JSON cannot be compared, although functions accept its text.
  func compares(with other: ScalarTypes) -> Bool {
    var left = self
    var right = other
    // An instant can be compared with a text that denotes one.
    if left.contains(.instant) { left.insert(.text) }
    if right.contains(.instant) { right.insert(.text) }
    return !left.intersection(right).isDisjoint(with: .comparable)
  }

  /// A type with its name, its form in a sentence, and a description.
  struct Entry {
    let type: ScalarTypes
    let name: String
    let words: String
    let doc: String
  }

  static let table = [
    Entry(type: .boolean, name: "boolean", words: "a truth value", doc: "`TRUE` or `FALSE`."),
    Entry(
      type: .number, name: "number", words: "a number",
      doc: "An integer of 64 bits or a double. Both compare exactly; an integer that overflows becomes a double."),
    Entry(
      type: .text, name: "text", words: "a text",
      doc:
        "Text in single quotes. A doubled quote, or one behind a backslash, is one; `\\\\` is a backslash, and `\\a \\b \\t \\n \\v \\f \\r` are control characters: bell, backspace, tab, line feed, vertical tab, form feed, carriage return. Before other characters a backslash stands for itself."
    ),
    Entry(
      type: .instant, name: "instant", words: "an instant",
      doc:
        "`DATE('2000-01-31')` or `TIMESTAMP('2000-01-31T12:00:00Z')`. Fields of dates and times are texts, which compare with it."
    ),
    Entry(
      type: .json, name: "json", words: "JSON",
      doc:
        "An array or object of an attribute. Functions of text and `LIKE` take its JSON text; it compares with nothing, as equal values can be written in many ways. Functions `A_...` take arrays."
    ),
    Entry(
      type: .interval, name: "interval", words: "an interval",
      doc:
        "`INTERVAL('2000-01-01', '..')`: the time from an instant to another, both included, or open at an end. Only temporal functions take it."
    ),
    Entry(
      type: .array, name: "array", words: "an array",
      doc:
        "`('a', 1, TRUE)`, `()` or `((1), (2))` as an argument of an array function. Elements are values, arrays, intervals or geometries."
    ),
    Entry(
      type: .geometry, name: "geometry", words: "a geometry",
      doc:
        "The geometry of a feature by the name `geometry` or that of its source, well-known text such as `POINT Z (7 50 12)`, or `BBOX(7, 50, 8, 51)`. Coordinates are in the order x, y. Only spatial functions and `IS NULL` take it."
    ),
  ]

  var words: String {
    let words = Self.table.filter { contains($0.type) }.map(\.words)
    return words.isEmpty ? "null" : words.joined(separator: " or ")
  }

  /// The names of the types; `any` for all.
  var names: [String] { self == .any ? ["any"] : Self.table.filter { contains($0.type) }.map(\.name) }
}

extension ScalarTypes {
  /// The types of a field; all if no type is declared, or if the declared one does not determine its values.
  init(_ type: FieldType?) {
    switch type {
    case .boolean: self = .boolean
    case .integer, .double: self = .number
    case .string, .date, .dateTime, .time: self = .text
    case .binary, .json, nil: self = .any
    }
  }

  init(_ literal: AttributeValue) {
    switch literal {
    case .null: self = []
    case .bool: self = .boolean
    case .integer, .double: self = .number
    case .string: self = .text
    case .json: self = .json
    }
  }
}

extension ExpressionTree {
  /// The types of each node; `property` returns those of properties.
  func types(of property: (Int) -> ScalarTypes) -> [ScalarTypes] {
    var types: [ScalarTypes] = []
    types.reserveCapacity(nodes.count)
    for node in nodes {
      switch node {
      case .literal(let number): types.append(ScalarTypes(parts.literals[number]))
      case .instant: types.append(.instant)
      case .property(let number), .time(let number): types.append(property(number))
      case .not, .and, .or, .compare, .isNull, .isIn, .between, .like: types.append(.boolean)
      case .chain, .power, .negate: types.append(.number)
      case .format, .formatDate: types.append(.text)
      case .interval: types.append(.interval)
      case .array: types.append(.array)
      case .geometry, .shape: types.append(.geometry)
      case .call(let function, let range):
        types.append(function.record.result ?? union(of: parts.children[range], types))
      case .choice(let range): types.append(union(of: values(ofChoice: range), types))
      }
    }
    return types
  }

  private func union(of nodes: some Sequence<Int>, _ types: [ScalarTypes]) -> ScalarTypes {
    nodes.reduce([]) { $0.union(types[$1]) }
  }

  /// The nodes of a choice's possible values.
  func values(ofChoice range: Range<Int>) -> [Int] {
    range.filter { ($0 - range.lowerBound) % 2 == 1 || $0 == range.upperBound - 1 }.map { parts.children[$0] }
  }

  /// - Throws: ``ExpressionError`` of kind `type` at the first operand that never matches.
  func checkTypes(in text: String, _ property: (Int) -> ScalarTypes) throws(ExpressionError) {
    let types = types(of: property)
    func demand(_ expected: ScalarTypes, _ node: Int) throws(ExpressionError) {
      if types[node].isDisjoint(with: expected) { throw wrong(expected, types[node], at: node, text) }
    }
    func demandComparable(_ left: Int, _ right: Int) throws(ExpressionError) {
      if types[left].compares(with: types[right]) { return }
      // If one operand cannot be compared at all, the error is about that one.
      if !types[left].isEmpty { try demand(.comparable, left) }
      throw wrong(types[left], types[right], at: right, text)
    }
    for node in nodes {
      switch node {
      case .literal, .instant, .property, .time, .isNull, .array, .geometry, .shape: break
      case .not(let operand): try demand(.boolean, operand)
      case .and(let range), .or(let range): for operand in parts.children[range] { try demand(.boolean, operand) }
      case .compare(_, let left, let right): try demandComparable(left, right)
      case .isIn(let value, let list, _, _):
        for element in parts.children[list] { try demandComparable(value, element) }
      case .between(let value, let low, let high, _):
        try demandComparable(value, low)
        try demandComparable(value, high)
      case .like(let value, _, _): try demand(.text, value)
      case .chain(let first, let range):
        try demand(.number, first)
        for link in parts.links[range] { try demand(.number, link.operand) }
      case .power(let base, let exponent):
        try demand(.number, base)
        try demand(.number, exponent)
      case .negate(let operand): try demand(.number, operand)
      case .format(let number, let range):
        for (expected, value) in zip(parts.formats[number].types, parts.children[range]) { try demand(expected, value) }
      case .formatDate(_, let value): try demand([.text, .instant], value)
      case .interval(let start, let end):
        if let start { try demand([.text, .instant], start) }
        if let end { try demand([.text, .instant], end) }
      case .call(let function, let range):
        for (index, argument) in parts.children[range].enumerated() {
          try demand(function.record.argument(index), argument)
        }
      case .choice(let range):
        for index in stride(from: range.lowerBound, to: range.upperBound - 1, by: 2) {
          try demand(.boolean, parts.children[index])
        }
      }
    }
  }

  /// - Throws: ``ExpressionError`` of kind `type` if the result never has an `expected` type.
  func checkResult(
    _ expected: ScalarTypes, in text: String, _ property: (Int) -> ScalarTypes
  ) throws(ExpressionError) {
    guard let found = types(of: property).last, found.isDisjoint(with: expected), !found.isEmpty else { return }
    throw wrong(expected, found, at: root, text)
  }

  private func wrong(
    _ expected: ScalarTypes, _ found: ScalarTypes, at node: Int, _ text: String
  ) -> ExpressionError {
    ExpressionError(
      .type, at: parts.offsets[node], in: text.utf8, expected: expected.words, found: found.words)
  }
}
