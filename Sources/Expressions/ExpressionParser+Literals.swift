// The grammar of intervals and arrays.

import Calendar

extension ExpressionParser {
  /// Parses `INTERVAL(start, end)` after the name. An end is a date or time in quotes, `'..'`, or an expression.
  mutating func interval(at start: Int) throws(ExpressionError) -> Int {
    try enter()
    try advance()
    let first = try intervalEnd()
    try expect(.comma)
    let last = try intervalEnd()
    try close()
    leave()
    if let first, let last { try checkOrder(first, last) }
    return add(.interval(first, last), at: start)
  }

  /// Throws for constants whose end precedes the start.
  private func checkOrder(_ first: Int, _ last: Int) throws(ExpressionError) {
    guard case .instant(let from) = parts.nodes[first], case .instant(let to) = parts.nodes[last],
      parts.instants[to].time < parts.instants[from].time
    else { return }
    throw error(
      .badLiteral, at: parts.offsets[last], expected: "an end not before '\(parts.instants[from].text)'",
      found: "'\(parts.instants[to].text)'")
  }

  /// An end of an interval; nil for `'..'`.
  private mutating func intervalEnd() throws(ExpressionError) -> Int? {
    guard case .text(let text) = token else { return try anything() }
    return try intervalEnd(text)
  }

  private mutating func intervalEnd(_ text: String) throws(ExpressionError) -> Int? {
    let start = range.lowerBound
    if text == ".." {
      try advance()
      return nil
    }
    guard let time = CivilTime(literal: text) else {
      throw error(
        .badLiteral, at: start, expected: "'YYYY-MM-DD', 'YYYY-MM-DDThh:mm:ssZ' or '..'",
        found: lexer.excerpt(range))
    }
    try advance()
    parts.instants.append(InstantLiteral(time: time, text: text))
    return add(.instant(parts.instants.count - 1), at: start)
  }

  /// Parses an argument of an array function, or an element of an array. An expression that is completely in parentheses is an array.
  mutating func element() throws(ExpressionError) -> Int {
    guard token == .symbol(.open) else { return try anything() }
    let start = range.lowerBound
    let elements = try arguments(min: 0, each: .element)
    if token == .symbol(.comma) || token == .symbol(.close) { return array(elements, at: start) }
    guard elements.count == 1 else { throw unexpected("',' or ')'") }
    // The following token shows that the parentheses only enclose an operand.
    pending = inner(of: elements[0])
    return try anything()
  }

  private mutating func array(_ elements: [Int], at start: Int) -> Int {
    var constant: Int?
    if let value = ArrayValue(elements, of: parts) {
      constant = parts.arrays.count
      parts.arrays.append(value)
    }
    return add(.array(addChildren(elements), constant: constant), at: start)
  }

  /// The operand inside any number of parentheses, each of which was read as an array.
  private func inner(of node: Int) -> Int {
    var node = node
    while case .array(let range, _) = parts.nodes[node], range.count == 1 { node = parts.children[range.lowerBound] }
    return node
  }
}

extension CivilTime {
  /// A date, or a time in UTC as CQL2 writes it: with `T` and `Z`. Times of data may have any offset.
  init?(literal text: String) {
    self.init(text)
    let bytes = Array(text.utf8)
    guard isDate || bytes[10] == UInt8(ascii: "T") && bytes.last == UInt8(ascii: "Z") else { return nil }
  }
}
