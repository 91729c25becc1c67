// The order of features by attributes, compared with a plain sort.

import Geometry
import Testing

@testable import Expressions
@testable import FeatureStore
@testable import Sorting

@Suite struct AttributeOrderTests {
  /// A store of features with values of all kinds, many of them equal.
  static func store(_ count: Int, seed: UInt64) throws -> FeatureStore {
    var random = SplitMix(seed)
    var store = FeatureStore(fields: [Field(name: "day", type: .date)])
    var batch = FeatureBatch()
    for index in 0..<count {
      // Ids in reverse order of insertion: ties are ordered by id.
      batch.begin(id: count - index)
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

  /// The rank of a value and its key within the rank, computed plainly.
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
  func `the first rows are those of a complete sort`(count: Int, descending: [Bool]) throws {
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
    #expect(store.ordered(rows, by: terms, first: count) { _ in } == Array(expected.prefix(count)))
  }

  @Test func `fields of dates are ordered by time, not by text`() throws {
    var store = FeatureStore(fields: [Field(name: "at", type: .dateTime)])
    var batch = FeatureBatch()
    let texts = ["2020-01-01T01:00:00+02:00", "2020-01-01T00:00:00Z", "2019-12-31T22:30:00Z", "soon"]
    for text in texts {
      batch.begin()
      batch.set(column: batch.column(named: "at"), .string(text))
    }
    try store.append(batch)
    let rows = store.rowsInDrawingOrder()
    #expect(store.ordered(rows, by: [SortTerm(column: 0, isDescending: false)], first: 9) { _ in } == [2, 0, 1, 3])
    #expect(store.ordered(rows, by: [SortTerm(column: 0, isDescending: true)], first: 2) { _ in } == [3, 1])
  }

  @Test func `large integers are distinguished`() throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    for value in [Int64.max, .max - 1, .min, .max - 2] {
      batch.begin()
      batch.set(column: batch.column(named: "n"), .integer(value))
    }
    try store.append(batch)
    let order = store.ordered(store.rowsInDrawingOrder(), by: [SortTerm(column: 0, isDescending: false)], first: 4) {
      _ in
    }
    #expect(order == [2, 3, 1, 0])
  }

  /// Values with long common beginnings: texts, times, numbers beyond 2^53.
  private static func storeOfLikes(_ count: Int, seed: UInt64) throws -> FeatureStore {
    var random = SplitMix(seed)
    var store = FeatureStore(fields: [Field(name: "at", type: .dateTime)])
    var batch = FeatureBatch()
    let tails = ["", "\0", "\0\0", "a", "ab", "\u{e9}", "1234567", "12345678", "123456789", "\u{10ffff}"]
    for index in 0..<count {
      batch.begin(id: (index &* 7919) % count)
      switch random.next() % 4 {
      case 0: batch.set(column: batch.column(named: "v"), .integer(1 << 53 + Int64(random.next() % 5)))
      case 1: batch.set(column: batch.column(named: "v"), .double(0x1p53 + Double(random.next() % 3) * 2))
      default:
        let head = ["", "https://example.org/"][Int(random.next() % 2)]
        batch.set(column: batch.column(named: "v"), .string(head + tails[Int(random.next() % 10)]))
      }
      let fraction = random.next() % 3
      batch.set(column: batch.column(named: "at"), .string("2020-01-01T00:00:0\(random.next() % 2).\(fraction)Z"))
    }
    try store.append(batch)
    return store
  }

  /// The values themselves, compared plainly.
  private static func order(_ left: AttributeValue, _ right: AttributeValue) -> Order {
    switch (left, right) {
    case (.string(let left), .string(let right)): Order(Array(left.utf8), Array(right.utf8))
    case (.string, _): .greater
    case (_, .string): .less
    default: Scalar(left).order(to: Scalar(right)) ?? .same
    }
  }

  @Test(arguments: zip([50, 3000, 3000, 40_000], [true, false, true, false]))
  func `values that differ late are ordered too`(count: Int, isDescending: Bool) throws {
    let store = try Self.storeOfLikes(count, seed: UInt64(count))
    let columns = try ["at", "v"].map { try #require(store.schema.column(named: $0)) }
    // The times have texts of one form here, so they compare as texts.
    let features = store.rowsInDrawingOrder().compactMap { row in
      store[row].map { (id: $0.id, row: row, at: $0.value(columns[0]), value: $0.value(columns[1])) }
    }
    let expected = features.sorted { left, right in
      let order = Self.order(left.value, right.value)
      if order != .same { return (order == .less) != isDescending }
      let times = Self.order(left.at, right.at)
      return times != .same ? times == .less : left.id < right.id
    }.map(\.row)
    let terms = [
      SortTerm(column: columns[1], isDescending: isDescending), SortTerm(column: columns[0], isDescending: false),
    ]
    for wanted in [count, count / 50] {
      var looks: [Double] = []
      let rows = store.ordered(features.map(\.row), by: terms, first: wanted) { looks.append($0) }
      #expect(rows == Array(expected.prefix(wanted)))
      #expect(looks == looks.sorted() && looks.allSatisfy { (0...1).contains($0) })
      #expect(looks.count >= count / SortItem.block)
    }
  }
}

/// Order of byte strings.
extension Order {
  fileprivate init(_ left: [UInt8], _ right: [UInt8]) {
    self = left == right ? .same : left.lexicographicallyPrecedes(right) ? .less : .greater
  }
}
