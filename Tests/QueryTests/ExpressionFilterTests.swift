// Filtering a store by columns gives the results of a plain evaluator by features.

import Geometry
import TestSupport
import Testing

@testable import Expressions
@testable import FeatureStore
@testable import Filtering

@Suite struct ExpressionFilterTests {
  @Test(.slow, arguments: UInt64(0)..<12)
  func `random conditions keep the same features as a naive evaluator`(seed: UInt64) throws {
    var random = SplitMix(seed)
    let (store, features) = try Self.randomStore(&random)
    let sample = features.keys.sorted().filter { _ in random.chance(0.03) }
    for _ in 0..<12 {
      let condition = NaiveExpression.condition(&random, depth: 3)
      let text = condition.text
      let expression = try Expression(text).compiled(for: store.schema)
      let expected = features.keys.sorted().filter { condition.value(features[$0] ?? [:]) == .bool(true) }.map {
        UInt32($0)
      }
      #expect(store.rows(where: expression) == expected, "\(text)")
      #expect(expression.filter(store.allRows(), of: store) == expected, "\(text)")
      var shuffled = sample.map { UInt32($0) } + [4_000_000, UInt32(store.nextRow)]
      shuffled.shuffle(using: &random)
      let kept = Set(expected)
      #expect(expression.filter(shuffled, of: store) == shuffled.filter { kept.contains($0) }, "\(text)")
      for row in sample.prefix(20) {
        guard let feature = store[UInt32(row)], let values = features[row] else {
          Issue.record("row \(row) is gone")
          continue
        }
        let value = condition.value(values)
        #expect(expression.value(of: feature) == value, "\(text) of \(values)")
        #expect(expression.isTrue(for: feature) == (value == .bool(true)))
        #expect(try Expression(text).evaluated { values[$0] ?? .null } == value)
      }
    }
  }

  @Test(arguments: UInt64(0)..<10)
  func `random arithmetic gives the results of a naive evaluator`(seed: UInt64) throws {
    var random = SplitMix(seed &+ 1000)
    for _ in 0..<300 {
      let number = NaiveExpression.number(&random, depth: 4)
      let values: [String: AttributeValue] = [
        "i": .integer(Int64(random.below(200)) - 100), "d": .double(Double(random.below(80)) / 4 - 10),
        "big": .integer(.max - Int64(random.below(3))),
        "none": .null, "m": random.chance(0.5) ? .string("x") : .integer(2),
      ]
      let found = try Expression(number.text).evaluated { values[$0] ?? .null }
      #expect(found == number.value(values), "\(number.text) of \(values)")
    }
  }

  /// Columns of every layout, removed rows, and chunks without some columns.
  static func randomStore(_ random: inout SplitMix) throws -> (FeatureStore, [Int: [String: AttributeValue]]) {
    var store = FeatureStore(fields: NaiveExpression.names.map { Field(name: $0, type: .json) })
    var features: [Int: [String: AttributeValue]] = [:]
    for part in 0..<3 {
      var batch = FeatureBatch()
      let first = Int(store.nextRow)
      for row in 0..<(700 + random.below(700)) {
        var values: [String: AttributeValue] = [:]
        values["i"] = random.chance(0.1) ? .null : .integer(Int64(random.below(20)) - 10)
        values["d"] =
          random.chance(0.1) ? .null : random.chance(0.05) ? .double(.nan) : .double(Double(random.below(40)) / 4 - 5)
        values["big"] = .integer([.max, .max - 1, .min, 1 << 53, 1 << 53 + 1][random.below(5)])
        if part != 1 {
          values["few"] = random.chance(0.1) ? .null : .string(["a", "b", "abc", "", "é"][random.below(5)])
        }
        values["many"] = random.chance(0.1) ? .null : .string("text \(random.below(100_000))")
        values["b"] = random.chance(0.2) ? .null : .bool(random.chance(0.5))
        if random.chance(0.02) { values["rare"] = .integer(Int64(random.below(3))) }
        if row > 300 { values["late"] = .integer(Int64(random.below(5))) }
        values["m"] = [.integer(2), .double(2.5), .string("x"), .bool(true), .null, .json("[]")][random.below(6)]
        values["day"] = .string(["2024-01-0\(1 + random.below(9))", "2024-01-05T12:00:00Z", "no day"][random.below(3)])
        values = values.filter { $0.value != .null }
        batch.begin()
        for name in NaiveExpression.names {
          if let value = values[name] { batch.set(column: batch.column(named: name), value) }
        }
        features[first + row] = values
      }
      try store.append(batch)
      #expect(store[UInt32(first)]?.row == UInt32(first))
    }
    let gone = features.keys.sorted().filter { _ in random.chance(0.1) }
    try store.remove(gone)
    for row in gone { features[row] = nil }
    var edits: [FeatureEdit] = []
    for row in features.keys.sorted() where random.chance(0.05) {
      var edit = FeatureEdit(id: row)
      let name = ["i", "d", "few", "many", "b"][random.below(5)]
      let value: AttributeValue =
        random.chance(0.3)
        ? .null : name == "i" ? .integer(3) : name == "d" ? .double(1) : name == "b" ? .bool(true) : .string("abc")
      edit.attributes = [(name, value)]
      features[row]?[name] = value == .null ? nil : value
      edits.append(edit)
    }
    try store.update(edits)
    #expect(store.checkInvariants().isEmpty)
    return (store, features)
  }

  @Test func `a snapshot is filtered unchanged while the original changes`() throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    for row in 0..<3000 {
      batch.begin()
      batch.set(column: batch.column(named: "n"), integer: Int64(row % 3))
    }
    try store.append(batch)
    let filter = try Expression("n = 1").compiled(for: store.schema)
    let snapshot = store
    try store.remove(Array(0..<2000))
    #expect(filter.filter(store.allRows(), of: store).count == 333 && store.rows(where: filter).count == 333)
    #expect(snapshot.rows(where: filter).count == 1000)
    // Rows of a dropped chunk, and beyond the end.
    #expect(filter.filter([1, 4, 2500, 2998, 2999, 3000, 5000, 5], of: store) == [2500, 2998])
    #expect(filter.filter([], of: store).isEmpty && FeatureStore().isEmpty)
  }

  @Test(arguments: [
    "j LIKE '%\"a\"%'", "NOT (j LIKE '%1%')", "length(j) > 0", "j = '[1]'", "j <> 'x'", "toText(j) = '[1]'",
    "j IS NULL",
    "j IN ('[1]', 'x')",
  ])
  func `a column of JSON is filtered like its single features`(text: String) throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    for row in 0..<3000 {
      batch.begin()
      let value: [AttributeValue] = [.json("[1]"), .json(#"{"a": 1}"#), .null, .json("[]")]
      batch.set(column: batch.column(named: "j"), value[row % 4])
    }
    try store.append(batch)
    let filter = try Expression(text).compiled(for: store.schema)
    let oneByOne = store.allRows().filter { row in store[row].map { filter.value(of: $0) == .bool(true) } ?? false }
    #expect(store.rows(where: filter) == oneByOne && filter.filter(store.allRows(), of: store) == oneByOne)
    #expect(oneByOne.isEmpty == ["j = '[1]'", "j <> 'x'", "j IN ('[1]', 'x')"].contains(text))
  }

  @Test func `a row requested twice is returned twice`() throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    for row in 0..<40 {
      batch.begin()
      batch.set(column: batch.column(named: "n"), integer: Int64(row))
    }
    try store.append(batch)
    let filter = try Expression("n >= 20").compiled(for: store.schema)
    let rows: [UInt32] = [30, 30, 1, 25] + Array(0..<40)
    #expect(filter.filter(rows, of: store) == [30, 30, 25] + Array(20..<40))
    #expect(filter.filter([30, 1, 30], of: store) == [30, 30])
  }
}
