// Temporal and array functions: what they are true of, unknown values, and what the parser refuses.

import Geometry
import Testing

@testable import Expressions
@testable import FeatureStore
@testable import Filtering

@Suite struct ExpressionRelationTests {
  /// The three rows with times of the test data of CQL2's abstract test suite (OGC 21-065r2, annex A.10), as its counts
  /// determine them, and one row without.
  static let places: FeatureStore = {
    var store = FeatureStore(
      fields: [
        Field(name: "date", type: .date), Field(name: "start", type: .dateTime), Field(name: "end", type: .dateTime),
      ])
    var batch = FeatureBatch()
    for (date, start, end) in [
      ("2021-04-16", "2021-04-16T10:15:59Z", "2022-04-16T10:16:06Z"),
      ("2022-04-16", "2022-04-16T10:13:19Z", "2023-04-16T10:16:06Z"),
      ("2023-04-16", "2022-04-16T10:15:10Z", "2022-04-16T10:16:06Z"),
    ] {
      batch.begin()
      batch.set(column: batch.column(named: "date"), .string(date))
      batch.set(column: batch.column(named: "start"), .string(start))
      batch.set(column: batch.column(named: "end"), .string(end))
    }
    batch.begin()
    _ = try? store.append(batch)
    return store
  }()

  private func count(_ text: String) throws -> Int {
    try Self.places.rows(where: Expression(text).compiled(for: Self.places.schema, as: .condition)).count
  }

  /// Predicates and counts of the abstract test suite.
  @Test(arguments: [
    ("t_after(\"date\",date('2022-04-16'))", 1), ("t_before(\"date\",date('2022-04-16'))", 1),
    ("t_disjoint(\"date\",date('2022-04-16'))", 2), ("t_equals(\"date\",date('2022-04-16'))", 1),
    ("t_intersects(\"date\",date('2022-04-16'))", 1), ("t_after(\"date\",interval('2022-01-01','2022-12-31'))", 1),
    ("t_before(\"date\",interval('2022-01-01','2022-12-31'))", 1),
    ("t_disjoint(\"date\",interval('2022-01-01','2022-12-31'))", 2),
    ("t_equals(\"date\",interval('2022-01-01','2022-12-31'))", 0),
    ("t_equals(\"date\",interval('2022-04-16','2022-04-16'))", 1),
    ("t_intersects(\"date\",interval('2022-01-01','2022-12-31'))", 1),
    ("t_after(start,timestamp('2022-04-16T10:13:19Z'))", 1), ("t_before(start,timestamp('2022-04-16T10:13:19Z'))", 1),
    ("t_disjoint(start,timestamp('2022-04-16T10:13:19Z'))", 2),
    ("t_equals(start,timestamp('2022-04-16T10:13:19Z'))", 1),
    ("t_intersects(start,timestamp('2022-04-16T10:13:19Z'))", 1),
    ("t_after(start,interval('2022-01-01T00:00:00Z','2022-12-31T23:59:59Z'))", 0),
    ("t_before(start,interval('2022-01-01T00:00:00Z','2022-12-31T23:59:59Z'))", 1),
    ("t_disjoint(start,interval('2022-01-01T00:00:00Z','2022-12-31T23:59:59Z'))", 1),
    ("t_equals(start,interval('2022-01-01T00:00:00Z','2022-12-31T23:59:59Z'))", 0),
    ("t_intersects(start,interval('2022-01-01T00:00:00Z','2022-12-31T23:59:59Z'))", 2),
    ("t_after(interval(start,end),interval('..','2022-04-16T10:13:19Z'))", 1),
    ("t_before(interval(start,end),interval('2023-01-01T00:00:00Z','..'))", 2),
    ("t_disjoint(interval(start,end),interval('2022-04-16T10:13:19Z','2022-04-16T10:15:09Z'))", 1),
    ("t_equals(interval(start,end),interval('2021-04-16T10:15:59Z','2022-04-16T10:16:06Z'))", 1),
    ("t_intersects(interval(start,end),interval('2022-04-16T10:13:19Z','2022-04-16T10:15:09Z'))", 2),
    ("T_CONTAINS(interval(start,end),interval('2022-04-16T10:13:19Z','2022-04-16T10:15:10Z'))", 1),
    ("T_DURING(interval(start,end),interval('2022-01-01T00:00:00Z','2022-12-31T23:59:59Z'))", 1),
    ("T_FINISHES(interval(start,end),interval('2022-04-16T10:13:19Z','2022-04-16T10:16:06Z'))", 1),
    ("T_FINISHEDBY(interval(start,end),interval('2022-04-16T10:13:19Z','2022-04-16T10:16:06Z'))", 1),
    ("T_MEETS(interval(start,end),interval('2022-04-16T10:13:19Z','2022-04-16T10:15:10Z'))", 0),
    ("T_METBY(interval(start,end),interval('2022-04-16T10:13:19Z','2022-04-16T10:15:10Z'))", 1),
    ("T_OVERLAPPEDBY(interval(start,end),interval('2020-04-16T10:13:19Z','2022-04-16T10:15:10Z'))", 2),
    ("T_OVERLAPS(interval(start,end),interval('2022-04-16T10:13:19Z','2023-04-16T10:15:10Z'))", 1),
    ("T_STARTEDBY(interval(start,end),interval('2022-04-16T10:13:19Z','2022-04-16T10:15:10Z'))", 1),
    ("T_STARTS(interval(start,end),interval('2022-04-16T10:13:19Z','2022-04-16T10:15:10Z'))", 0),
    ("t_after(date('2022-04-16'),\"date\")", 1), ("t_before(date('2022-04-16'),\"date\")", 1),
    ("t_after(interval('2022-01-01T00:00:00Z','2022-12-31T23:59:59Z'),start)", 1),
    ("t_after(interval('2023-01-01T00:00:00Z','..'),interval(start,end))", 2),
    ("t_before(interval('..','2022-04-16T10:13:19Z'),interval(start,end))", 1),
    ("T_CONTAINS(interval('2021-04-16T10:13:19Z','2023-04-16T10:15:10Z'),interval(start,end))", 2),
    ("T_DURING(interval('2022-07-01T00:00:00Z','2022-12-31T23:59:59Z'),interval(start,end))", 1),
    ("T_FINISHES(interval('2022-04-16T10:13:19Z','2022-04-16T10:16:06Z'),interval(start,end))", 1),
    ("T_FINISHEDBY(interval('2022-04-16T10:13:19Z','2022-04-16T10:16:06Z'),interval(start,end))", 1),
    ("T_MEETS(interval('2022-04-16T10:13:19Z','2022-04-16T10:15:10Z'),interval(start,end))", 1),
    ("T_STARTS(interval('2022-04-16T10:13:19Z','2022-04-16T10:15:10Z'),interval(start,end))", 1),
    ("start<end", 3), ("start>=end", 0), ("start=TIMESTAMP('2022-04-16T10:13:19Z')", 1), ("\"date\" IS NULL", 1),
    ("INTERVAL(start, '..') IS NULL", 1), ("INTERVAL(end, start) IS NULL", 4),
    // Unknown is neither true nor false.
    ("T_AFTER(start, DATE('1900-01-01')) OR NOT T_AFTER(start, DATE('1900-01-01'))", 3),
  ])
  func `temporal functions count as the abstract test suite does`(text: String, expected: Int) throws {
    #expect(try count(text) == expected)
    #expect(try count("NOT (\(text))") + expected <= 4)
  }

  @Test func `array functions compare sets`() {
    ExpressionTests.check([
      ("A_EQUALS(('a', 1, TRUE), (TRUE, 'a', 1.0, 1))", .bool(true)), ("A_EQUALS(('a'), ('a', 'b'))", .bool(false)),
      ("A_CONTAINS(('a', 'b', 'c'), ('c', 'a'))", .bool(true)), ("A_CONTAINS(('a'), ('a', 'b'))", .bool(false)),
      ("A_CONTAINS(('a'), ())", .bool(true)), ("A_CONTAINEDBY((), ())", .bool(true)),
      ("A_CONTAINEDBY((1, 2), (1 + 1, 3, 2 - 1))", .bool(true)), ("A_OVERLAPS((1, 2), (2, 3))", .bool(true)),
      ("A_OVERLAPS((1, 2), ('1', '2'))", .bool(false)), ("A_OVERLAPS((), (1))", .bool(false)),
      ("A_EQUALS(((1, 2), (3)), ((3), (2, 1)))", .bool(true)), ("A_EQUALS(((1), (2)), (1, 2))", .bool(false)),
      ("A_CONTAINS(((1 + 2) * 3, 4), (9))", .bool(true)), ("A_CONTAINS(((1) = (1), 4), (TRUE))", .bool(true)),
      ("A_CONTAINS((DATE('2024-01-05')), ('2024-01-05'))", .bool(true)),
      ("A_EQUALS((INTERVAL('2024-01-05', '..')), (INTERVAL(DATE('2024-01-05'), '..')))", .bool(true)),
      ("A_OVERLAPS((POINT (1 2)), (POINT(3 4), POINT (1 2)))", .bool(true)),
      // Null is unknown: it may be any value.
      ("A_CONTAINS((none, 1), (1))", .bool(true)), ("A_CONTAINS((none, 1), (2))", .null),
      ("A_CONTAINS((1), (none, 2))", .bool(false)), ("A_CONTAINS((1), (none))", .null),
      ("A_OVERLAPS((none), (1))", .null), ("A_OVERLAPS((none), ())", .bool(false)), ("A_EQUALS(none, (1))", .null),
    ])
  }

  @Test(arguments: [
    (#"["b", "a", 1]"#, true), (#"["a"]"#, false), (#"[]"#, false), (#"["a", null]"#, nil), (#"{"a": "b"}"#, nil),
    (#"["a", "b", ["c"], {"d": 1}]"#, true),
  ])
  func `an attribute with a list is an array`(json: String, expected: Bool?) throws {
    let value = try Expression("A_CONTAINS(tags, ('a', 'b'))").evaluated { _ in .json(json) }
    #expect(value == (expected.map { .bool($0) } ?? .null))
  }

  @Test(arguments: [
    ("T_AFTER(a, INTERVAL('2024-01-05', '2024-01-04'))", "badLiteral", 35),
    ("T_AFTER(a, INTERVAL('2024-13-05', '..'))", "badLiteral", 21), ("T_AFTER(a, INTERVAL('..'))", "syntax", 25),
    ("T_AFTER(a, INTERVAL('..', '..', '..'))", "syntax", 31), ("T_DURING(a, INTERVAL('..', '..'))", "type", 10),
    ("T_DURING(INTERVAL('..', '..'), DATE('2024-01-01'))", "type", 32), ("T_AFTER(a)", "argumentCount", 1),
    ("T_AFTER(1, DATE('2024-01-01'))", "type", 9), ("a = INTERVAL('..', '..')", "type", 5),
    ("INTERVAL('..', '..')", "type", 1), ("A_EQUALS(a, b", "syntax", 14), ("A_EQUALS('a', ('a'))", "type", 10),
    ("A_EQUALS(a, (1, ))", "syntax", 17), ("a IN ((1, 2))", "syntax", 9), ("(1, 2)", "syntax", 3),
    ("A_EQUALS(a, (1) (2))", "syntax", 17), ("T_BEFOR(a, b)", "unknownFunction", 1),
    ("INTERVAL(1, '..') IS NULL", "type", 10), ("S_INTERSECTS(a, 1)", "type", 17), ("POINT (1 2) = b", "type", 1),
    ("S_INTERSECTS(a, POINT (1))", "badLiteral", 25), ("S_INTERSECTS(a, POINT (1 2)", "syntax", 28),
    ("S_INTERSECTS(a, POLYGON ((0 0, 1 0, 1 1)))", "badLiteral", 17), ("POINT Z (1 2 3)", "type", 1),
    ("S_WITHIN(a, POLYGON ((0 0, 1 0, 1 1, 0 0), (1 2 3)))", "badLiteral", 50),
    ("S_WITHIN(a, b, c)", "argumentCount", 1),
    ("S_WITHIN(a, BBOX(0, 0, 1))", "argumentCount", 13), ("S_WITHIN(a, BBOX(0, 0, 1, b))", "syntax", 27),
    ("S_WITHIN(a, BBOX(0, 1, 1, 0))", "badLiteral", 27), ("S_WITHIN(a, LINESTRING (0 0", "badLiteral", 28),
    ("S_WITHIN(a, CIRCLE (0 0, 1))", "unknownFunction", 13),
  ])
  func `wrong operands are refused with their position`(text: String, kind: String, column: Int) throws {
    let error = try #require(throws: ExpressionError.self) {
      try Expression(text).check(for: .value)
    }
    #expect(error.kind.rawValue == kind, "\(error)")
    #expect(error.column == column, "\(error)")
  }

  @Test func `names of geometry types and functions are names elsewhere`() throws {
    let expression = try Expression("point = 1 AND interval = 2 AND t_after = polygon AND Z > empty AND bbox < date")
    #expect(expression.properties == ["point", "interval", "t_after", "polygon", "Z", "empty", "bbox", "date"])
  }
}
