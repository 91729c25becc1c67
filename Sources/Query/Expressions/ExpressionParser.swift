// Parses tokens into nodes by recursive descent. It recurses only for parentheses and calls, and loops over chains.

import Geometry

struct ExpressionParser {
  var lexer: ExpressionLexer
  private(set) var token = ExpressionToken.end
  private(set) var range = 0..<0
  private var depth = 0
  /// An operand that has been read, where only what follows it decided that it is one.
  var pending: Int?
  var parts = ExpressionTree.Parts()
  private var propertyNumbers: [Text: Int] = [:]

  init(_ text: String) throws(ExpressionError) {
    guard text.utf8.count <= Expression.lengthLimit else {
      throw ExpressionError(
        .tooLong, at: Expression.lengthLimit, in: text.utf8, expected: "at most \(Expression.lengthLimit) bytes",
        found: "\(text.utf8.count) bytes")
    }
    lexer = ExpressionLexer(text)
    try advance()
  }

  mutating func parse() throws(ExpressionError) -> ExpressionTree.Parts {
    _ = try anything()
    guard token == .end else { throw unexpected("an operator or the end") }
    return parts
  }

  // MARK: Steps

  mutating func advance() throws(ExpressionError) { (token, range) = try lexer.next() }

  func unexpected(_ expected: String) -> ExpressionError {
    error(.syntax, at: range.lowerBound, expected: expected, found: token == .end ? "the end" : lexer.excerpt(range))
  }

  func error(
    _ kind: ExpressionError.Kind, at offset: Int, expected: String, found: String, available: [String] = []
  ) -> ExpressionError {
    lexer.error(kind, at: offset, expected: expected, found: found, available: available)
  }

  mutating func take(_ keyword: ExpressionToken.Keyword) throws(ExpressionError) -> Bool {
    guard token == .keyword(keyword) else { return false }
    try advance()
    return true
  }

  mutating func take(_ symbol: ExpressionToken.Symbol) throws(ExpressionError) -> Bool {
    guard token == .symbol(symbol) else { return false }
    try advance()
    return true
  }

  mutating func expect(_ symbol: ExpressionToken.Symbol) throws(ExpressionError) {
    guard try take(symbol) else { throw unexpected("'\(symbol.rawValue)'") }
  }

  mutating func add(_ node: ExpressionNode, at offset: Int) -> Int {
    parts.nodes.append(node)
    parts.offsets.append(offset)
    return parts.nodes.count - 1
  }

  mutating func addChildren(_ nodes: [Int]) -> Range<Int> {
    let start = parts.children.count
    parts.children += nodes
    return start..<parts.children.count
  }

  /// Parses the content of an open parenthesis up to the closing one.
  mutating func nested<Result>(
    _ body: (inout ExpressionParser) throws(ExpressionError) -> Result
  ) throws(ExpressionError) -> Result {
    guard depth < Expression.depthLimit else {
      throw error(
        .tooDeep, at: range.lowerBound, expected: "at most \(Expression.depthLimit) parentheses inside one another",
        found: "more")
    }
    depth += 1
    let result = try body(&self)
    depth -= 1
    return result
  }

  // MARK: Logic

  mutating func anything() throws(ExpressionError) -> Int {
    let start = range.lowerBound
    let first = try conjunction()
    guard token == .keyword(.or) else { return first }
    var operands = [first]
    while try take(.or) { operands.append(try conjunction()) }
    return add(.or(addChildren(operands)), at: start)
  }

  private mutating func conjunction() throws(ExpressionError) -> Int {
    let start = range.lowerBound
    let first = try negation()
    guard token == .keyword(.and) else { return first }
    var operands = [first]
    while try take(.and) { operands.append(try negation()) }
    return add(.and(addChildren(operands)), at: start)
  }

  private mutating func negation() throws(ExpressionError) -> Int {
    let start = range.lowerBound
    var count = 0
    while pending == nil, try take(.not) { count += 1 }
    var node = try predicate()
    // Two cancel out except for values other than truth values; so one or two stand for all.
    for _ in 0..<(count == 0 ? 0 : 2 - count % 2) { node = add(.not(node), at: start) }
    return node
  }

  private mutating func predicate() throws(ExpressionError) -> Int {
    let left = try sum()
    let offset = range.lowerBound
    if case .symbol(let symbol) = token, let comparison = Comparison(rawValue: symbol.rawValue) {
      try advance()
      return add(.compare(comparison, left, try sum()), at: offset)
    }
    if try take(.is) {
      let isNegated = try take(.not)
      guard try take(.null) else { throw unexpected(isNegated ? "NULL" : "NULL or NOT NULL") }
      return add(.isNull(left, isNegated: isNegated), at: offset)
    }
    let isNegated = try take(.not)
    if try take(.in) { return try list(left, isNegated, offset) }
    if try take(.like) {
      let literal = try likePattern()
      parts.patternLiterals.append(literal)
      parts.patterns.append(LikePattern(literal.folded))
      return add(.like(left, pattern: parts.patterns.count - 1, isNegated: isNegated), at: offset)
    }
    if try take(.between) {
      let low = try sum()
      guard try take(.and) else { throw unexpected("AND") }
      return add(.between(left, low, try sum(), isNegated: isNegated), at: offset)
    }
    if isNegated { throw unexpected("IN, LIKE or BETWEEN") }
    return left
  }

  private mutating func list(
    _ value: Int, _ isNegated: Bool, _ offset: Int
  ) throws(ExpressionError) -> Int {
    try expect(.open)
    let elements = try nested { parser throws(ExpressionError) in
      try parser.arguments(min: 1) { parser throws(ExpressionError) in try parser.sum() }
    }
    var constants: [AttributeValue] = []
    for element in elements {
      if case .literal(let number) = parts.nodes[element] { constants.append(parts.literals[number]) }
    }
    // A set of literals is looked up by bisection; the nodes are kept for the type check.
    var set: Int?
    if constants.count == elements.count {
      set = parts.sets.count
      parts.sets.append(ConstantSet(constants))
    }
    return add(.isIn(value, list: addChildren(elements), set: set, isNegated: isNegated), at: offset)
  }

  /// Parses a text, or one in `CASEI(...)` and `ACCENTI(...)`.
  private mutating func likePattern() throws(ExpressionError) -> PatternLiteral {
    guard case .name(let name) = token, let function = ExpressionFunction(named: name), function.fold != nil else {
      guard case .text = token else { throw unexpected("a pattern in single quotes") }
      let text = lexer.pattern(range)
      try advance()
      return PatternLiteral(text: text)
    }
    try advance()
    guard token == .symbol(.open) else { throw unexpected("'('") }
    return try nested { parser throws(ExpressionError) in
      try parser.advance()
      var literal = try parser.likePattern()
      try parser.expect(.close)
      literal.folds.insert(function, at: 0)
      return literal
    }
  }

  /// Parses elements up to the closing parenthesis.
  mutating func arguments(
    min: Int, _ element: (inout ExpressionParser) throws(ExpressionError) -> Int
  ) throws(ExpressionError) -> [Int] {
    var elements: [Int] = []
    if min == 0, try take(.close) { return elements }
    repeat { elements.append(try element(&self)) } while try take(.comma)
    guard try take(.close) else { throw unexpected("an operator, ',' or ')'") }
    return elements
  }

  // MARK: Leaves

  mutating func addProperty(_ name: String, at offset: Int) -> Int {
    let number = propertyNumbers[Text(name)] ?? parts.properties.count
    if number == parts.properties.count {
      propertyNumbers[Text(name)] = number
      parts.properties.append(name)
      parts.propertyOffsets.append(offset)
    }
    return add(.property(number), at: offset)
  }

  mutating func literal(_ value: AttributeValue, at offset: Int) -> Int {
    parts.literals.append(value)
    return add(.literal(parts.literals.count - 1), at: offset)
  }
}
