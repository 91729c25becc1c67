// The limit of texts that functions make, folding of case, and comparison of fields of dates.

import Geometry
import Testing

@testable import Expressions
@testable import FeatureStore
@testable import Filtering

@Suite struct ExpressionTextLimitTests {
  private func value(_ text: String, _ t: String = "a") throws -> AttributeValue {
    try Expression(text).evaluated { $0 == "t" ? .string(t) : nil }
  }

  @Test func `a text beyond the limit is null, and is not made`() throws {
    let many = String(repeating: "a", count: 1000)
    let nested = (0..<4).reduce("t") { text, _ in "replace(\(text), 'a', '\(many)')" }
    #expect(try value(nested) == .null)
    #expect(try value("length(replace(replace(t, 'a', '\(many)'), 'a', '\(many)'))") == .integer(1_000_000))
    let half = String(repeating: "x", count: Expression.textLimit / 2)
    #expect(try value("length(concat(t, t))", half) == .integer(Int64(Expression.textLimit)))
    #expect(try value("concat(t, t, 'x')", half) == .null)
    #expect(try value("upper(concat(t, t))", half) == .null)
    #expect(try value("format('%s%s%s', t, t, t)", half) == .null)
    // Its own text has no limit.
    #expect(try value("length(t)", half + half + half) == .integer(Int64(3 * (Expression.textLimit / 2))))
  }

  @Test func `the limit holds for each feature anew`() throws {
    var store = FeatureStore(fields: [Field(name: "t", type: .string)])
    var batch = FeatureBatch()
    for _ in 0..<20 {
      batch.begin()
      batch.set(column: batch.column(named: "t"), .string(String(repeating: "é", count: 60_000)))
    }
    try store.append(batch)
    let filter = try Expression("length(lower(upper(t))) = 60000").compiled(for: store.schema, as: .condition)
    #expect(store.rows(where: filter).count == 20)
    #expect(filter.filter(store.allRows(), of: store).count == 20)
  }

  @Test func `fields of dates compare as instants`() throws {
    var store = FeatureStore(fields: [
      Field(name: "a", type: .dateTime), Field(name: "b", type: .dateTime), Field(name: "d", type: .date),
    ])
    var batch = FeatureBatch()
    batch.begin()
    for (name, text) in [("a", "2020-01-01T01:00:00+01:00"), ("b", "2020-01-01T00:00:00Z"), ("d", "2020-01-01")] {
      batch.set(column: batch.column(named: name), .string(text))
    }
    try store.append(batch)
    for (text, expected) in [
      ("a = b", 1), ("a <> b", 0), ("d = b", 1), ("d >= b", 1), ("a < b", 0), ("a IN (b)", 1), ("b BETWEEN a AND a", 1),
      ("a = '2020-01-01T00:00:00Z'", 1), ("'2020-01-01' = a", 1), ("a IN ('2020-01-01', '2021-01-01')", 1),
      ("a NOT IN ('2020-01-01')", 0), ("b BETWEEN '2020-01-01' AND '2020-01-01T01:00:00+01:00'", 1),
      ("a BETWEEN '2019' AND '2021'", 1), ("min(a, b) = b", 1), ("max(a, d) = d", 1), ("d > '2019'", 1),
    ] {
      let filter = try Expression(text).compiled(for: store.schema, as: .condition)
      #expect(store.rows(where: filter).count == expected, "\(text)")
    }
  }

  @Test func `texts that repeat themselves are replaced from the left`() throws {
    for (text, old, new, expected) in [
      ("aabaabaaab", "aab", "x", "xxax"), ("aaaa", "aa", "b", "bb"), ("ababac", "abac", "-", "ab-"),
      ("abcabcabd", "abcabd", "-", "abc-"), ("aaa", "aaaa", "b", "aaa"), ("日本日", "日", "x", "x本x"),
    ] {
      #expect(try value("replace(t, '\(old)', '\(new)')", text) == .string(expected), "\(text) \(old)")
    }
    // Compared at each byte this would take a minute.
    let text = String(repeating: "a", count: 1_000_000)
    #expect(
      try value("length(replace(t, '\(text.prefix(60_000))b', ''))", text) == .integer(Int64(text.utf8.count)))
  }

  @Test func `case is folded as Unicode has it`() throws {
    for (left, right) in [
      ("Σ", "ς"), ("ß", "SS"), ("ẞ", "ss"), ("Straße", "STRASSE"), ("ŉ", "ʼN"), ("ﬁ", "FI"), ("Ꭰ", "ꭰ"), ("ſ", "S"),
      ("K", "k"), ("ΐ", "ΐ"), ("É", "é"),
    ] {
      #expect(try value("casei('\(left)') = casei('\(right)')") == .bool(true), "\(left) \(right)")
      #expect(try value("'\(left)' LIKE '\(left)' AND casei('\(left)') LIKE casei('\(right)')") == .bool(true))
    }
    // Of these the default folding makes no match.
    for (left, right) in [("ı", "i"), ("İ", "i"), ("é", "e"), ("ø", "o")] {
      #expect(try value("casei('\(left)') = casei('\(right)')") == .bool(false), "\(left) \(right)")
    }
  }
}
