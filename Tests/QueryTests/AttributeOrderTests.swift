// Features in the order of their attributes, held against a plain sort of all of them.

import Geometry
import Testing

@testable import Query

@Suite struct AttributeOrderTests {
  /// A store of features with values of all kinds, many of them equal.
  static func store(_ count: Int, seed: UInt64) throws -> FeatureStore {
    var random = SplitMix(seed)
    var store = FeatureStore(fields: [Field(name: "day", type: .date)])
    var batch = FeatureBatch()
    for place in 0..<count {
      // Ids against the order of insertion: ties go by them.
      batch.begin(id: count - place)
      switch random.next() % 7 {
      case 0: batch.set(column: batch.column(named: "v"), .integer(Int64(random.next() % 5)))
      case 1: batch.set(column: batch.column(named: "v"), .double(Double(random.next() % 10) / 2))
      case 2: batch.set(column: batch.column(named: "v"), .string("t\(random.next() % 4)"))
      case 3: batch.set(column: batch.column(named: "v"), .bool(random.next() % 2 == 0))
      case 4: batch.set(column: batch.column(named: "v"), .json("{}"))
      default: break
      }
      batch.set(column: batch.column(named: "w"), .integer(Int64(random.next() % 3)))
      if random.next() % 3 > 0 {
        batch.set(column: batch.column(named: "day"), .string("20\(10 + random.next() % 9)-01-01"))
      }
    }
    try store.append(batch)
    return store
  }

  /// The rank of a value and what to compare within it, written out plainly.
  private static func key(_ value: AttributeValue) -> (rank: Int, number: Double, text: String) {
    switch value {
    case .integer(let number): (0, Double(number), "")
    case .double(let number): (0, number, "")
    case .string(let text): (1, 0, text)
    case .bool(let flag): (2, flag ? 1 : 0, "")
    case .null, .json: (3, 0, "")
    }
  }

  @Test(arguments: [0, 1, 2, 7, 100, 499, 500, 3000], [[false, false], [true, false], [true, true]])
  func `the first so many are those of a sort of all`(count: Int, descending: [Bool]) throws {
    let store = try Self.store(2000, seed: UInt64(count))
    let columns = try ["v", "w"].map { try #require(store.schema.column(named: $0)) }
    let terms = zip(columns, descending).map { SortTerm(column: $0, isDescending: $1) }
    let rows = store.rowsInDrawingOrder()
    let expected = rows.compactMap { store[$0] }.sorted { left, right in
      for term in terms {
        let (own, other) = (Self.key(left.value(term.column)), Self.key(right.value(term.column)))
        if own == other { continue }
        if own.rank != other.rank, max(own.rank, other.rank) == 3 { return own.rank < other.rank }
        return (own < other) != term.isDescending
      }
      return left.id < right.id
    }.map(\.row)
    #expect(try store.ordered(rows, by: terms, first: count) == Array(expected.prefix(count)))
  }

  @Test func `fields of dates go by time, not by their text`() throws {
    var store = FeatureStore(fields: [Field(name: "at", type: .dateTime)])
    var batch = FeatureBatch()
    let texts = ["2020-01-01T01:00:00+02:00", "2020-01-01T00:00:00Z", "2019-12-31T22:30:00Z", "soon"]
    for text in texts {
      batch.begin()
      batch.set(column: batch.column(named: "at"), .string(text))
    }
    try store.append(batch)
    let rows = store.rowsInDrawingOrder()
    #expect(try store.ordered(rows, by: [SortTerm(column: 0, isDescending: false)], first: 9) == [2, 0, 1, 3])
    #expect(try store.ordered(rows, by: [SortTerm(column: 0, isDescending: true)], first: 2) == [3, 1])
  }

  @Test func `large integers are told apart`() throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    for value in [Int64.max, .max - 1, .min, .max - 2] {
      batch.begin()
      batch.set(column: batch.column(named: "n"), .integer(value))
    }
    try store.append(batch)
    let order = try store.ordered(store.rowsInDrawingOrder(), by: [SortTerm(column: 0, isDescending: false)], first: 4)
    #expect(order == [2, 3, 1, 0])
  }
}
