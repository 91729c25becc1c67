// The grammar of CASE. Its words are names elsewhere, so that attributes may be called `case` or `end`.

extension ExpressionParser {
  /// Whether a name is a word of CASE.
  func isWord(_ name: String, _ word: String) -> Bool {
    name.utf8.count == word.utf8.count && name.lowercased() == word
  }

  /// Parses `[value] WHEN ... THEN ... [WHEN ... THEN ...] [ELSE ...] END`, after CASE.
  mutating func choice(at start: Int) throws(ExpressionError) -> Int {
    try nested { parser throws(ExpressionError) in
      let subject = parser.isAt("when") ? nil : try parser.sum()
      guard parser.isAt("when") else { throw parser.unexpected("WHEN") }
      var children: [Int] = []
      while parser.isAt("when") {
        let offset = parser.range.lowerBound
        try parser.advance()
        var condition = try parser.anything()
        if let subject { condition = parser.add(.compare(.equal, subject, condition), at: offset) }
        guard parser.isAt("then") else { throw parser.unexpected("an operator or THEN") }
        try parser.advance()
        children += [condition, try parser.anything()]
      }
      if parser.isAt("else") {
        try parser.advance()
        children.append(try parser.anything())
        guard parser.isAt("end") else { throw parser.unexpected("an operator or END") }
      }
      guard parser.isAt("end") else { throw parser.unexpected("an operator, WHEN, ELSE or END") }
      try parser.advance()
      return parser.add(.choice(parser.addChildren(children)), at: start)
    }
  }

  private func isAt(_ word: String) -> Bool { if case .name(let name) = token { isWord(name, word) } else { false } }
}

extension ExpressionToken {
  /// Whether an operand begins here where it follows a name, which no property is followed by. A sign could be either.
  var beginsOperand: Bool {
    switch self {
    case .number, .text, .name, .quotedName, .keyword(.true), .keyword(.false), .symbol(.open): true
    default: false
    }
  }
}
