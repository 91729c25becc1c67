// Evaluation of expressions: literals, names, precedence, arithmetic and dates, as tables of text and value.

import Geometry
import Testing

@testable import Expressions

@Suite struct ExpressionTests {
  static let feature: [String: AttributeValue] = [
    "i": .integer(7), "d": .double(2.5), "t": .string("seven"), "yes": .bool(true), "no": .bool(false), "none": .null,
    "nan": .double(.nan), "json": .json("[1]"), "day": .string("2024-02-29"),
    "time": .string("2024-02-29T12:00:00+02:00"),
    "odd name": .string("odd"), "a.b": .integer(1), "été": .integer(2), "ns:name": .integer(3), "date": .integer(4),
    "say \"x\"": .integer(5), "IN": .integer(6), "top": .integer(.max), "bottom": .integer(.min),
    "infinite": .double(.infinity),
  ]

  static func value(_ text: String) throws(ExpressionError) -> AttributeValue {
    try Expression(text).evaluated { feature[$0] }
  }

  static func check(_ table: [(String, AttributeValue)], _ location: SourceLocation = #_sourceLocation) {
    for (text, expected) in table {
      do throws(ExpressionError) {
        let found = try value(text)
        #expect(found == expected, "\(text)", sourceLocation: location)
      } catch {
        Issue.record("\(text): \(error)", sourceLocation: location)
      }
    }
  }

  @Test func `literals evaluate to their values`() {
    Self.check([
      ("42", .integer(42)), ("9223372036854775807", .integer(.max)), ("9223372036854775808", .double(0x1p63)),
      ("-9223372036854775808", .integer(.min)), ("1.", .double(1)), (".5", .double(0.5)), ("1.e2", .double(100)),
      (".5E-1", .double(0.05)), ("2e+3", .double(2000)), ("+4", .integer(4)), ("007", .integer(7)),
      ("'it''s'", .string("it's")),
      (#"'it\'s'"#, .string("it's")), (#"'a\d\\c'"#, .string(#"a\d\c"#)), (#"'a\\'"#, .string(#"a\"#)),
      (#"'\\\''"#, .string(#"\'"#)), (#"'\\'''"#, .string(#"\'"#)), (#"'100\%'"#, .string(#"100\%"#)),
      ("''", .string("")), (#"'\a\b\t\n\v\f\r'"#, .string("\u{7}\u{8}\t\n\u{B}\u{C}\r")),
      (#"'\\n\N'"#, .string(#"\n\N"#)),
      ("'two\nlines'", .string("two\nlines")),
      ("TRUE", .bool(true)), ("false", .bool(false)), ("DATE('2024-02-29')", .string("2024-02-29")),
      ("TIMESTAMP('2024-02-29T00:00:00Z')", .string("2024-02-29T00:00:00Z")),
    ])
  }

  @Test func `names are case-sensitive, bare or quoted, and keywords are not`() {
    Self.check([
      ("i", .integer(7)), ("\"odd name\"", .string("odd")), ("a.b", .integer(1)), ("été", .integer(2)),
      ("ns:name", .integer(3)),
      ("date", .integer(4)), ("\"date\" = 4", .bool(true)), ("\"say \"\"x\"\"\"", .integer(5)), ("\"IN\"", .integer(6)),
      ("i = 7 aNd NoT no oR i iS nUlL", .bool(true)), ("i In (7) AND i BetWeen 7 and 8 AND t LIKE 's%'", .bool(true)),
      ("UPPER(t)", .string("SEVEN")), ("7 DIV 2", .integer(3)), ("7 div 2", .integer(3)), ("i\n\t=\r\n7", .bool(true)),
      // All white space of the grammar.
      ("i\u{B}=\u{C}7\u{85}AND\u{A0}i\u{2003}=\u{2028}7\u{202F}\u{205F}\u{3000}", .bool(true)),
    ])
  }

  @Test func `properties are listed once each, in order of first use`() throws {
    #expect(try Expression("b + a * \"b\" > length(c) AND a IN (d, 1)").properties == ["b", "a", "c", "d"])
    #expect(try Expression("1 = 1").properties.isEmpty)
  }

  @Test func `the text is kept unchanged and determines equality`() throws {
    let text = "  i  =\n7 -- 0 "
    #expect(try Expression(text).text == text)
    #expect(try Expression("i = 1") == Expression("i = 1"))
    #expect(try Expression("i = 1") != Expression("i=1"))
    // Canonically equivalent, but different names.
    #expect(try Expression("\"\u{E9}\" = 1") != Expression("\"e\u{301}\" = 1"))
    #expect(try Set([Expression("i"), Expression("i"), Expression("j")]).count == 2)
  }

  @Test func `NOT binds closer than AND, and AND closer than OR`() {
    Self.check([
      ("TRUE OR TRUE AND FALSE", .bool(true)), ("(TRUE OR TRUE) AND FALSE", .bool(false)),
      ("FALSE AND FALSE OR TRUE", .bool(true)), ("FALSE AND (FALSE OR TRUE)", .bool(false)),
      ("NOT FALSE AND FALSE", .bool(false)), ("NOT (FALSE AND FALSE)", .bool(true)), ("NOT TRUE OR TRUE", .bool(true)),
      ("NOT (TRUE OR TRUE)", .bool(false)), ("NOT i = 8", .bool(true)), ("NOT NOT yes", .bool(true)),
      ("NOT NOT NOT yes", .bool(false)),
      ("i BETWEEN 1 AND 9 AND no", .bool(false)), ("yes = (i = 7)", .bool(true)), ("NOT i IN (1) AND yes", .bool(true)),
    ])
  }

  @Test func `arithmetic has its usual precedence and is left-associative`() {
    Self.check([
      ("1 + 2 * 3", .integer(7)), ("(1 + 2) * 3", .integer(9)), ("10 - 4 - 3", .integer(3)),
      ("10 - (4 - 3)", .integer(9)),
      ("2 * 3 % 4", .integer(2)), ("100 DIV 7 DIV 2", .integer(7)), ("2 * 3 ^ 2", .integer(18)),
      ("-2 ^ 2", .integer(4)),
      ("-(2 ^ 2)", .integer(-4)), ("2 ^ -1", .double(0.5)), ("2 ^ (3 ^ 2)", .integer(512)), ("1 + 1 = 2", .bool(true)),
      ("- - i", .integer(7)), ("- - - i", .integer(-7)), ("1 - -1", .integer(2)),
      ("i - 1 > 5 AND i + 1 < 9", .bool(true)),
      ("8 / 4 / 2", .double(1)), ("2 - 1 + 1", .integer(2)), ("-i * 2", .integer(-14)),
    ])
  }

  @Test func `integers stay integers until they overflow, and division by zero is null`() {
    Self.check([
      ("7 / 2", .double(3.5)), ("6 / 3", .double(2)), ("7 DIV 2", .integer(3)), ("-7 DIV 2", .integer(-3)),
      ("7.9 DIV 2", .integer(3)),
      ("7 % 3", .integer(1)), ("-7 % 3", .integer(-1)), ("7.5 % 2", .double(1.5)), ("1 / 0", .null), ("1.5 / 0", .null),
      ("1 DIV 0", .null), ("1 % 0", .null), ("1 % 0.0", .null), ("top + 1", .double(0x1p63)),
      ("bottom - 1", .double(-0x1p63)),
      ("top * 2", .double(0x1p64)), ("-bottom", .double(0x1p63)), ("bottom DIV -1", .double(0x1p63)),
      ("bottom % -1", .integer(0)),
      ("10 ^ 18", .integer(1_000_000_000_000_000_000)), ("10 ^ 19", .double(1e19)), ("0 ^ 0", .integer(1)),
      ("(-1) ^ 1000000001", .integer(-1)),
      ("2 ^ 0.5", .double(2.0.squareRoot())), ("(-8) ^ 0.5", .null), ("0 ^ -1", .null), ("1e308 * 10", .null),
      ("1 + none", .null),
      ("-none", .null), ("nan", .null), ("nan + 1", .null), ("infinite > 1e308", .bool(true)),
      ("-(0 * 1.0)", .double(-0.0)),
    ])
  }

  @Test func `integers and doubles compare exactly`() {
    Self.check([
      ("1 = 1.0", .bool(true)), ("top = 9223372036854775808", .bool(false)), ("top < 9223372036854775808", .bool(true)),
      ("9007199254740993 = 9007199254740992.0", .bool(false)), ("9007199254740993 > 9007199254740992.0", .bool(true)),
      ("9007199254740992.0 < 9007199254740993", .bool(true)), ("bottom = -9223372036854775808.0", .bool(true)),
      ("bottom < -0.5", .bool(true)), ("-1 < -0.5", .bool(true)), ("0 > -0.5", .bool(true)), ("-1 > -1.5", .bool(true)),
      ("i < infinite", .bool(true)), ("9007199254740993 IN (9007199254740992.0)", .bool(false)),
      ("2 IN (1.5, 2.0)", .bool(true)),
      ("d IN (2, 2.5)", .bool(true)),
    ])
  }

  @Test func `texts compare by code points`() {
    Self.check([
      ("'a' < 'b'", .bool(true)), ("'Z' < 'a'", .bool(true)), ("'a' < 'ab'", .bool(true)), ("'' < 'a'", .bool(true)),
      ("'é' > 'z'", .bool(true)), ("'\u{FFFD}' < '😀'", .bool(true)), ("'e\u{301}' = '\u{E9}'", .bool(false)),
      ("no < yes", .bool(true)),
      ("t BETWEEN 'a' AND 'z'", .bool(true)), ("t IN ('six', 'seven')", .bool(true)), ("t NOT IN ('six')", .bool(true)),
    ])
  }

  @Test func `instants compare with RFC 3339 texts, and a date is its midnight`() {
    Self.check([
      ("day = DATE('2024-02-29')", .bool(true)), ("day < TIMESTAMP('2024-02-29T00:00:01Z')", .bool(true)),
      ("time = TIMESTAMP('2024-02-29T10:00:00Z')", .bool(true)), ("time > DATE('2024-02-29')", .bool(true)),
      ("TIMESTAMP('2024-02-29T10:00:00.5Z') > time", .bool(true)),
      ("day BETWEEN DATE('2024-01-01') AND DATE('2024-12-31')", .bool(true)),
      ("day IN (DATE('2024-02-28'), DATE('2024-02-29'))", .bool(true)), ("t > DATE('2024-02-29')", .null),
      ("i > DATE('2024-02-29')", .null),
      ("DATE('0000-01-01') < DATE('9999-12-31')", .bool(true)),
      ("DATE('1969-12-31') < DATE('1970-01-01')", .bool(true)),
      ("DATE('2024-02-29') = TIMESTAMP('2024-02-29T00:00:00Z')", .bool(true)),
    ])
  }

  @Test func `a missing property is an error at its position, whether or not the value depends on it`() throws {
    let expression = try Expression("TRUE OR\n  lost = 1")
    #expect(throws: ExpressionError.self) { try expression.evaluated { _ in nil } }
    do throws(ExpressionError) {
      _ = try expression.evaluated { _ in nil }
    } catch {
      #expect(error.kind == .unknownProperty && error.found == "lost")
      #expect((error.line, error.column, error.offset) == (2, 3, 10))
    }
  }

  @Test func `an expression that can never be a condition or a number is refused as one`() throws {
    for text in ["i = 1", "yes", "NOT yes", "iif(yes, no, yes)", "coalesce(none, TRUE)"] {
      try Expression(text).check(for: .condition)
    }
    for text in ["1", "'a'", "i + 1", "upper(t)", "DATE('2024-01-01')"] {
      #expect(throws: ExpressionError.self) { try Expression(text).check(for: .condition) }
    }
    for text in ["1", "i", "-i", "length(t)", "coalesce(none, 1)"] { try Expression(text).check(for: .number) }
    for text in ["'1'", "i = 1", "upper(t)", "DATE('2024-01-01')"] {
      #expect(throws: ExpressionError.self) { try Expression(text).check(for: .number) }
    }
  }
}
