// Converts CQL2 JSON to text, so that there is one parser. Its errors are mapped back to the JSON values that caused them.

import Geometry
import JSON
import Sorting

/// The source of each piece of a text made from JSON.
final class JSONSource: Sendable {
  /// The place of a value: its container, and the step from there.
  struct Place: Sendable {
    let parent: Int
    let step: String
  }

  private let places: [Place]
  /// The sources of pieces of the text, by ascending offset.
  private let marks: [(offset: Int, place: Int)]

  init(places: [Place], marks: [(offset: Int, place: Int)]) { (self.places, self.marks) = (places, marks) }

  /// The path to the value at an offset of the text; empty for the whole expression.
  func steps(at offset: Int) -> [String] {
    let next = marks.partitioningIndex { $0.offset > offset }
    return next == 0 ? [] : Self.steps(to: marks[next - 1].place, in: places)
  }

  static func steps(to place: Int, in places: [Place]) -> [String] {
    var steps: [String] = []
    var place = place
    while place > 0 {
      steps.append(places[place].step)
      place = places[place].parent
    }
    return steps.reversed()
  }
}

/// Writes CQL2 JSON (OGC 21-065r2, clause 8.3) as CQL2 text.
struct JSONExpressionReader {
  private var text: [UInt8] = []
  private var places = [JSONSource.Place(parent: 0, step: "")]
  private var marks: [(offset: Int, place: Int)] = []
  private var depth = 0

  /// The text of an expression, and the sources of its pieces.
  ///
  /// - Complexity: O(n). Recursion is limited by ``Expression/depthLimit``.
  static func read(_ value: JSONValue) throws(ExpressionError) -> (text: String, source: JSONSource) {
    var reader = JSONExpressionReader()
    try reader.write(value, at: 0, above: 0)
    return (
      String(decoding: reader.text, as: UTF8.self), JSONSource(places: reader.places, marks: reader.marks)
    )
  }

  // MARK: Pieces

  mutating func append(_ piece: String) { text += piece.utf8 }

  mutating func mark(_ place: Int) { marks.append((text.count, place)) }

  mutating func step(_ name: String, from parent: Int) -> Int {
    places.append(.init(parent: parent, step: name))
    return places.count - 1
  }

  func error(
    _ kind: ExpressionError.Kind, _ place: Int, expected: String, found: String, available: [String] = []
  ) -> ExpressionError {
    ExpressionError(
      kind, steps: JSONSource.steps(to: place, in: places), expected: expected, found: found, available: available)
  }

  /// Throws for a member other than the known ones: one that is ignored would change the meaning.
  func require(_ known: [String], of value: JSONValue, _ place: Int) throws(ExpressionError) {
    try value.forEachMember { (bytes, _) throws(ExpressionError) in
      let name = String(decoding: bytes, as: UTF8.self)
      if known.contains(where: { Text($0) == Text(name) }) { return }
      throw ExpressionError(
        .syntax, steps: JSONSource.steps(to: place, in: places) + [name],
        expected: known.count == 1 ? "no member but `\(known[0])`" : "one of the members \(known.joined(separator: ", "))",
        found: "the member `\(name)`")
    }
  }

  func wrong(_ value: JSONValue, _ place: Int, _ expected: String) -> ExpressionError {
    error(.syntax, place, expected: expected, found: value.error(expected: "").found)
  }

  // MARK: Values

  /// Writes a value, in parentheses if it binds no tighter than `limit`.
  private mutating func write(_ value: JSONValue, at place: Int, above limit: Int) throws(ExpressionError) {
    guard text.count <= Expression.lengthLimit else {
      throw error(
        .tooLong, place, expected: "at most \(Expression.lengthLimit) bytes as text", found: "more")
    }
    guard depth < Expression.jsonDepthLimit else {
      throw error(
        .tooDeep, place, expected: "at most \(Expression.jsonDepthLimit) values inside one another", found: "more")
    }
    depth += 1
    defer { depth -= 1 }
    mark(place)
    switch value.kind {
    case .string: append(Expression.quoted(value.text))
    case .bool: append(value.isTrue ? "TRUE" : "FALSE")
    case .integer: append(String(value.int64))
    case .real: append(value.number.map { "\($0)" } ?? "")
    case .object: try writeObject(value, at: place, above: limit)
    case .array: try list(value, at: place)
    case .null, .absent: throw wrong(value, place, "a value (a test for null is isNull)")
    }
  }

  private mutating func writeObject(_ value: JSONValue, at place: Int, above limit: Int) throws(ExpressionError) {
    if value["op"].kind != .absent { return try operation(value, at: place, above: limit) }
    if case let name = value["property"], name.kind != .absent {
      try require(["property"], of: value, place)
      let place = step("property", from: place)
      guard name.kind == .string, name.text != "" else { throw wrong(name, place, "the name of a property") }
      return append(Self.name(name.text))
    }
    for (member, function) in [(value["date"], "DATE"), (value["timestamp"], "TIMESTAMP")]
    where member.kind != .absent {
      try require([function.lowercased()], of: value, place)
      let place = step(function.lowercased(), from: place)
      guard member.kind == .string else { throw wrong(member, place, "a string") }
      mark(place)
      return append("\(function)(\(Expression.quoted(member.text)))")
    }
    if case let ends = value["interval"], ends.kind != .absent {
      try require(["interval"], of: value, place)
      let place = step("interval", from: place)
      guard ends.count == 2, ends.kind == .array else { throw wrong(ends, place, "an array of two ends") }
      mark(place)
      return try call("INTERVAL", ends, at: place)
    }
    if case let box = value["bbox"], box.kind != .absent, value["type"].kind == .absent {
      try require(["bbox"], of: value, place)
      let place = step("bbox", from: place)
      guard box.kind == .array else { throw wrong(box, place, "an array of four or six numbers") }
      mark(place)
      return try call("BBOX", box, at: place)
    }
    if value["type"].kind != .absent { return try geometry(value, at: place, depth: 0) }
    throw wrong(
      value, place, "an object with \"op\", \"property\", \"date\", \"timestamp\", \"interval\", \"bbox\" or \"type\"")
  }

  /// Writes the elements of an array in parentheses.
  private mutating func list(_ value: JSONValue, at place: Int, above limit: Int = 0) throws(ExpressionError) {
    append("(")
    for index in 0..<value.count {
      if index > 0 { append(", ") }
      try write(value[index], at: step(String(index), from: place), above: limit)
    }
    mark(place)
    append(")")
  }

  private mutating func call(_ name: String, _ arguments: JSONValue, at place: Int) throws(ExpressionError) {
    append(name)
    try list(arguments, at: place)
  }

  // MARK: Operations

  private mutating func operation(_ value: JSONValue, at place: Int, above limit: Int) throws(ExpressionError) {
    try require(["op", "args"], of: value, place)
    let name = value["op"]
    let operation = step("op", from: place)
    guard name.kind == .string else { throw wrong(name, operation, "the name of an operator or function") }
    guard let form = JSONOperator(name.text) else {
      let meant = ForeignNotation.meant(by: name.text) ?? ForeignNotation.meant(by: name.text + "(")
      throw error(
        .unknownFunction, operation, expected: meant ?? "an operator or a function", found: name.text,
        available: JSONOperator.names
      ).meaning(meant)
    }
    let arguments = value["args"]
    let list = step("args", from: place)
    guard arguments.kind == .array else { throw wrong(arguments, list, "an array of arguments") }
    guard form.counts.contains(arguments.count) else {
      throw error(
        .argumentCount, list, expected: "\(name.text) with \(ExpressionParser.words(form.counts))",
        found: "\(arguments.count)")
    }
    let isEnclosed = form.precedence(of: arguments) <= limit
    if isEnclosed { append("(") }
    try write(form, arguments, at: list, of: place)
    if isEnclosed {
      mark(place)
      append(")")
    }
  }

  private mutating func write(
    _ form: JSONOperator, _ arguments: JSONValue, at list: Int, of place: Int
  ) throws(ExpressionError) {
    switch form {
    case .logic(let word, let level):
      for index in 0..<arguments.count {
        if index > 0 { infix(word, place) }
        try write(arguments[index], at: step(String(index), from: list), above: level)
      }
    case .infix(let symbol, let level):
      // Chains of sums and products are read from the left; comparisons and powers do not chain.
      let left = symbol == "^" ? level : level == 4 ? 4 : level - 1
      try write(arguments[0], at: step("0", from: list), above: left)
      infix(symbol, place)
      try write(arguments[1], at: step("1", from: list), above: level)
    case .not:
      let first = step("0", from: list)
      if let inner = JSONOperator.negatable(arguments[0]) {
        let innerList = step("args", from: first)
        mark(first)
        return try predicate(inner, arguments[0]["args"], at: innerList, of: first, isNegated: true)
      }
      append("NOT ")
      // Without parentheses, two NOTs would cancel out.
      try write(arguments[0], at: first, above: 3)
    case .predicate(let word): try predicate(word, arguments, at: list, of: place, isNegated: false)
    case .choice: try choice(arguments, at: list, of: place)
    case .call(let function):
      let name = function.record.name
      try call(function.record.fold == nil ? name : name.uppercased(), arguments, at: list)
    }
  }

  private mutating func infix(_ word: String, _ place: Int) {
    append(" ")
    mark(place)
    append(word + " ")
  }

  private mutating func predicate(
    _ word: String, _ arguments: JSONValue, at list: Int, of place: Int, isNegated: Bool
  ) throws(ExpressionError) {
    let count = word == "between" ? 3 : word == "isNull" ? 1 : 2
    guard arguments.kind == .array, arguments.count == count else {
      throw error(
        .argumentCount, list, expected: "\(word) with \(ExpressionParser.words(count...count))",
        found: "\(arguments.count)")
    }
    let first = step("0", from: list)
    let second = step("1", from: list)
    if word == "in", arguments[1].kind == .array, arguments[1].count == 0 {
      return try emptyList(arguments[0], at: first, of: place, isNegated: isNegated)
    }
    try write(arguments[0], at: first, above: 4)
    if word == "isNull" {
      append(" ")
      mark(place)
      return append(isNegated ? "IS NOT NULL" : "IS NULL")
    }
    infix((isNegated ? "NOT " : "") + word.uppercased(), place)
    switch word {
    case "like": try pattern(arguments[1], at: second)
    case "in":
      guard arguments[1].kind == .array else { throw wrong(arguments[1], second, "an array of values") }
      try self.list(arguments[1], at: second, above: 4)
    default:
      try write(arguments[1], at: second, above: 4)
      append(" AND ")
      try write(arguments[2], at: step("2", from: list), above: 4)
    }
  }

  /// Writes membership in a list without values, which is false. CQL2 text has no empty lists.
  private mutating func emptyList(
    _ value: JSONValue, at first: Int, of place: Int, isNegated: Bool
  ) throws(ExpressionError) {
    append("(")
    try write(value, at: first, above: 4)
    infix(isNegated ? "IS NULL OR" : "IS NULL AND", place)
    try write(value, at: first, above: 4)
    append(" IS NOT NULL)")
  }

  /// Writes the pattern of LIKE: a string, in any number of `casei` and `accenti`.
  private mutating func pattern(_ value: JSONValue, at place: Int) throws(ExpressionError) {
    var (value, place, count) = (value, place, 0)
    while value.kind == .object, count < Expression.jsonDepthLimit, let name = Optional(value["op"].text),
      ExpressionFunction(named: name)?.record.fold != nil, value["args"].count == 1
    {
      mark(place)
      append(name.uppercased() + "(")
      (value, place, count) = (value["args"][0], step("0", from: step("args", from: place)), count + 1)
    }
    guard value.kind == .string else { throw wrong(value, place, "a pattern, or one in casei or accenti") }
    mark(place)
    append(LikePattern.quoted(value.text) + String(repeating: ")", count: count))
  }

  private mutating func choice(_ arguments: JSONValue, at list: Int, of place: Int) throws(ExpressionError) {
    append("CASE")
    for index in 0..<arguments.count {
      append(index % 2 == 1 ? " THEN " : index == arguments.count - 1 ? " ELSE " : " WHEN ")
      try write(arguments[index], at: step(String(index), from: list), above: 0)
    }
    mark(place)
    append(" END")
  }
}

extension JSONValue {
  /// The string; empty for other values.
  var text: String { withUTF8 { String(decoding: $0, as: UTF8.self) } }
}
