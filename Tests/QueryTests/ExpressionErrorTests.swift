// Errors of expressions: kinds and positions, for texts of any length and depth.

import Geometry
import Testing

@testable import Query

@Suite struct ExpressionErrorTests {
  static func error(_ text: String) -> ExpressionError? {
    do throws(ExpressionError) {
      _ = try Expression(text)
      return nil
    } catch {
      return error
    }
  }

  @Test func `malformed texts are refused with position and expectation`() {
    typealias Kind = ExpressionError.Kind
    let table: [(String, Kind, Int, Int, String, String)] = [
      ("", .syntax, 1, 1, "a value", "the end"),
      ("   \n ", .syntax, 2, 2, "a value", "the end"),
      ("a =", .syntax, 1, 4, "a value", "the end"),
      ("= 1", .syntax, 1, 1, "a value", "="),
      ("a = 1 AND", .syntax, 1, 10, "a value", "the end"),
      ("a = 1 b", .syntax, 1, 7, "an operator or the end", "b"),
      ("a = b = c", .syntax, 1, 7, "an operator or the end", "="),
      ("a == 1", .syntax, 1, 4, "a value", "="),
      ("a != 1", .syntax, 1, 3, "a value or an operator", "!"),
      ("(a = 1", .syntax, 1, 7, "an operator or ')'", "the end"),
      ("a = 1)", .syntax, 1, 6, "an operator or the end", ")"),
      ("()", .syntax, 1, 2, "a value", ")"),
      ("a IN ()", .syntax, 1, 7, "a value", ")"),
      ("a IN (1, )", .syntax, 1, 10, "a value", ")"),
      ("a IN (1 2)", .syntax, 1, 9, "an operator, ',' or ')'", "2"),
      ("a IN 1", .syntax, 1, 6, "'('", "1"),
      ("a NOT 1", .syntax, 1, 7, "IN, LIKE or BETWEEN", "1"),
      ("a IS 1", .syntax, 1, 6, "NULL or NOT NULL", "1"),
      ("a IS NOT 1", .syntax, 1, 10, "NULL", "1"),
      ("a = NULL", .syntax, 1, 5, "a value (a test for null is IS NULL)", "NULL"),
      ("a BETWEEN 1 OR 2", .syntax, 1, 13, "AND", "OR"),
      ("a LIKE b", .syntax, 1, 8, "a pattern in single quotes", "b"),
      ("a LIKE 'x\\'", .badLiteral, 1, 8, "a closing '", "'x\\'"),
      ("a LIKE 'x\\\\\\' ", .badLiteral, 1, 8, "a closing '", "'x\\\\\\' "),
      ("a = 'open", .badLiteral, 1, 5, "a closing '", "'open"),
      ("a = \"open", .badLiteral, 1, 5, "a closing \"", "\"open"),
      ("a = \"\"", .syntax, 1, 5, "a name between the quotes", "\"\""),
      ("a > 12abc", .badLiteral, 1, 5, "a number", "12abc"),
      ("a > 1e", .badLiteral, 1, 5, "digits after the E", "1e"),
      ("a > 1e999", .badLiteral, 1, 5, "a number", "1e999"),
      ("a > 1.2.3", .badLiteral, 1, 5, "a number", "1.2.3"),
      ("a = 1 AND\n  b = §", .syntax, 2, 7, "a value or an operator", "§"),
      ("é = 'ü' AND $", .syntax, 1, 13, "a value or an operator", "$"),
      ("nosuch(1)", .unknownFunction, 1, 1, "a function", "nosuch"),
      ("S_INTERSECT(a, b)", .unknownFunction, 1, 1, "a function", "S_INTERSECT"),
      ("upper()", .argumentCount, 1, 1, "upper with 1 argument", "0"),
      ("a = iif(TRUE, 1)", .argumentCount, 1, 5, "iif with 3 arguments", "2"),
      ("round(1, 2, 3)", .argumentCount, 1, 1, "round with 1 to 2 arguments", "3"),
      ("concat()", .argumentCount, 1, 1, "concat with at least 1 argument", "0"),
      ("format()", .argumentCount, 1, 1, "format('pattern', values) or format(value, 'pattern')", "0"),
      ("format('%d')", .argumentCount, 1, 1, "as many values as the pattern has (1)", "0"),
      ("format('%d', 1, 2)", .argumentCount, 1, 1, "as many values as the pattern has (1)", "2"),
      (
        "format(a, b)", .type, 1, 1, "format('pattern', values) or format(value, 'pattern')",
        "no pattern in single quotes"
      ),
      ("format('%q', a)", .badLiteral, 1, 8, "%[-+ 0,][width][.precision] and one of d f e g E G s, or %%", "%q"),
      ("formatDate(a)", .argumentCount, 1, 1, "formatDate(date, 'pattern')", "1"),
      ("formatDate('%F', a)", .type, 1, 1, "formatDate(date, 'pattern')", "no pattern in single quotes"),
      (
        "formatDate(a, '%F %Q')", .badLiteral, 1, 15,
        "% and one of Y y m d e j H I M S p a A b B F T z Z, %- and one of m d e j H I M S, or %%", "%Q"
      ),
      (
        "formatDate(a, '%-Y')", .badLiteral, 1, 15,
        "% and one of Y y m d e j H I M S p a A b B F T z Z, %- and one of m d e j H I M S, or %%", "%-Y"
      ),
      (
        "formatDate(a, '100%')", .badLiteral, 1, 15,
        "% and one of Y y m d e j H I M S p a A b B F T z Z, %- and one of m d e j H I M S, or %%", "%"
      ),
      ("formatLength()", .argumentCount, 1, 1, "formatLength with 1 to 2 arguments", "0"),
      ("DATE('2023-02-29')", .badLiteral, 1, 6, "'YYYY-MM-DD'", "'2023-02-29'"),
      ("DATE('2023-02-28T00:00:00Z')", .badLiteral, 1, 6, "'YYYY-MM-DD'", "'2023-02-28T00:00:00Z'"),
      ("TIMESTAMP('2023-02-28')", .badLiteral, 1, 11, "'YYYY-MM-DDThh:mm:ssZ'", "'2023-02-28'"),
      ("DATE(a)", .syntax, 1, 6, "'YYYY-MM-DD'", "a"),
      ("2 ^ 3 ^ 4", .syntax, 1, 7, "parentheses around one of two '^'", "^"),
      ("NOT", .syntax, 1, 4, "a value", "the end"),
      ("- ", .syntax, 1, 3, "a value", "the end"),
      ("AND a", .syntax, 1, 1, "a value", "AND"),
    ]
    for (text, kind, line, column, expected, found) in table {
      guard let error = Self.error(text) else {
        Issue.record("accepted: \(text)")
        continue
      }
      #expect(error.kind == kind && (error.line, error.column) == (line, column), "\(text): \(error)")
      #expect(error.expected == expected && error.found == found, "\(text): \(error)")
    }
  }

  @Test func `literals that can never compare are refused before any feature`() {
    let table: [(String, Int, String, String)] = [
      ("1 = 'a'", 5, "a number", "a text"), ("'a' < 1", 7, "a text", "a number"),
      ("TRUE > 1", 8, "a truth value", "a number"),
      ("(a IN (1)) = 1", 14, "a truth value", "a number"), ("1 IN (2, 'a')", 10, "a number", "a text"),
      ("5 BETWEEN 'a' AND 'b'", 11, "a number", "a text"), ("1 LIKE 'a'", 1, "a text", "a number"),
      ("NOT 1", 5, "a truth value", "a number"),
      ("a = 1 AND 'b'", 11, "a truth value", "a text"), ("1 + 'a'", 5, "a number", "a text"),
      ("-'a'", 2, "a number", "a text"),
      ("upper(1)", 7, "a text", "a number"), ("2 ^ TRUE", 5, "a number", "a truth value"),
      ("upper(a) = 1", 12, "a text", "a number"),
      ("DATE('2024-01-01') = 1", 22, "an instant", "a number"), ("format('%d', 'a')", 14, "a number", "a text"),
      ("formatDate(5, '%F')", 12, "a text or an instant", "a number"), ("formatArea('a')", 12, "a number", "a text"),
      ("formatSpeed(1) = 2", 18, "a text", "a number"),
      ("iif(1, 2, 3)", 5, "a truth value", "a number"), ("iif(a, 1, 2) = 'x'", 16, "a number", "a text"),
    ]
    for (text, column, expected, found) in table {
      guard let error = Self.error(text) else {
        Issue.record("accepted: \(text)")
        continue
      }
      #expect(error.kind == .type && error.expected == expected && error.found == found, "\(text): \(error)")
      #expect(error.column == column, "\(text): \(error)")
    }
    #expect(Self.error("coalesce(a, 1, 'x') = 'x'") == nil)
    #expect(Self.error("iif(a, 1, 'x') = 2") == nil)
  }

  @Test func `unknown names are refused with the position of the first`() throws {
    let expression = try Expression("a +\n  (toNumber('ü') + b) * c")
    try expression.check(names: ["c", "b", "a"])
    let error = #expect(throws: ExpressionError.self) { try expression.check(names: ["a", "d"]) }
    #expect(error.map { [$0.line, $0.column, $0.offset] } == [2, 20, 24])
    #expect(error?.kind == .unknownProperty && error?.found == "b" && error?.available == ["a", "d"])
  }

  @Test func `a schema's names and declared types are checked`() throws {
    let store = FeatureStore(fields: [
      Field(name: "name", type: .string), Field(name: "count", type: .integer), Field(name: "day", type: .date),
      Field(name: "extra", type: .json),
    ])
    func error(_ text: String) -> ExpressionError? {
      do throws(ExpressionError) {
        _ = try Expression(text).compiled(for: store.schema)
        return nil
      } catch {
        return error
      }
    }
    #expect(error("name = 'a' AND count > 1.5 AND day > DATE('2024-01-01') AND extra = 1") == nil)
    #expect(error("Name = 'a'")?.kind == .unknownProperty)
    #expect(error("count = 1 AND names = 'a'").map { [$0.column, $0.offset] } == [15, 14])
    #expect(error("name = 5").map { [$0.expected, $0.found] } == ["a text", "a number"])
    #expect(error("count LIKE '5%'")?.kind == .type)
    #expect(error("count IN (1, name)")?.kind == .type)
    #expect(error("day > 5")?.kind == .type)
    #expect(error("size = 1")?.available == ["name", "count", "day", "extra"])
  }

  @Test func `a schema's types decide what can be a condition or a number`() throws {
    let store = FeatureStore(fields: [
      Field(name: "name", type: .string), Field(name: "count", type: .integer), Field(name: "isOpen", type: .boolean),
      Field(name: "extra", type: .json),
    ])
    func fault(_ text: String, _ use: Expression.Use) -> [String]? {
      do throws(ExpressionError) {
        _ = try Expression(text).compiled(for: store.schema, as: use)
        return nil
      } catch {
        return [error.kind.rawValue, error.expected, error.found, "\(error.column)"]
      }
    }
    for text in ["isOpen", "NOT isOpen", "count > 1", "extra", "coalesce(isOpen, TRUE)"] {
      #expect(fault(text, .condition) == nil, "\(text)")
    }
    #expect(fault("name", .condition) == ["type", "a truth value", "a text", "1"])
    #expect(fault("count", .condition) == ["type", "a truth value", "a number", "1"])
    #expect(fault("count + 1", .condition) == ["type", "a truth value", "a number", "7"])
    #expect(fault("coalesce(name, 'x')", .condition) == ["type", "a truth value", "a text", "1"])
    for text in ["count", "-count", "length(name)", "toNumber(name)", "extra", "coalesce(name, count)"] {
      #expect(fault(text, .number) == nil, "\(text)")
    }
    #expect(fault("name", .number) == ["type", "a number", "a text", "1"])
    #expect(fault("isOpen", .number) == ["type", "a number", "a truth value", "1"])
    #expect(fault("name", .value) == nil)
  }

  @Test func `observed types are no reason to refuse`() throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    batch.begin()
    batch.set(column: batch.column(named: "v"), .string("x"))
    try store.append(batch)
    let filter = try Expression("v = 5").compiled(for: store.schema)
    #expect(store.rows(where: filter).isEmpty)
    batch = FeatureBatch()
    batch.begin()
    batch.set(column: batch.column(named: "v"), .integer(5))
    try store.append(batch)
    #expect(store.rows(where: filter) == [1])
  }

  @Test func `nesting is limited, and expressions within the limit are parsed`() {
    func nested(_ open: String, _ middle: String, _ close: String, _ count: Int) -> String {
      String(repeating: open, count: count) + middle + String(repeating: close, count: count)
    }
    let limit = Expression.depthLimit
    for (open, middle, close) in [
      ("(", "1", ")"), ("abs(", "1", ")"), ("(1 + ", "0", ")"), ("(NOT ", "TRUE", ")"),
      ("(1 IN (1) AND TRUE = (", "TRUE", ") OR FALSE)"),
    ] {
      #expect(Self.error(nested(open, middle, close, limit / 2)) == nil)
      #expect(Self.error(nested(open, middle, close, limit + 1))?.kind == .tooDeep)
      #expect(
        Self.error(nested(open, middle, close, 10_000)).map { $0.kind == .tooDeep || $0.kind == .tooLong } == true)
    }
  }

  @Test func `the deepest expressions are evaluated on a small stack`() throws {
    let limit = Expression.depthLimit
    // -1 makes the innermost true; 1 and 2 then make those around it false.
    let calls =
      String(repeating: "iif(FALSE OR TRUE AND 0 < 1 + 2 * -(", count: limit / 2) + "-1"
      + String(repeating: ") ^ 1, 1, 2)", count: limit / 2)
    let logic =
      String(repeating: "(a = 1 AND (a > 1 OR a + 1 = 2 AND NOT ", count: limit / 2) + "a = 3"
      + String(repeating: "))", count: limit / 2)
    var store = FeatureStore()
    var batch = FeatureBatch()
    for row in 0..<100 {
      batch.begin()
      batch.set(column: batch.column(named: "a"), integer: Int64(row % 4))
    }
    try store.append(batch)
    #if DEBUG
      let kilobytes = 2048
    #else
      let kilobytes = 512
    #endif
    let found = try SmallThread.run(kilobytes: kilobytes) { [store] in
      let value = try Expression(calls).evaluated { _ in nil }
      let filter = try Expression(logic).compiled(for: store.schema)
      let rows = store.rows(where: filter)
      #expect(filter.filter(store.allRows(), of: store) == rows)
      store.forEach { feature in
        #expect(filter.isTrue(for: feature) == (filter.value(of: feature) == .bool(true)))
        return true
      }
      return (value, rows)
    }
    #expect(found.0 == .integer(2))
    // The innermost is false, so every second one around it is true where a is 1.
    #expect(found.1 == store.allRows().filter { $0 % 4 == 1 }.filter { _ in limit / 2 % 2 == 1 })
  }

  @Test func `endless open parentheses and minus signs are refused immediately`() {
    let limit = Expression.depthLimit
    #expect(Self.error(String(repeating: "(", count: 1_000_000))?.kind == .tooLong)
    #expect(Self.error(String(repeating: "(", count: 60_000)).map { [$0.column, $0.offset] } == [limit + 1, limit])
    #expect(Self.error(String(repeating: "-", count: 60_000))?.kind == .syntax)
    #expect(Self.error(String(repeating: "NOT ", count: 16_000))?.kind == .syntax)
    #expect(Self.error(String(repeating: "abs(", count: 16_000))?.kind == .tooDeep)
    #expect(Self.error(String(repeating: "a AND ", count: 100_000))?.kind == .tooLong)
  }

  @Test func `long chains are parsed and evaluated without deep recursion`() throws {
    let chains: [(String, AttributeValue)] = [
      (String(repeating: "a AND ", count: 10_000) + "a", .bool(true)),
      (String(repeating: "NOT ", count: 16_000) + "a", .bool(true)),
      (String(repeating: "a OR ", count: 13_000) + "a", .bool(true)),
      (String(repeating: "1+", count: 30_000) + "1", .integer(30_001)),
      (String(repeating: "- ", count: 30_001) + "1", .integer(-1)),
      (String(repeating: "1*", count: 30_000) + "2", .integer(2)),
      ("1 IN (" + String(repeating: "0,", count: 30_000) + "1)", .bool(true)),
      ("max(" + String(repeating: "0,", count: 30_000) + "1)", .integer(1)),
      (String(repeating: "NOT a OR ", count: 7_000) + "a", .bool(true)),
    ]
    for (text, expected) in chains {
      let expression = try Expression(text)
      #expect(try expression.evaluated { _ in .bool(true) } == expected, "\(text.prefix(20))")
      if case .bool = expected {
        let store = FeatureStore(fields: [Field(name: "a", type: .boolean)])
        #expect(store.rows(where: try expression.compiled(for: store.schema)).isEmpty)
      }
    }
  }

  @Test func `random words never trap`() {
    let words = [
      "a", "\"b\"", "1", "2.5", "'x'", "'%_\\%'", "AND", "OR", "NOT", "IS", "NULL", "IN", "BETWEEN", "LIKE", "TRUE",
      "(", ")", ",", "+", "-",
      "*", "/", "%", "^", "DIV", "=", "<>", "<", ">=", "upper(", "format(", "'%d %s'", "DATE('2024-01-01')", "iif(",
      "substring(", "é", "'", "\"",
      "\\", "1e", ".",
    ]
    var random = SplitMix(11)
    var accepted = 0
    for _ in 0..<20_000 {
      let text = (0..<random.below(12)).map { _ in words[random.below(words.count)] }.joined(
        separator: random.chance(0.9) ? " " : "")
      guard let expression = try? Expression(text) else { continue }
      accepted += 1
      _ = try? expression.evaluated { $0 == "a" ? .integer(3) : .string("x") }
    }
    #expect(accepted > 500)
  }
}
