// The grammar of CASE. Its words are names in other places, so that attributes may be called `case` or `end`.

extension ExpressionParser {
  /// Whether a name is the given word of CASE.
  func isWord(_ name: String, _ word: String) -> Bool {
    name.utf8.count == word.utf8.count && name.lowercased() == word
  }

  /// Parses `[value] WHEN ... THEN ... [WHEN ... THEN ...] [ELSE ...] END`, after CASE.
  mutating func choice(at start: Int) throws(ExpressionError) -> Int {
    try enter()
    let subject = isAt("when") ? nil : try sum()
    try require("when", expected: "WHEN")
    var children: [Int] = []
    while isAt("when") {
      children.append(try condition(of: subject))
      children.append(try branch("then", expected: "an operator or THEN"))
    }
    if isAt("else") { children.append(try branch("else", expected: "ELSE")) }
    try require("end", expected: children.count % 2 == 0 ? "an operator, WHEN, ELSE or END" : "an operator or END")
    try advance()
    leave()
    return add(.choice(addChildren(children)), at: start)
  }

  private mutating func condition(of subject: Int?) throws(ExpressionError) -> Int {
    let offset = range.lowerBound
    try advance()
    let condition = try anything()
    guard let subject else { return condition }
    return add(.compare(.equal, subject, condition), at: offset)
  }

  /// Parses a value after a word of CASE.
  private mutating func branch(_ word: String, expected: String) throws(ExpressionError) -> Int {
    try require(word, expected: expected)
    try advance()
    return try anything()
  }

  private func require(_ word: String, expected: String) throws(ExpressionError) {
    guard isAt(word) else { throw unexpected(expected) }
  }

  private func isAt(_ word: String) -> Bool { if case .name(let name) = token { isWord(name, word) } else { false } }
}

extension ExpressionToken {
  /// Whether the token begins an operand. After a name, this shows that the name is not a property. A sign does not count, since
  /// it could be an operator.
  var beginsOperand: Bool {
    switch self {
    case .number, .text, .name, .quotedName, .keyword(.true), .keyword(.false), .symbol(.open): true
    default: false
    }
  }
}
