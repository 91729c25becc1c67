// Intervals and arrays.

import Calendar

extension ExpressionParser {
  /// Parses `INTERVAL(start, end)` after the name. An end is a date or time in quotes, `'..'`, or an expression.
  mutating func interval(at start: Int) throws(ExpressionError) -> Int {
    let (first, last) = try nested { parser throws(ExpressionError) in
      try parser.advance()
      let first = try parser.intervalEnd()
      try parser.expect(.comma)
      let last = try parser.intervalEnd()
      guard try parser.take(.close) else { throw parser.unexpected("')'") }
      return (first, last)
    }
    if let first, let last, case .instant(let from) = parts.nodes[first], case .instant(let to) = parts.nodes[last],
      parts.instants[to].time < parts.instants[from].time
    {
      throw error(
        .badLiteral, at: parts.offsets[last], expected: "an end not before '\(parts.instants[from].text)'",
        found: "'\(parts.instants[to].text)'")
    }
    return add(.interval(first, last), at: start)
  }

  /// Nil for `'..'`.
  private mutating func intervalEnd() throws(ExpressionError) -> Int? {
    guard case .text(let text) = token else { return try anything() }
    let start = range.lowerBound
    if text == ".." {
      try advance()
      return nil
    }
    guard let time = CivilTime(text) else {
      throw error(
        .badLiteral, at: start, expected: "'YYYY-MM-DD', 'YYYY-MM-DDThh:mm:ssZ' or '..'",
        found: lexer.excerpt(range))
    }
    try advance()
    parts.instants.append(InstantLiteral(time: time, text: text))
    return add(.instant(parts.instants.count - 1), at: start)
  }

  /// Parses an argument of an array function, or an element of an array: what is wholly in parentheses is an array.
  mutating func element() throws(ExpressionError) -> Int {
    guard token == .symbol(.open) else { return try anything() }
    let start = range.lowerBound
    let elements = try nested { parser throws(ExpressionError) in
      try parser.advance()
      return try parser.arguments(min: 0) { parser throws(ExpressionError) in try parser.element() }
    }
    let isWhole = token == .symbol(.comma) || token == .symbol(.close)
    if !isWhole, elements.count == 1 {
      // Parentheses around an operand, as what follows shows.
      pending = inner(of: elements[0])
      return try anything()
    }
    guard isWhole else { throw unexpected("',' or ')'") }
    var constant: Int?
    if let value = ArrayValue(elements, of: parts) {
      constant = parts.arrays.count
      parts.arrays.append(value)
    }
    return add(.array(addChildren(elements), constant: constant), at: start)
  }

  /// The operand in any number of parentheses, each of which has been read as an array.
  private func inner(of node: Int) -> Int {
    var node = node
    while case .array(let range, _) = parts.nodes[node], range.count == 1 { node = parts.children[range.lowerBound] }
    return node
  }
}
