// Expressions: their three evaluators agree, on values of every type, errors are within the text, and both encodings convert
// stably.

import Expressions
import FeatureStore
import Filtering
import Geometry
import JSON

extension FuzzTarget {
  static let expression = FuzzTarget(
    name: "expression",
    words: [
      " AND ", " OR ", "NOT ", " IS NULL", " IN (", " BETWEEN ", " LIKE '%_'", "TRUE", "DATE('2024-01-05')", " DIV ",
      "CASEI(",
      "TIMESTAMP('2024-01-05T01:02:03Z')", "iif(", "coalesce(", "format(", "formatDate(", "round(", "substring(",
      "concat(", "\\'", "<>", ">=", "^", "S_INTERSECTS(geometry,", "S_WITHIN(", "POINT Z(1 2 3)", "BBOX(1,2,3,4)",
      "POLYGON((0 0,1 0,1 1,0 0))", "GEOMETRYCOLLECTION(", "EMPTY", "T_AFTER(", "T_MEETS(", "INTERVAL('..',",
      "A_CONTAINS(",
      "A_EQUALS((", "()", "{\"op\":", "\"args\":[", "{\"property\":\"", "{\"date\":\"", "{\"interval\":[",
      "{\"bbox\":[",
      "{\"type\":\"Point\",\"coordinates\":[",
    ],
    seeds: {
      let texts = try Seeds.texts().filter {
        $0.utf8.count < 400 && $0.contains { " (=".contains($0) } && (try? Expression($0)) != nil
      }
      return (texts + texts.compactMap { try? Expression($0).json() }).map { Array($0.utf8) }
    },
    run: { (input) throws(Broken) in
      let text = String(decoding: input, as: UTF8.self)
      guard let expression = try parsed(text) else { return }
      try? expression.check(for: .condition)
      try? expression.check(for: .number)
      // A geometry, an interval or an array is no value.
      if (try? expression.check(for: .value)) != nil { try compareEvaluators(of: expression) }
      try compareEncodings(of: expression)
    })
}

/// The expression of a text, or of JSON where that is an object or array; nil if it is none.
private func parsed(_ text: String) throws(Broken) -> Expression? {
  guard text.utf8.first == UInt8(ascii: "{") || text.utf8.first == UInt8(ascii: "["),
    let document = try? JSONDocument(text)
  else { return try within(text) { () throws(ExpressionError) in try Expression(text) } }
  do throws(ExpressionError) {
    return try document.read { (value) throws(ExpressionError) in try Expression(value) }
  } catch {
    try check(error.steps != nil, "no place in JSON: \(error)")
    return nil
  }
}

private func compareEncodings(of expression: Expression) throws(Broken) {
  guard let json = try within(expression.text, { () throws(ExpressionError) in try expression.json() }) else { return }
  let text = expression.text
  guard let document = try? JSONDocument(json) else { throw Broken("\(text): no JSON: \(json)") }
  // Normal text may be longer than the limit.
  guard let second = try? document.read({ try Expression($0) }) else {
    try check(text.utf8.count > 8192 || json.utf8.count > 8192, "\(text): not read again: \(json)")
    return
  }
  let again = try? second.json()
  try check(again == json, "\(text): \(json) and then \(again ?? "nothing")")
}

/// The result; nil for an error, whose position is in the text.
private func within<R>(_ text: String, _ body: () throws(ExpressionError) -> R) throws(Broken) -> R? {
  do throws(ExpressionError) { return try body() } catch {
    try check((0...text.utf8.count).contains(error.offset), "\(error)")
    return nil
  }
}

private let values: [AttributeValue] = [
  .integer(2), .double(2.5), .string("x"), .bool(true), .null, .json("[1]"), .string("2024-01-05"), .integer(.min),
  .string(""),
  .double(-0.0), .string("1.50"), .string("2024-01-05T01:02:03.5+01:00"), .bool(false), .integer(0), .string("ÄÖé%_"),
]

private func compareEvaluators(of expression: Expression) throws(Broken) {
  let names = expression.properties
  guard names.count < 8 else { return }
  let (text, count) = (expression.text, names.isEmpty ? 1 : values.count)
  func value(_ row: Int, _ column: Int) -> AttributeValue { values[(row + column * 4) % values.count] }
  var store = FeatureStore(fields: names.map { Field(name: $0, type: .json) })
  var batch = FeatureBatch()
  for row in 0..<count {
    batch.begin()
    for (column, name) in names.enumerated() { batch.set(column: batch.column(named: name), value(row, column)) }
  }
  do { _ = try store.append(batch) } catch { throw Broken("\(error)") }
  let compiled: CompiledExpression
  do throws(ExpressionError) { compiled = try expression.compiled(for: store.schema) } catch {
    // Geometries are checked when they are compiled: they may be invalid, and only `geometry` names one.
    try check(text.uppercased().contains("S_"), "what was parsed is not compiled: \(text): \(error)")
    return
  }
  var rows: [UInt32] = []
  for row in 0..<count {
    let single = try accepted("evaluating \(text)") { () throws(ExpressionError) in
      try expression.evaluated { name in
        names.firstIndex { Text($0) == Text(name) }.map { value(row, $0) }
      }
    }
    guard let feature = store[UInt32(row)] else { throw Broken("row \(row) is missing") }
    try check(compiled.value(of: feature) == single, "\(text), row \(row): \(single), \(compiled.value(of: feature))")
    try check(compiled.isTrue(for: feature) == (single == .bool(true)), "\(text), row \(row): is it \(single)?")
    if single == .bool(true) { rows.append(UInt32(row)) }
  }
  try check(store.rows(where: compiled) == rows, "\(text): rows \(store.rows(where: compiled)), expected \(rows)")
}
