// Errors of expressions: kinds and positions, for texts of any length and depth.

import Geometry
import Testing

@testable import Expressions
@testable import FeatureStore
@testable import Filtering

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
      ("a == 1", .syntax, 1, 3, "=", "=="), ("a != 1", .syntax, 1, 3, "<>", "!="), ("a=>-1", .syntax, 1, 2, ">=", "=>"),
      ("a ILIKE 'x'", .syntax, 1, 3, "CASEI(x) LIKE CASEI(y)", "ILIKE"),
      ("a NOT ilike 'x'", .syntax, 1, 7, "CASEI(x) LIKE CASEI(y)", "ilike"),
      ("a = 1 && b = 2", .syntax, 1, 7, "AND", "&&"), ("!a", .syntax, 1, 1, "NOT", "!"),
      ("a = 1 || b = 2", .syntax, 1, 7, "OR (texts are joined by concat)", "||"),
      ("a = 1 ORDER BY b", .syntax, 1, 7, "the param `orderBy`", "ORDER"),
      ("order BY b", .syntax, 1, 1, "the param `orderBy`", "order"),
      (
        "SELECT * FROM c WHERE a = 1", .syntax, 1, 10,
        "the condition alone, and names in the param `properties`", "FROM"
      ),
      ("where a = 1", .syntax, 1, 1, "the condition alone, and names in the param `properties`", "where"),
      ("ST_Within(a, b)", .unknownFunction, 1, 1, "S_WITHIN", "ST_Within"),
      ("a DURING b", .syntax, 1, 3, "T_DURING(x, y)", "DURING"), ("a eq 1", .syntax, 1, 3, "=", "eq"),
      ("sum(a) > 1", .unknownFunction, 1, 1, "the param `statistics` of feature/queryStatistics", "sum"),
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
      (
        "TIMESTAMP('2023-02-28T01:00:00+01:00')", .badLiteral, 1, 11, "'YYYY-MM-DDThh:mm:ssZ'",
        "'2023-02-28T01:00:00+01:00'"
      ),
      ("TIMESTAMP('2023-02-28 01:00:00Z')", .badLiteral, 1, 11, "'YYYY-MM-DDThh:mm:ssZ'", "'2023-02-28 01:00:00Z'"),
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
    let quoted = #expect(throws: ExpressionError.self) { try Expression("a = \"it's\"").check(names: ["a"]) }
    #expect(quoted?.expected == "a property, or 'it''s' for a text" && quoted?.meant == "'it''s' for a text")
    // A word that SQL reserves is a property like any other.
    #expect(try Expression("order = 1 AND limit + mod < 3 AND \"from\" IS NULL").properties.count == 4)
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

  @Test func `what compares with nothing is named`() {
    for (text, column, expected, found) in [
      ("geometry = geometry", 1, "", ""),
      ("POINT(1 2) = a", 1, "a truth value or a number or a text or an instant", "a geometry"),
      ("1 = POINT(1 2)", 5, "a number", "a geometry"),
      ("INTERVAL('..', a) = INTERVAL(a, '..')", 1, "a truth value or a number or a text or an instant", "an interval"),
      ("1 IN (2, 'x')", 10, "a number", "a text"),
    ] {
      let error = Self.error(text)
      #expect(error.map { [$0.expected, $0.found] } ?? ["", ""] == [expected, found], "\(text)")
      #expect(error.map(\.column) ?? 1 == column, "\(text)")
    }
  }
}
