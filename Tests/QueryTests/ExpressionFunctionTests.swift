// Functions, and formatting of numbers.

import Geometry
import Testing

@testable import Expressions

@Suite struct ExpressionFunctionTests {
  @Test func `texts are cut, joined and changed`() {
    ExpressionTests.check([
      ("concat('a', 1, 2.5, TRUE, 'b')", .string("a12.5trueb")), ("concat(t, none)", .null),
      ("upper('straße é')", .string("STRASSE É")),
      ("lower('ÀB')", .string("àb")), ("trim('  a b\t\n')", .string("a b")), ("trim('  ')", .string("")),
      ("length('日本')", .integer(2)),
      ("length('')", .integer(0)), ("length('e\u{301}')", .integer(2)), ("substring('abcdef', 2)", .string("bcdef")),
      ("substring('abcdef', 2, 3)", .string("bcd")), ("substring('abcdef', 0, 3)", .string("ab")),
      ("substring('abc', -5)", .string("abc")),
      ("substring('abc', 2, -1)", .string("")), ("substring('abc', 9)", .string("")),
      ("substring('abc', 2, 1e300)", .string("bc")),
      ("substring('日本語', 2, 1)", .string("本")), ("substring('abc', infinite)", .string("")),
      ("replace('a-b-c', '-', '+')", .string("a+b+c")),
      ("replace('aaa', 'aa', 'b')", .string("ba")), ("replace('abc', '', 'x')", .string("abc")),
      ("replace('é', 'é', '')", .string("")),
      ("upper(none)", .null), ("length(i)", .null), ("replace(t, none, 'x')", .null),
    ])
  }

  @Test func `numbers are rounded, read and compared`() {
    ExpressionTests.check([
      ("round(2.5)", .integer(3)), ("round(-2.5)", .integer(-3)), ("round(2.345, 2)", .double(2.35)),
      ("round(1234, -2)", .integer(1200)),
      ("round(1250.0, -2)", .integer(1300)), ("round(7, 2)", .integer(7)), ("round(1e300, 2)", .double(1e300)),
      ("round(2.5, none)", .null),
      ("floor(-1.5)", .integer(-2)), ("ceil(-1.5)", .integer(-1)), ("ceil(1e300)", .double(1e300)),
      ("floor(7)", .integer(7)),
      ("abs(-7)", .integer(7)), ("abs(-7.5)", .double(7.5)), ("abs(bottom)", .double(0x1p63)), ("sqrt(9)", .double(3)),
      ("sqrt(-1)", .null),
      ("min(3, 1.5, 2)", .double(1.5)), ("max(3, 1.5, 2)", .integer(3)), ("min('b', 'a')", .string("a")),
      ("max(1, none)", .null),
      ("min(none)", .null), ("max(1, t)", .null), ("toNumber(' 12 ')", .integer(12)),
      ("toNumber('1.5e2')", .double(150)),
      ("toNumber('0x10')", .null), ("toNumber('nan')", .null), ("toNumber('inf')", .null), ("toNumber('')", .null),
      ("toNumber('-')", .null),
      ("toNumber('1e999')", .null), ("toNumber(5)", .integer(5)), ("toNumber(yes)", .null), ("toText(5)", .string("5")),
      ("toText(5.0)", .string("5")), ("toText(0.1)", .string("0.1")), ("toText(1e300)", .string("1e+300")),
      ("toText(no)", .string("false")),
      ("toText(none)", .null), ("toText(t)", .string("seven")), ("toText(json)", .string("[1]")),
    ])
  }

  @Test func `functions take the text of JSON, and it compares with nothing`() {
    ExpressionTests.check([
      ("length(json)", .integer(1)), ("upper(json)", .string("[1]")), ("substring(json, 2, 1)", .string("1")),
      ("replace(json, '1', '2')", .string("[2]")), ("concat('a', json)", .string("a[1]")), ("toNumber(json)", .null),
      ("format('%s!', json)", .string("[1]!")), ("json LIKE '[_]'", .bool(true)), ("json NOT LIKE '%1%'", .bool(false)),
      ("casei(json) LIKE casei('[1]')", .bool(true)), ("coalesce(json, 'x')", .json("[1]")), ("json = '[1]'", .null),
      ("json <> t", .null), ("json IN ('[1]')", .null), ("json = json", .null), ("min(json, t)", .null),
      ("toText(json) = '[1]'", .bool(true)), ("json > DATE('2024-01-01')", .null),
    ])
  }

  @Test func `coalesce and iif accept null`() {
    ExpressionTests.check([
      ("coalesce(none, none, 3)", .integer(3)), ("coalesce(none)", .null), ("coalesce(t, 'x')", .string("seven")),
      ("iif(i = 7, 'a', 'b')", .string("a")), ("iif(i = 8, 'a', 'b')", .string("b")),
      ("iif(none, 'a', 'b')", .string("b")),
      ("iif(none = 1, 'a', t)", .string("seven")), ("iif(yes, none, 1)", .null),
      ("iif(i > 5 AND d < 3, i * 2, d)", .integer(14)),
    ])
  }

  @Test func `patterns format as printf does`() {
    let table: [(String, String, String)] = [
      ("%.5f", "12.345678", "12.34568"), ("%.5f", "-0.000001", "-0.00000"), ("%.0f", "2.5", "2"), ("%.0f", "3.5", "4"),
      ("%.2f", "1.005", "1.00"),
      ("%.1f", "0.25", "0.2"), ("%.20f", "0.1", "0.10000000000000000555"), ("%f", "1.5", "1.500000"),
      ("%.2f", "7", "7.00"), ("%.0f", "7", "7"),
      ("%.1f", "9223372036854775807", "9223372036854775807.0"), ("%.0f", "1e22", "10000000000000000000000"),
      ("%,.0f", "1234567.8", "1,234,568"), ("%,.2f", "-1234.5", "-1,234.50"), ("%,d", "1234567", "1,234,567"),
      ("%,d", "123", "123"),
      ("%,d", "-123456", "-123,456"), ("%d", "42", "42"), ("%d", "2.5", "3"), ("%d", "-2.5", "-3"), ("%d", "-0.2", "0"),
      ("%5d", "42", "   42"),
      ("%-5d|", "42", "42   |"), ("%05d", "42", "00042"), ("%05d", "-42", "-0042"), ("%+d", "42", "+42"),
      ("%+d", "-42", "-42"),
      ("% d", "42", " 42"), ("%+.1f", "2.0", "+2.0"), ("%08.3f", "-3.14159", "-003.142"),
      ("%e", "12345.678", "1.234568e+04"),
      ("%.2E", "0.00012", "1.20E-04"), ("%g", "0.0001", "0.0001"), ("%g", "1e20", "1e+20"),
      ("%.3g", "1234.5", "1.23e+03"),
      ("%G", "1e-10", "1E-10"), ("%s", "5", "5"), ("%s", "5.0", "5"), ("%s", "'é'", "é"), ("%4s", "'é'", "   é"),
      ("%-4s|", "'é'", "é   |"),
      ("%.2s", "'abc'", "ab"), ("%d %%", "5", "5 %"), ("no %% value: %d", "5", "no % value: 5"),
      ("%d", "9223372036854775808", "9223372036854775808"),
      ("%10.2f|", "3.14159", "      3.14|"), ("%0,12.1f", "1234.56", "000001,234.6"), ("%.3f°", "1", "1.000°"),
    ]
    for (pattern, value, expected) in table {
      ExpressionTests.check([
        ("format('\(pattern)', \(value))", .string(expected))
      ])
      if !value.hasPrefix("'") { ExpressionTests.check([("format(\(value), '\(pattern)')", .string(expected))]) }
    }
    ExpressionTests.check([
      ("format('x: %.5f, y: %.5f', d, -d)", .string("x: 2.50000, y: -2.50000")),
      ("format('%s has %d', t, i)", .string("seven has 7")),
      ("format('plain')= 'plain'", .bool(true)), ("format('%d', none)", .null), ("format(t, '%.1f')", .null),
      ("format(infinite, '%.1f')", .string("inf")),
      ("format(infinite, '%06.1f')", .string("   inf")),
    ])
  }

  @Test func `fixed decimals are those of the number itself`() throws {
    var random = SplitMix(3)
    for _ in 0..<2000 {
      // Sixteenths: their decimals end after four digits, so the text is known without printing.
      let sixteenths = Int(random.below(2_000_000)) - 1_000_000
      let whole = sixteenths.magnitude / 16
      let rest = String(10_000 + sixteenths.magnitude % 16 * 625).dropFirst()
      let found = try Expression("format(v, '%.4f')").evaluated { _ in .double(Double(sixteenths) / 16) }
      #expect(found == .string("\(sixteenths < 0 ? "-" : "")\(whole).\(rest)"))
    }
  }
}
