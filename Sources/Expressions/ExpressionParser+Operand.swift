// The leaves of the grammar: literals, names, calls and parentheses.

import Calendar
import Geometry
import TextFormatting

extension ExpressionParser {
  mutating func operand() throws(ExpressionError) -> Int {
    let start = range.lowerBound
    if let known = pending {
      pending = nil
      return known
    }
    switch try leaf(at: start) {
    case .node(let node): return node
    case .parenthesis: return try parenthesized()
    case .choice: return try choice(at: start)
    case .call(let function): return try call(function, at: start)
    }
  }

  /// The beginning of an operand.
  private enum Leaf {
    /// A literal or a property, which is complete.
    case node(Int)
    case parenthesis
    case choice
    case call(ExpressionFunction)
  }

  /// Reads a literal, or the name before a parenthesis.
  private mutating func leaf(at start: Int) throws(ExpressionError) -> Leaf {
    switch token {
    case .number(let value):
      try advance()
      return .node(literal(value, at: start))
    case .text(let text):
      try advance()
      return .node(literal(.string(text), at: start))
    case .keyword(.true), .keyword(.false):
      let value = token == .keyword(.true)
      try advance()
      return .node(literal(.bool(value), at: start))
    case .quotedName(let name):
      try advance()
      return .node(addProperty(name, at: start))
    case .name(let name):
      try advance()
      return try leaf(name, at: start)
    case .symbol(.open): return .parenthesis
    case .keyword(.null): throw unexpected("a value (a test for null is IS NULL)")
    default: throw unexpected("a value")
    }
  }

  private mutating func leaf(_ name: String, at start: Int) throws(ExpressionError) -> Leaf {
    if isWord(name, "case"), token.beginsOperand { return .choice }
    if GeometryLiteral.begins(with: name, token) { return .node(try geometry(at: start)) }
    guard token == .symbol(.open) else { return .node(addProperty(name, at: start)) }
    guard let function = ExpressionFunction(named: name) else {
      let meant = ForeignNotation.meant(by: name + "(")
      throw error(
        .unknownFunction, at: start, expected: meant ?? "a function", found: name,
        available: ExpressionFunction.all.map(\.record.name)
      ).meaning(meant)
    }
    return .call(function)
  }

  private mutating func parenthesized() throws(ExpressionError) -> Int {
    try enter()
    try advance()
    let node = try anything()
    try close("an operator or ')'")
    leave()
    return node
  }

  private mutating func call(_ function: ExpressionFunction, at start: Int) throws(ExpressionError) -> Int {
    switch function.record.evaluation {
    case .literal(.date): return try instant(isDate: true, at: start)
    case .literal(.timestamp): return try instant(isDate: false, at: start)
    case .literal(.interval): return try interval(at: start)
    case .node, .first, .extreme, .relation, .measure, .making, .values, .conventions:
      let arguments = try arguments(min: 0, each: function.record.isOfArrays ? .element : .value)
      return try call(function, arguments, at: start)
    }
  }

  private mutating func call(
    _ function: ExpressionFunction, _ arguments: [Int], at start: Int
  ) throws(ExpressionError) -> Int {
    switch function.record.evaluation {
    case .node(.box): try box(function, arguments, at: start)
    case .node(.format): try format(arguments, at: start)
    case .node(.formatDate): try formatDate(arguments, at: start)
    case .node(.choice): add(.choice(try operands(function.record, arguments, at: start)), at: start)
    case .literal, .first, .extreme, .relation, .measure, .making, .values, .conventions:
      add(.call(function, try operands(function.record, arguments, at: start)), at: start)
    }
  }

  private mutating func operands(
    _ function: FunctionRecord, _ arguments: [Int], at start: Int
  ) throws(ExpressionError) -> Range<Int> {
    guard function.counts.contains(arguments.count) else {
      throw error(
        .argumentCount, at: start, expected: "\(function.name) with \(Self.words(function.counts))",
        found: "\(arguments.count)")
    }
    if function.isOfGeometries {
      for (index, argument) in arguments.enumerated() where function.argument(index) == .geometry { parts.markShape(argument) }
    }
    return addChildren(arguments)
  }

  static func words(_ counts: ClosedRange<Int>) -> String {
    let noun = counts.upperBound == 1 || counts == 1...Int.max ? "argument" : "arguments"
    if counts.lowerBound == counts.upperBound { return "\(counts.lowerBound) \(noun)" }
    if counts.upperBound == .max { return "at least \(counts.lowerBound) \(noun)" }
    return "\(counts.lowerBound) to \(counts.upperBound) \(noun)"
  }

  /// Parses `DATE('...')` or `TIMESTAMP('...')` after the name.
  private mutating func instant(isDate: Bool, at start: Int) throws(ExpressionError) -> Int {
    try advance()
    let shape = isDate ? "'YYYY-MM-DD'" : "'YYYY-MM-DDThh:mm:ssZ'"
    guard case .text(let text) = token else { throw unexpected(shape) }
    guard let time = CivilTime(literal: text), time.isDate == isDate else {
      throw error(.badLiteral, at: range.lowerBound, expected: shape, found: "'\(text)'")
    }
    try advance()
    try expect(.close)
    parts.instants.append(InstantLiteral(time: time, text: text))
    return add(.instant(parts.instants.count - 1), at: start)
  }

  /// Parses `format('pattern', value, ...)` or `format(value, 'pattern')`.
  private mutating func format(_ arguments: [Int], at start: Int) throws(ExpressionError) -> Int {
    let number = arguments.firstIndex { pattern(of: $0) != nil }
    guard let number, number == 0 || number == 1 && arguments.count == 2 else {
      throw noPattern(
        "format('pattern', values) or format(value, 'pattern')", arguments, isCount: arguments.count < 2, at: start)
    }
    let format = try parsed(arguments[number]) { (pattern) throws(PatternProblem) in try NumberFormat(pattern) }
    var values = arguments
    values.remove(at: number)
    guard values.count == format.types.count else {
      throw error(
        .argumentCount, at: start, expected: "as many values as the pattern has (\(format.types.count))",
        found: "\(values.count)")
    }
    parts.formats.append(format)
    return add(.format(parts.formats.count - 1, addChildren(values)), at: start)
  }

  /// Parses `formatDate(date, 'pattern')`.
  private mutating func formatDate(_ arguments: [Int], at start: Int) throws(ExpressionError) -> Int {
    guard arguments.count == 2, pattern(of: arguments[1]) != nil else {
      throw noPattern("formatDate(date, 'pattern')", arguments, isCount: arguments.count != 2, at: start)
    }
    parts.dateFormats.append(
      try parsed(arguments[1]) { (pattern) throws(PatternProblem) in try DateFormat(pattern) })
    parts.dateFormatPatterns.append(pattern(of: arguments[1]) ?? "")
    return add(.formatDate(parts.dateFormats.count - 1, arguments[0]), at: start)
  }

  private func noPattern(_ usage: String, _ arguments: [Int], isCount: Bool, at start: Int) -> ExpressionError {
    error(
      isCount ? .argumentCount : .type, at: start, expected: usage,
      found: isCount ? "\(arguments.count)" : "no pattern in single quotes")
  }

  /// Parses the pattern of a format from a node.
  private func parsed<Format>(
    _ node: Int, _ parse: (String) throws(PatternProblem) -> Format
  ) throws(ExpressionError) -> Format {
    do throws(PatternProblem) { return try parse(pattern(of: node) ?? "") } catch {
      throw self.error(.badLiteral, at: parts.offsets[node], expected: error.expected, found: error.found)
    }
  }

  private func pattern(of node: Int) -> String? {
    guard case .literal(let number) = parts.nodes[node], case .string(let text) = parts.literals[number] else {
      return nil
    }
    return text
  }
}
