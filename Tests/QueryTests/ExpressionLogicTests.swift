// Three-valued logic, and the rules of LIKE.

import Foundation
import Geometry
import Testing
import TextFormatting

@testable import Expressions

@Suite struct ExpressionLogicTests {
  // Unknown is a null property.
  static let words: [(String, Bool?)] = [("TRUE", true), ("FALSE", false), ("u", nil)]

  static func value(_ text: String) throws(ExpressionError) -> AttributeValue {
    try Expression(text).evaluated { $0 == "u" ? .null : $0 == "n" ? .integer(5) : $0 == "s" ? .string("text") : nil }
  }

  static func attribute(_ truth: Bool?) -> AttributeValue { truth.map { .bool($0) } ?? .null }

  @Test func `AND, OR and NOT follow Kleene's tables`() throws {
    let and: [[Bool?]] = [[true, false, nil], [false, false, false], [nil, false, nil]]
    let or: [[Bool?]] = [[true, true, true], [true, false, nil], [true, nil, nil]]
    let not: [Bool?] = [false, true, nil]
    for (row, (left, _)) in Self.words.enumerated() {
      for (column, (right, _)) in Self.words.enumerated() {
        #expect(try Self.value("\(left) AND \(right)") == Self.attribute(and[row][column]), "\(left) AND \(right)")
        #expect(try Self.value("\(left) OR \(right)") == Self.attribute(or[row][column]), "\(left) OR \(right)")
      }
      #expect(try Self.value("NOT \(left)") == Self.attribute(not[row]))
      #expect(try Self.value("NOT NOT \(left)") == Self.attribute(Self.words[row].1))
    }
  }

  @Test func `longer chains of AND and OR follow the same tables`() throws {
    for (a, x) in Self.words {
      for (b, y) in Self.words {
        for (c, z) in Self.words {
          let all: Bool? = [x, y, z].contains(false) ? false : [x, y, z].contains(nil) ? nil : true
          let any: Bool? = [x, y, z].contains(true) ? true : [x, y, z].contains(nil) ? nil : false
          #expect(try Self.value("\(a) AND \(b) AND \(c)") == Self.attribute(all))
          #expect(try Self.value("\(a) OR \(b) OR \(c)") == Self.attribute(any))
        }
      }
    }
  }

  @Test func `every predicate of null is unknown, except IS NULL`() throws {
    let unknown = [
      "u = 1", "u <> 1", "u < 1", "u > 1", "u <= 1", "u >= 1", "1 = u", "u = u", "u IN (1, 2)", "u NOT IN (1, 2)",
      "u BETWEEN 1 AND 2",
      "u NOT BETWEEN 1 AND 2", "u LIKE '%'", "u NOT LIKE '%'", "n IN (1, u)", "n NOT IN (1, u)", "n BETWEEN 1 AND u",
      "n BETWEEN u AND 9", "NOT u = 1", "upper(u) = 'A'", "u + 1 = 2", "u",
    ]
    for text in unknown { #expect(try Self.value(text) == .null, "\(text)") }
    let known: [(String, Bool)] = [
      ("u IS NULL", true), ("u IS NOT NULL", false), ("n IS NULL", false), ("n IS NOT NULL", true),
      ("(u = 1) IS NULL", true), ("u = 1 IS NULL", true), ("n = 1 IS NULL", false), ("NOT n = 1 IS NULL", true),
      ("u LIKE 'a' IS NOT NULL", false), ("u BETWEEN 1 AND 2 IS NULL", true), ("u IN (1) IS NULL", true),
      ("u IS NULL IS NULL", false), ("n = 1 AND u = 1 IS NULL", false), ("n + u IS NULL", true),
      ("n IN (5, u)", true), ("n NOT IN (5, u)", false), ("n BETWEEN 6 AND u", false), ("n BETWEEN u AND 4", false),
      ("n NOT BETWEEN 6 AND u", true), ("NOT (u IS NULL)", false), ("1 / 0 IS NULL", true),
    ]
    for (text, truth) in known { #expect(try Self.value(text) == .bool(truth), "\(text)") }
  }

  @Test func `different types compare as unknown where only the value determines the type`() throws {
    for text in [
      "n = s", "n < s", "s <> n", "n IN (s)", "n LIKE '5'", "n AND TRUE", "NOT s", "s + 1 = 2", "n BETWEEN s AND 9",
    ] {
      #expect(try Self.value(text) == .null, "\(text)")
    }
    #expect(try Self.value("n AND FALSE") == .bool(false))
    #expect(try Self.value("n IN (s, 5)") == .bool(true))
  }

  @Test func `LIKE has wildcards for any text and one code point, and an escape`() throws {
    let table: [(String, String, Bool)] = [
      ("abc", "abc", true), ("abc", "ab", false), ("abc", "ABC", false), ("abc", "a%", true), ("abc", "%c", true),
      ("abc", "%b%", true),
      ("abc", "%", true), ("", "%", true), ("", "", true), ("", "_", false), ("a", "", false), ("abc", "a_c", true),
      ("abc", "___", true),
      ("abc", "__", false), ("abc", "____", false), ("abc", "_%", true), ("abc", "%_", true), ("abc", "%%c", true),
      ("abc", "a%b%c", true),
      ("aXbXc", "a%b%c", true), ("aab", "%ab", true), ("aaab", "a%ab", true), ("mississippi", "%iss%pi", true),
      ("mississippi", "%iss%ip", false), ("100%", #"100\%"#, true), ("1000", #"100\%"#, false), ("a_b", #"a\_b"#, true),
      ("axb", #"a\_b"#, false), (#"a\b"#, #"a\\b"#, true), ("été", "_t_", true), ("日本語", "日_語", true),
      ("日本語", "____", false),
      ("a😀b", "a_b", true), ("ééé", "%_é", true), ("a\nb", "a%b", true), ("it's", "it's", true), (".*", ".*", true),
      ("ab", ".*", false),
      ("e\u{301}", "_", false), ("e\u{301}", "__", true),
    ]
    for (text, pattern, expected) in table {
      let expression = try Expression(
        "x LIKE '\(pattern.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'")
      #expect(try expression.evaluated { _ in .string(text) } == .bool(expected), "\(text) LIKE \(pattern)")
      let negated = try Expression(expression.text.split(separator: " LIKE ").joined(separator: " NOT LIKE "))
      #expect(try negated.evaluated { _ in .string(text) } == .bool(!expected), "\(text) NOT LIKE \(pattern)")
    }
  }

  @Test(arguments: [
    (#"a\"#, #"'a\\'"#, true), (#"a\b"#, #"'a\\'"#, false), (#"a\b"#, #"'a\\%'"#, true), (#"a\%"#, #"'a\\\%'"#, true),
    (#"a\x"#, #"'a\\\%'"#, false), (#"a\d"#, #"'a\d'"#, true), ("ad", #"'a\d'"#, false),
    ("a\u{8}", #"'a\b'"#, true), (#"a\b"#, #"'a\b'"#, false), ("a\nb", #"'%\n_'"#, true), (#"a\n"#, #"'a\\n'"#, true),
    ("it's", #"'it\'s'"#, true),
    ("it's", "'it''s'", true), (#"\'"#, #"'\\'''"#, true), (#"\'"#, #"'\\\''"#, true), ("a_%", #"'a\_\%'"#, true),
  ])
  func `a backslash in a pattern escapes wildcards, quotes and backslashes, and stands for itself otherwise`(
    text: String, pattern: String, matches: Bool
  ) throws {
    #expect(try Expression("x LIKE \(pattern)").evaluated { _ in .string(text) } == .bool(matches))
  }

  @Test(arguments: [#"a\"#, #"\'"#, #"'\"#, #"\\"#, #"a\b'c"#, "it's"])
  func `a pattern without wildcards matches only the equal text`(text: String) throws {
    // Doubled quotes and backslashes: every text can be written.
    let literal =
      "'" + text.reduce(into: "") { $0 += $1 == "'" || $1 == "\\" ? "\($1)\($1)" : "\($1)" } + "'"
    for comparison in ["x = \(literal)", "x LIKE \(literal)", "x IN (\(literal))"] {
      #expect(try Expression(comparison).evaluated { _ in .string(text) } == .bool(true), "\(comparison)")
    }
  }

  @Test func `ACCENTI ignores accents, alone and together with CASEI`() throws {
    let table: [(String, String, Bool)] = [
      ("accenti(x) = 'Sao Paulo'", "São Paulo", true), ("ACCENTI(x) = ACCENTI('Sáo Paulo')", "São Paulo", true),
      ("accenti(x) = 'sao paulo'", "São Paulo", false), ("CASEI(ACCENTI(x)) = 'sao paulo'", "São Paulo", true),
      ("CASEI(ACCENTI(x)) LIKE casei(accenti('são%'))", "SÃO PAULO", true),
      ("ACCENTI(CASEI(x)) LIKE ACCENTI(CASEI('%PÁULO'))", "são paulo", true),
      ("ACCENTI(x) LIKE ACCENTI('%é\\%')", "100e%", true), ("x LIKE ACCENTI('é')", "é", false),
      ("accenti(x) = 'Tran Hung Đao'", "Trần Hưng Đạo", true), ("accenti(x) = 'и'", "й", true),
      ("accenti(x) = 'Αθηνα'", "Αθήνα", true), ("accenti(x) = 'e'", "e\u{301}", true),
      ("accenti(x) = 'Łodz'", "Łódź", true), ("accenti(x) = 'か'", "が", false), ("accenti(x) = 'ø'", "ø", true),
    ]
    for (text, value, expected) in table {
      #expect(try Expression(text).evaluated { _ in .string(value) } == .bool(expected), "\(text) of \(value)")
    }
    #expect(try Expression("ACCENTI(x)").evaluated { _ in .null } == .null)
    #expect(try Expression("ACCENTI(x)").evaluated { _ in .integer(1) } == .null)
  }

  /// The blocks of combining diacritical marks, without the strokes of U+0334...0338.
  static let accents: [ClosedRange<UInt32>] = [
    0x300...0x333, 0x339...0x36F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0xFE20...0xFE2F,
  ]

  @Test func `every letter loses exactly the accents of its canonical decomposition`() {
    // Between and after them are tens of thousands of ideographs and Hangul.
    for value in [UInt32(0)...0x33FF, 0xE000...0x1FFFF].joined() {
      guard let scalar = Unicode.Scalar(value), scalar.properties.isAlphabetic else { continue }
      let text = String(scalar)
      let rest = text.decomposedStringWithCanonicalMapping.unicodeScalars.filter { scalar in
        !Self.accents.contains { $0.contains(scalar.value) }
      }
      // Swift compares by canonical equivalence: a text decomposed without removing anything is equal.
      #expect(AccentFolding.folded(text) == String(String.UnicodeScalarView(rest)), "U+\(String(value, radix: 16))")
    }
  }

  @Test func `CASEI folds both sides`() throws {
    let expression = try Expression("CASEI(x) LIKE casei('%STRASSE')")
    #expect(try expression.evaluated { _ in .string("Hauptstrasse") } == .bool(true))
    #expect(try Expression("casei(x) = casei('ÉTÉ')").evaluated { _ in .string("été") } == .bool(true))
  }

  @Test func `a pattern with many retries ends soon`() throws {
    let expression = try Expression("x LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%b'")
    let text = AttributeValue.string(String(repeating: "a", count: 20_000))
    #expect(try expression.evaluated { _ in text } == .bool(false))
  }
}
