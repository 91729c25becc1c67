// Grammar between predicates and operands: sums, products, powers and signs.

import Geometry

extension ExpressionParser {
  mutating func sum() throws(ExpressionError) -> Int { try chain(ofProducts: false) }

  private mutating func chain(ofProducts isProduct: Bool) throws(ExpressionError) -> Int {
    let first = try operand(ofProduct: isProduct)
    guard token.arithmetic?.isProduct == isProduct else { return first }
    let offset = range.lowerBound
    var links: [ExpressionTree.Link] = []
    while let operation = token.arithmetic, operation.isProduct == isProduct {
      try advance()
      links.append(.init(operation: operation, operand: try operand(ofProduct: isProduct)))
    }
    let start = parts.links.count
    parts.links += links
    return add(.chain(first: first, start..<parts.links.count), at: offset)
  }

  private mutating func operand(ofProduct isProduct: Bool) throws(ExpressionError) -> Int {
    isProduct ? try power() : try chain(ofProducts: true)
  }

  private mutating func power() throws(ExpressionError) -> Int {
    let base = try factor()
    let offset = range.lowerBound
    guard try take(.caret) else { return base }
    let exponent = try factor()
    guard token != .symbol(.caret) else { throw unexpected("parentheses around one of two '^'") }
    return add(.power(base, exponent), at: offset)
  }

  private mutating func factor() throws(ExpressionError) -> Int {
    let start = range.lowerBound
    let minuses = try signs()
    if minuses == 1, let node = try negativeNumber(at: start) { return node }
    var node = try operand()
    for _ in 0..<(minuses == 0 ? 0 : 2 - minuses % 2) { node = add(.negate(node), at: start) }
    return node
  }

  /// The number of minus signs before an operand.
  private mutating func signs() throws(ExpressionError) -> Int {
    var minuses = 0
    while pending == nil, token == .symbol(.minus) || token == .symbol(.plus) {
      if token == .symbol(.minus) { minuses += 1 }
      try advance()
    }
    return minuses
  }

  private mutating func negativeNumber(at start: Int) throws(ExpressionError) -> Int? {
    guard case .number(let number) = token, let value = number.negated else { return nil }
    try advance()
    return literal(value, at: start)
  }
}

extension ExpressionToken {
  fileprivate var arithmetic: Arithmetic? {
    switch self {
    case .symbol(let symbol): Arithmetic(rawValue: symbol.rawValue)
    case .keyword(.div): .integerDivide
    default: nil
    }
  }
}

extension AttributeValue {
  /// The negated literal; nil if it is not a number.
  fileprivate var negated: AttributeValue? {
    switch self {
    case .integer(let value): .integer(-value)
    // 2^63 only fits a double, but -2^63 is an integer.
    case .double(0x1p63): .integer(.min)
    case .double(let value): .double(-value)
    default: nil
    }
  }
}
