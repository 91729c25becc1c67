// The tables of functions, operators and types: what they say is what the parser takes.

import Testing

@testable import Expressions

@Suite struct ExpressionLanguageTests {
  /// The types that an expression may have, by name.
  private func types(_ text: String) throws -> [String] {
    let tree = try Expression(text).tree
    return try #require(tree.types { _ in .any }.last).names
  }

  @Test(arguments: ExpressionLanguage.functions)
  func `the example of a function calls it, and has the type that the table says or is made of it`(
    function: ExpressionLanguage.Function
  ) throws {
    #expect(function.example.lowercased().contains(function.name.lowercased() + "("))
    let found = try types(function.example)
    // Examples of functions for comparisons are comparisons.
    #expect(found == function.result || function.result.isEmpty || found == ["boolean"])
    #expect(ExpressionFunction(named: function.name.uppercased())?.record.name == function.name)
    #expect(!function.doc.isEmpty && function.doc.hasSuffix("."))
  }

  @Test(arguments: ExpressionLanguage.functions)
  func `a function takes as many arguments as the table says`(function: ExpressionLanguage.Function) throws {
    let required = function.parameters.filter { !$0.isOptional }
    guard required.count > 1 || function.parameters.count == 1, !["format", "formatDate"].contains(function.name) else {
      return
    }
    #expect(throws: ExpressionError.self) { try Expression("\(function.name)()") }
    let many = Array(repeating: "x", count: function.parameters.count + 1).joined(separator: ", ")
    let takesMany = function.parameters.last?.isRepeated ?? false
    #expect(takesMany == ((try? Expression("\(function.name)(\(many))")) != nil))
  }

  @Test(arguments: ExpressionLanguage.operators)
  func `the example of an operator has the type that the table says`(entry: ExpressionLanguage.Operator) throws {
    let found = try types(entry.example)
    #expect(found == entry.result || entry.result.isEmpty)
  }

  @Test func `every keyword and symbol is in a table`() {
    let texts = ExpressionLanguage.operators.map(\.form) + ExpressionLanguage.types.map(\.doc)
    let words = texts.flatMap { $0.split { " ()`',".contains($0) }.map(String.init) }
    for keyword in ExpressionToken.Keyword.allCases { #expect(words.contains(keyword.rawValue.uppercased())) }
    for symbol in Comparison.allCases.map(\.rawValue) + Arithmetic.allCases.map(\.rawValue) + ["^"] {
      #expect(words.contains(symbol))
    }
  }

  @Test func `operators bind as the table says`() throws {
    let precedence = Dictionary(
      uniqueKeysWithValues: ExpressionLanguage.operators.map { ($0.form, $0.precedence) })
    let chain = ["a OR b", "a AND b", "NOT a", "a = b", "a + b", "a * b", "a ^ b", "-a"].map { precedence[$0] ?? -1 }
    #expect(chain == chain.sorted() && Set(chain).count == chain.count)
    let tree = try Expression("NOT 2 * 3 ^ 2 + 1 = 19 AND x OR y").tree
    let isOr = if case .or = tree.nodes[tree.root] { true } else { false }
    #expect(isOr)
    ExpressionTests.check([("NOT 2 * 3 ^ 2 + 1 = 19 OR 1 = 1 AND 1 = 2", .bool(false)), ("-2 ^ 2", .integer(4))])
  }

  @Test func `an unknown function is answered with those there are`() {
    #expect { try Expression("uper(x)") } throws: { error in
      (error as? ExpressionError)?.available.contains("upper") ?? false
    }
  }

  @Test func `a choice is the value of its first true condition`() {
    ExpressionTests.check([
      ("CASE WHEN FALSE THEN 1 WHEN 1 = 1 THEN 2 ELSE 3 END", .integer(2)),
      ("CASE WHEN 1 > 2 THEN 1 ELSE 3 END", .integer(3)),
      ("CASE WHEN none > 1 THEN 1 END", .null), ("CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END", .string("b")),
      ("CASE WHEN 1 = 1 THEN 1 END + 1", .integer(2)), ("iif(none = 1, 1, 2)", .integer(2)),
    ])
  }

  @Test func `a choice of many conditions needs no stack`() throws {
    let text = "CASE x " + (0..<3000).map { "WHEN \($0) THEN \($0 + 1) " }.joined() + "END"
    let value = try Expression(text).evaluated { _ in .integer(2999) }
    #expect(value == .integer(3000))
  }

  @Test(arguments: [
    ("[]", 0), ("[ ]", 0), ("{}", 0), ("[1]", 1), ("[[]]", 1), ("[[], []]", 2), (#"["a,b", "c\",d"]"#, 2),
    (#"[{"a": [1, 2]}, 3]"#, 2), (#"{"a": 1, "b": {"c": 2}}"#, 2), (#"[""]"#, 1),
  ])
  func `count counts elements and members`(json: String, count: Int64) throws {
    #expect(try Expression("count(x)").evaluated { _ in .json(json) } == .integer(count))
    #expect(try Expression("count(x)").evaluated { _ in .string(json) } == .null)
  }
}
