// Parses tokens into nodes by recursive descent. Recurses only for parentheses and calls, and loops over chains. Functions on the
// recursive path are small: errors and leaves are made in others, so that stack frames stay small.

import Geometry

struct ExpressionParser {
  var lexer: ExpressionLexer
  private(set) var token = ExpressionToken.end
  private(set) var range = 0..<0
  /// The range of the token before, by which a word of another language is recognized that was read as a property.
  private var before = 0..<0
  private var depth = 0
  /// An operand that was already read, because only the following token showed that it is one.
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

  mutating func advance() throws(ExpressionError) {
    before = range
    (token, range) = try lexer.next()
  }

  func unexpected(_ expected: String) -> ExpressionError {
    for range in token.beginsOperand ? [range, before] : [range] {
      let word = lexer.excerpt(range)
      if let meant = ForeignNotation.meant(by: word) {
        return error(.syntax, at: range.lowerBound, expected: meant, found: word)
      }
    }
    return error(
      .syntax, at: range.lowerBound, expected: expected, found: token == .end ? "the end" : lexer.excerpt(range))
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

  /// Enters a parenthesis, up to ``leave()``. Throws if the nesting is too deep.
  mutating func enter() throws(ExpressionError) {
    guard depth < Expression.depthLimit else {
      throw error(
        .tooDeep, at: range.lowerBound, expected: "at most \(Expression.depthLimit) parentheses inside one another",
        found: "more")
    }
    depth += 1
  }

  mutating func leave() { depth -= 1 }

  /// Throws unless the next token is `symbol`.
  func require(_ symbol: ExpressionToken.Symbol) throws(ExpressionError) {
    guard token == .symbol(symbol) else { throw unexpected("'\(symbol.rawValue)'") }
  }

  /// Reads a closing parenthesis; `expected` also names other tokens allowed there.
  mutating func close(_ expected: String = "')'") throws(ExpressionError) {
    guard try take(.close) else { throw unexpected(expected) }
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
    // Two NOTs cancel out, except that the operand must be a truth value. So one or two stand for any number.
    for _ in 0..<(count == 0 ? 0 : 2 - count % 2) { node = negated(node, at: start) }
    return node
  }

  /// Adds a NOT, or removes one if there are two already, even with parentheses between them.
  private mutating func negated(_ node: Int, at start: Int) -> Int {
    guard case .not(let inner) = parts.nodes[node], case .not = parts.nodes[inner], node == parts.nodes.count - 1 else {
      return add(.not(node), at: start)
    }
    parts.nodes.removeLast()
    parts.offsets.removeLast()
    return inner
  }

  /// The operator after the left operand of a predicate, except IS NULL.
  private enum Verb {
    case compare(Comparison)
    case isIn
    case like
    case between
  }

  private mutating func predicate() throws(ExpressionError) -> Int {
    var node = try sum()
    var offset = range.lowerBound
    let isNegated = try take(.not)
    switch try verb(isNegated: isNegated) {
    case .compare(let comparison): node = add(.compare(comparison, node, try sum()), at: offset)
    case .isIn: node = try list(node, isNegated, offset)
    case .like: node = try like(node, isNegated, offset)
    case .between: node = try between(node, isNegated, offset)
    case nil: break
    }
    // The operand of IS NULL may be a predicate (see `isNullOperand`).
    offset = range.lowerBound
    while try take(.is) {
      node = try nullTest(node, offset)
      offset = range.lowerBound
    }
    return node
  }

  private mutating func verb(isNegated: Bool) throws(ExpressionError) -> Verb? {
    if try take(.in) { return .isIn }
    if try take(.like) { return .like }
    if try take(.between) { return .between }
    if isNegated { throw unexpected("IN, LIKE or BETWEEN") }
    guard case .symbol(let symbol) = token, let comparison = Comparison(rawValue: symbol.rawValue) else { return nil }
    try advance()
    return .compare(comparison)
  }

  private mutating func nullTest(_ operand: Int, _ offset: Int) throws(ExpressionError) -> Int {
    let isNegated = try take(.not)
    guard try take(.null) else { throw unexpected(isNegated ? "NULL" : "NULL or NOT NULL") }
    return add(.isNull(operand, isNegated: isNegated), at: offset)
  }

  private mutating func between(_ value: Int, _ isNegated: Bool, _ offset: Int) throws(ExpressionError) -> Int {
    let low = try sum()
    guard try take(.and) else { throw unexpected("AND") }
    return add(.between(value, low, try sum(), isNegated: isNegated), at: offset)
  }

  private mutating func like(_ value: Int, _ isNegated: Bool, _ offset: Int) throws(ExpressionError) -> Int {
    let literal = try likePattern()
    parts.patternLiterals.append(literal)
    parts.patterns.append(LikePattern(literal.folded))
    return add(.like(value, pattern: parts.patterns.count - 1, isNegated: isNegated), at: offset)
  }

  private mutating func list(_ value: Int, _ isNegated: Bool, _ offset: Int) throws(ExpressionError) -> Int {
    try require(.open)
    let elements = try arguments(min: 1, each: .operand)
    let set = constants(elements)
    return add(.isIn(value, list: addChildren(elements), set: set, isNegated: isNegated), at: offset)
  }

  /// The set for a list of literals, which is searched by bisection. The nodes are kept for the type check.
  private mutating func constants(_ elements: [Int]) -> Int? {
    var constants: [AttributeValue] = []
    for element in elements {
      guard case .literal(let number) = parts.nodes[element] else { return nil }
      constants.append(parts.literals[number])
    }
    parts.sets.append(ConstantSet(constants))
    return parts.sets.count - 1
  }

  /// Parses a text, possibly in `CASEI(...)` and `ACCENTI(...)`.
  private mutating func likePattern() throws(ExpressionError) -> PatternLiteral {
    guard case .name(let name) = token, let function = ExpressionFunction(named: name), function.record.fold != nil
    else {
      guard case .text = token else { throw unexpected("a pattern in single quotes") }
      let text = lexer.pattern(range)
      try advance()
      return PatternLiteral(text: text)
    }
    try advance()
    try require(.open)
    try enter()
    try advance()
    var literal = try likePattern()
    try expect(.close)
    leave()
    literal.folds.insert(function, at: 0)
    return literal
  }

  /// The kind of elements in a parenthesized list.
  enum Element {
    case value
    /// An operand, but no predicate.
    case operand
    /// A value or an array.
    case element
  }

  /// Parses elements from an opening parenthesis to the closing one.
  mutating func arguments(min: Int, each kind: Element) throws(ExpressionError) -> [Int] {
    try enter()
    try advance()
    var elements: [Int] = []
    if min > 0 || token != .symbol(.close) {
      repeat { elements.append(try element(kind)) } while try take(.comma)
    }
    try close("an operator, ',' or ')'")
    leave()
    return elements
  }

  private mutating func element(_ kind: Element) throws(ExpressionError) -> Int {
    switch kind {
    case .value: try anything()
    case .operand: try sum()
    case .element: try element()
    }
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
