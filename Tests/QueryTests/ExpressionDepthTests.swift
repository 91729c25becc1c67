// Depth and length of expressions: limits, small stacks, long chains.

import Geometry
import Testing

@testable import Expressions
@testable import FeatureStore
@testable import Filtering

@Suite struct ExpressionDepthTests {
  @Test func `nesting is limited, and expressions within the limit are parsed`() {
    func nested(_ open: String, _ middle: String, _ close: String, _ count: Int) -> String {
      String(repeating: open, count: count) + middle + String(repeating: close, count: count)
    }
    let limit = Expression.depthLimit
    for (open, middle, close) in [
      ("(", "1", ")"), ("abs(", "1", ")"), ("(1 + ", "0", ")"), ("(NOT ", "TRUE", ")"),
      ("(1 IN (1) AND TRUE = (", "TRUE", ") OR FALSE)"),
    ] {
      #expect(ExpressionErrorTests.error(nested(open, middle, close, limit / 2)) == nil)
      #expect(ExpressionErrorTests.error(nested(open, middle, close, limit + 1))?.kind == .tooDeep)
      #expect(
        ExpressionErrorTests.error(nested(open, middle, close, 10_000)).map {
          $0.kind == .tooDeep || $0.kind == .tooLong
        } == true)
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

  @Test(arguments: [
    ("(", "1", ")", 1), ("abs(0 + ", "1", ")", 1), ("iif(NOT FALSE, ", "1", ", 0)", 1), ("-(", "1", ") ^ 1", 1),
    ("CASE WHEN 1 = 1 THEN ", "1", " END", 1),
    ("(1 + 2 * ", "1", ")", 1), ("CASE 1 WHEN 2 THEN 3 ELSE ", "1", " END", 1),
    ("CASE WHEN TRUE = (1 = ", "1", ") THEN 1 END", 2), ("(TRUE IN (FALSE, ", "TRUE", "))", 2),
    ("(2 BETWEEN 1 AND (CASE WHEN ", "TRUE", " THEN 3 END))", 3), ("(NOT (FALSE = (", "TRUE", " IS NULL)))", 3),
    ("length(concat(1, ", "1", "))", 2), ("A_EQUALS((), (", "1", "))", 2),
    (
      "iif(T_DURING(INTERVAL(", "DATE('2000-01-02')",
      ", '..'), INTERVAL('..', '..')), DATE('2000-01-02'), DATE('2001-01-01'))", 3
    ),
  ])
  func `whatever nests is parsed and evaluated on a small stack`(
    open: String, middle: String, close: String, depth: Int
  ) throws {
    let count = Expression.depthLimit / depth
    let text = String(repeating: open, count: count) + middle + String(repeating: close, count: count)
    #if DEBUG
      let kilobytes = 2048
    #else
      let kilobytes = 512
    #endif
    _ = try SmallThread.run(kilobytes: kilobytes) { try Expression(text).evaluated { _ in nil } }
    // The loop's thread has the stack of the process.
    let normal = try SmallThread.run(kilobytes: 4096) { try Expression(text).normalized() }
    #expect(try SmallThread.run(kilobytes: 4096) { try Expression(normal).normalized() } == normal)
  }

  @Test func `endless open parentheses and minus signs are refused immediately`() {
    let limit = Expression.depthLimit
    #expect(ExpressionErrorTests.error(String(repeating: "(", count: 1_000_000))?.kind == .tooLong)
    #expect(
      ExpressionErrorTests.error(String(repeating: "(", count: 60_000)).map { [$0.column, $0.offset] } == [
        limit + 1, limit,
      ])
    #expect(ExpressionErrorTests.error(String(repeating: "-", count: 60_000))?.kind == .syntax)
    #expect(ExpressionErrorTests.error(String(repeating: "NOT ", count: 16_000))?.kind == .syntax)
    #expect(ExpressionErrorTests.error(String(repeating: "abs(", count: 16_000))?.kind == .tooDeep)
    #expect(ExpressionErrorTests.error(String(repeating: "a AND ", count: 100_000))?.kind == .tooLong)
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
