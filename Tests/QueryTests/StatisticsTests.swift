// Statistics by groups are those of a plain computation over lists of values.

import Geometry
import TestSupport
import Testing

@testable import Expressions
@testable import FeatureStore
@testable import Filtering
@testable import Statistics

@Suite struct StatisticsTests {
  private static let kinds: [Statistic.Kind] = [.count, .sum, .mean, .variance, .standardDeviation, .min, .max]

  @Test(.slow, arguments: UInt64(0)..<8)
  func `random features have the statistics of a naive computation`(seed: UInt64) throws {
    var random = SplitMix(seed)
    let (store, features) = try ExpressionFilterTests.randomStore(&random)
    func column(_ name: String) throws -> Int { try #require(store.schema.column(named: name)) }
    for by in [[], ["few"], ["b", "i"], ["rare"], ["d", "few", "late"], ["m"], ["many"]] {
      let text = ["i > 0", "many LIKE '%7%' OR d < 0", "TRUE"][random.below(3)]
      let condition = try Expression(text).compiled(for: store.schema, as: .condition)
      let rows = store.rows(where: condition)
      let names = ["i", "d", "big", "few", "m", "b", "rare"]
      let statistics = try names.flatMap { name in try Self.kinds.map { Statistic($0, of: try column(name)) } }
      let columns = try by.map(column)
      let plain = PlainGroups(rows.compactMap { features[Int($0)] }, by: by)
      for selection in [FeatureSelection.matching([condition]), .rows(rows), .rows(rows.shuffled(using: &random))] {
        let groups = try store.statistics(statistics, of: selection, groupedBy: columns) { _ in }
        #expect(groups.count == plain.groups.count, "\(by) where \(text)")
        for group in groups.all {
          let members = try #require(plain.groups[group.values.map(PlainGroups.key)])
          for (number, name) in names.enumerated() {
            let values = members.map { $0[name] ?? .null }
            let results = group.results[number * Self.kinds.count..<(number + 1) * Self.kinds.count]
            for (kind, result) in zip(Self.kinds, results) {
              #expect(PlainGroups.agrees(result, kind, of: values), "\(kind) of \(name) by \(group.values): \(result)")
            }
          }
        }
      }
    }
  }

  @Test(arguments: UInt64(0)..<4)
  func `features added one by one have the statistics of those read from columns`(seed: UInt64) throws {
    var random = SplitMix(seed)
    let (store, _) = try ExpressionFilterTests.randomStore(&random)
    let columns = try ["i", "d", "big", "few", "m"].map { try #require(store.schema.column(named: $0)) }
    let statistics =
      columns.flatMap { column in Self.kinds.map { Statistic($0, of: column) } } + [.init(.count, of: nil)]
    var totals = StatisticTotals(statistics, in: store.schema)
    for _ in 0..<3 {
      let rows = store.rowsAscending(checking: { _ in }).filter { _ in random.chance(0.3) }
      totals.removeAll()
      totals.reserve(2)
      for row in rows { totals.add(try #require(store[row]), to: 1) }
      let group = try store.statistics(statistics, of: .rows(rows), groupedBy: []) { _ in }[0]
      #expect(totals.figures(of: 1) == group.results)
      #expect(totals.size(of: 0) == 0 && totals.size(of: 1) == rows.count)
    }
  }

  @Test(arguments: UInt64(0)..<6)
  func `groups are sorted by figures, then by values, what has no order last`(seed: UInt64) throws {
    var random = SplitMix(seed)
    let (store, _) = try ExpressionFilterTests.randomStore(&random)
    let columns = try ["m", "few", "d"].map { try #require(store.schema.column(named: $0)) }
    let statistics = [Statistic(.count, of: nil), Statistic(.max, of: columns[0]), Statistic(.sum, of: columns[2])]
    let groups = try store.statistics(statistics, of: .matching([]), groupedBy: columns) { _ in }
    let terms = [
      GroupTerm(index: 3 + random.below(3), isDescending: random.chance(0.5)),
      GroupTerm(index: random.below(6), isDescending: random.chance(0.5)),
    ]
    let sorted = try groups.sorted(Array(0..<groups.count), by: terms) { _ in }
    #expect(sorted.sorted() == Array(0..<groups.count))
    for count in [0, 1, 7, groups.count / 9, groups.count] {
      let some = (0..<groups.count).filter { $0 % 3 > 0 }
      let expected = sorted.filter { $0 % 3 > 0 }.prefix(count)
      #expect(try groups.first(count, of: some, by: terms) { _ in } == Array(expected))
    }
    let all = terms + (0..<3).map { GroupTerm(index: $0, isDescending: false) }
    for (left, right) in zip(sorted, sorted.dropFirst()).map({ (groups[$0], groups[$1]) }) {
      let orders = all.map { term in
        PlainGroups.order((left.values + left.results)[term.index], (right.values + right.results)[term.index], term)
      }
      #expect((orders.first { $0 != 0 } ?? -1) < 0, "\(left) \(right)")
    }
  }

  @Test func `without features there is one group without columns, and none with`() throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    batch.begin()
    batch.set(column: batch.column(named: "n"), integer: 1)
    try store.append(batch)
    let none = FeatureSelection.rows([])
    let statistics = [Statistic(.count, of: nil), Statistic(.sum, of: 0), Statistic(.count, of: 0)]
    #expect(
      try store.statistics(statistics, of: none, groupedBy: []) { _ in }.all == [
        FeatureGroup(values: [], count: 0, results: [.integer(0), .null, .integer(0)])
      ])
    #expect(try store.statistics(statistics, of: none, groupedBy: [0]) { _ in }.all.isEmpty)
  }

  @Test func `sums of integers are exact, and doubles where they have no 64 bits`() throws {
    func sum(_ values: [AttributeValue]) throws -> [AttributeValue] {
      var store = FeatureStore()
      var batch = FeatureBatch()
      for value in values {
        batch.begin()
        batch.set(column: batch.column(named: "n"), value)
      }
      try store.append(batch)
      return try store.statistics(
        [.sum, .mean, .variance, .standardDeviation].map { Statistic($0, of: 0) }, of: .matching([]), groupedBy: []
      ) { _ in }[0].results
    }
    #expect(try sum([.integer(.max), .integer(1), .integer(-2)])[0] == .integer(.max - 1))
    #expect(try sum([.integer(.max), .integer(.max)])[0] == .double(0x1p64))
    #expect(try sum([.integer(.min), .integer(.min), .integer(.min)])[0] == .double(-0x1.8p64))
    // Both as parts of one sum: from fractions.Fraction of Python.
    #expect(try sum([.integer(-1000), .integer(50), .double(99.5)]).prefix(2) == [.double(-850.5), .double(-283.5)])
    #expect(try sum([.string("x"), .integer(1), .double(2.5), .integer(-1000)])[0] == .double(-996.5))
    #expect(try sum([.integer(1 << 60 | 1), .integer(-1), .double(-0x1p60), .double(0.25)])[0] == .double(0.25))
    #expect(try sum([.integer(.min), .integer(-1), .double(0x1p63)])[0] == .double(-1))
    #expect(try sum([.integer(.min), .integer(-1)])[1] == .double(-0x1p62))
    // Neumaier's example: plain and Kahan's sums are 0.
    #expect(try sum([.double(1), .double(1e100), .double(1), .double(-1e100)])[0] == .double(2))
    #expect(try sum([.double(.greatestFiniteMagnitude), .double(.greatestFiniteMagnitude)]).prefix(1) == [.null])
    #expect(
      try sum([.double(.greatestFiniteMagnitude), .double(.greatestFiniteMagnitude)])[1]
        == .double(.greatestFiniteMagnitude))
    // The variance of a sample of large numbers that differ little.
    #expect(try sum([.double(1e9 + 4), .double(1e9 + 7), .double(1e9 + 13), .double(1e9 + 16)])[2] == .double(30))
    #expect(try sum([.integer(5)])[2] == .null)
    // The variance is beyond the range of doubles, its root is not.
    #expect(try sum([.double(1e200), .double(-1e200), .integer(0)])[2...] == [.null, .double(1e200)])
    #expect(try sum([.double(0x1p1000), .double(0x1p1000 + 0x1p960), .double(0x1p1000 - 0x1p960)])[3] == .double(0x1p960))
    #expect(try sum([.integer(3), .double(0x1p600), .double(-0x1p600)])[3] == .double(0x1p600))
    #expect(try sum([.string("5"), .bool(true)]) == [.null, .null, .null, .null])
  }

  @Test func `percentiles are those of sorted numbers, interpolated, by groups and by rows`() throws {
    var (store, batch) = (FeatureStore(), FeatureBatch())
    for (group, value) in [
      (1, AttributeValue.integer(40)), (1, .double(15)), (2, .double(-0.5)), (1, .integer(20)), (1, .null),
      (1, .integer(35)), (2, .string("x")), (1, .double(50)), (3, .null), (2, .double(-3)),
    ] {
      batch.begin()
      batch.set(column: batch.column(named: "g"), integer: Int64(group))
      batch.set(column: batch.column(named: "v"), value)
    }
    try store.append(batch)
    let (g, v) = (store.schema.column(named: "g"), store.schema.column(named: "v"))
    let statistics =
      [Statistic(.median, of: v)] + [0.0, 40, 100].map { Statistic(.percentile, of: v, percentile: $0) }
    let groups = try store.statistics(statistics, of: .matching([]), groupedBy: [try #require(g)]) { _ in }.all
    // numpy.percentile([15, 20, 35, 40, 50], 40) is 29.
    #expect(groups.map(\.results) == [
      [.double(35), .double(15), .double(29), .double(50)], [.double(-1.75), .double(-3), .double(-2), .double(-0.5)],
      [.null, .null, .null, .null],
    ])
    var totals = StatisticTotals(statistics, in: store.schema)
    totals.reserve(1)
    for row in store.rowsAscending(checking: { _ in }) { totals.add(try #require(store[row]), to: 0) }
    #expect(totals.figures(of: 0).first == .double(20))
    #expect(throws: TooManyGroups.self) {
      try store.statistics(statistics, of: .matching([]), groupedBy: [], limit: 0) { _ in }
    }
  }

  @Test(arguments: UInt64(0)..<20)
  func `figures do not depend on the order of features, on their chunks or on sums that leave the range of doubles`(
    seed: UInt64
  ) throws {
    var random = SplitMix(seed)
    let scale = [1e-12, 1, 1e15, 1e140][random.below(4)]
    let integers = random.chance(0.5) ? 0.1 : 0
    var numbers = (0..<9000).map { _ -> AttributeValue in
      let number = Double(random.below(1 << 40) - 1 << 39) * scale
      return random.chance(integers)
        ? .integer(Int64(random.below(1 << 50))) : .double(number + (random.chance(0.5) ? 1e3 * scale : 0))
    }
    func figures(_ values: [AttributeValue], of kinds: [Statistic.Kind] = Self.kinds) throws -> [AttributeValue] {
      var store = FeatureStore()
      for start in stride(from: 0, to: values.count, by: 700) {
        var batch = FeatureBatch()
        for value in values[start..<min(start + 700, values.count)] {
          batch.begin()
          batch.set(column: batch.column(named: "n"), value)
        }
        try store.append(batch)
      }
      let statistics = kinds.map { Statistic($0, of: 0) }
      let group = try store.statistics(statistics, of: .matching([]), groupedBy: []) { _ in }[0]
      var totals = StatisticTotals(statistics, in: store.schema)
      totals.reserve(1)
      for row in store.rowsAscending(checking: { _ in }).shuffled(using: &random) {
        totals.add(try #require(store[row]), to: 0)
      }
      #expect(totals.figures(of: 0) == group.results)
      return group.results
    }
    let expected = try figures(numbers)
    for _ in 0..<2 {
      numbers.shuffle(using: &random)
      #expect(try figures(numbers) == expected)
    }
    // Pairs of large numbers that cancel out, in whatever order.
    var wide = numbers + Array(repeating: .double(1.5e308), count: 5) + Array(repeating: .double(-1.5e308), count: 5)
    wide.shuffle(using: &random)
    #expect(try figures(wide, of: [.sum]) == [expected[1]])
  }

  @Test func `a sum is null only if it is beyond the range of doubles itself`() throws {
    func figures(_ numbers: [Double]) throws -> [AttributeValue] {
      var store = FeatureStore()
      var batch = FeatureBatch()
      for number in numbers {
        batch.begin()
        batch.set(column: batch.column(named: "n"), .double(number))
      }
      try store.append(batch)
      return try store.statistics([.init(.sum, of: 0), .init(.mean, of: 0)], of: .matching([]), groupedBy: []) { _ in }[
        0
      ].results
    }
    for order in [[1e308, 1e308, -1e308], [1e308, -1e308, 1e308], [-1e308, 1e308, 1e308]] {
      #expect(try figures(order) == [.double(1e308), .double(1e308 / 3)])
    }
    #expect(try figures([1e308, 1e308]) == [.null, .double(1e308)])
    #expect(
      try figures([1e308, .leastNonzeroMagnitude, -1e308, 1, .greatestFiniteMagnitude, -.greatestFiniteMagnitude])[0]
        == .double(1))
    #expect(try figures([1e308, .leastNonzeroMagnitude, -1e308])[0] == .double(.leastNonzeroMagnitude))
    #expect(try figures([.infinity, 1, -.infinity]) == [.null, .null])
  }

  @Test func `dates are grouped by time and ordered by it`() throws {
    var store = FeatureStore(fields: [Field(name: "day", type: .dateTime)])
    var batch = FeatureBatch()
    for text in ["2024-05-01T12:00:00Z", "2024-05-01T14:00:00+02:00", "2023-01-01T00:00:00+05:00", "soon"] {
      batch.begin()
      batch.set(column: batch.column(named: "day"), .string(text))
    }
    try store.append(batch)
    let groups = try store.statistics([.init(.count, of: nil)], of: .matching([]), groupedBy: [0]) { _ in }
    #expect(groups.all.map(\.results) == [[.integer(2)], [.integer(1)], [.integer(1)]])
    #expect(groups[0].values == [.string("2024-05-01T12:00:00Z")])
    let ends = try store.statistics([.init(.min, of: 0), .init(.max, of: 0)], of: .matching([]), groupedBy: []) { _ in }
    #expect(ends[0].results == [.string("2023-01-01T00:00:00+05:00"), .string("soon")])
  }

  /// The server answers `tooManyGroups`.
  @Test func `groups beyond the limit are refused, and work ends when it is cancelled`() throws {
    var random = SplitMix(1)
    let (store, _) = try ExpressionFilterTests.randomStore(&random)
    let many = try #require(store.schema.column(named: "many"))
    #expect(throws: TooManyGroups(limit: 100)) {
      try store.statistics([.init(.sum, of: many)], of: .matching([]), groupedBy: [many], limit: 100) { _ in }
    }
    var large = FeatureStore()
    for _ in 0..<4 {
      var batch = FeatureBatch()
      for row in 0..<4096 {
        batch.begin()
        batch.set(column: batch.column(named: "n"), integer: Int64(row))
      }
      try large.append(batch)
    }
    struct Cancelled: Error {}
    #expect(throws: Cancelled.self) {
      try large.statistics([], of: .matching([]), groupedBy: [0]) { _ in throw Cancelled() }
    }
    #expect(throws: Cancelled.self) {
      try large.statistics([], of: .rows(large.rowsInDrawingOrder()), groupedBy: [0]) { _ in throw Cancelled() }
    }
  }
}

extension FeatureGroups {
  fileprivate var all: [FeatureGroup] { (0..<count).map { self[$0] } }
}

/// Lists of features by values, and statistics over them by definition.
private struct PlainGroups {
  private(set) var groups: [[AttributeValue]: [[String: AttributeValue]]] = [:]

  init(_ features: [[String: AttributeValue]], by names: [String]) {
    if names.isEmpty { groups[[]] = features }
    for feature in features where !names.isEmpty {
      groups[names.map { Self.key(feature[$0] ?? .null) }, default: []].append(feature)
    }
  }

  static func key(_ value: AttributeValue) -> AttributeValue {
    guard case .double(let number) = value else { return value }
    return number.isNaN ? .null : Int64(exactly: number).map(AttributeValue.integer) ?? value
  }

  static func agrees(_ result: AttributeValue, _ kind: Statistic.Kind, of values: [AttributeValue]) -> Bool {
    let known = values.map(key).filter { $0 != .null }
    let numbers = known.compactMap { Scalar($0).number }
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    let variance = variance(of: known.filter { Scalar($0).number != nil })
    switch kind {
    case .count: return result == .integer(Int64(known.count))
    case .sum: return numbers.isEmpty ? result == .null : isNear(result, numbers.reduce(0, +), numbers)
    case .mean: return numbers.isEmpty ? result == .null : isNear(result, mean, numbers)
    case .variance: return numbers.count < 2 ? result == .null : isNear(result, variance, [variance])
    case .standardDeviation:
      return numbers.count < 2 ? result == .null : isNear(result, variance.squareRoot(), [variance.squareRoot()])
    case .min, .max:
      let ordered = known.filter { rank($0) != nil }.sorted { isBefore($0, $1) }
      return key(result) == (kind == .min ? ordered.first : ordered.last) ?? .null
    case .median, .percentile:
      let sorted = numbers.sorted()
      guard let low = sorted.dropFirst((sorted.count - 1) / 2).first else { return result == .null }
      let middle = low / 2 + sorted[sorted.count / 2] / 2
      return isNear(result, middle, [middle])
    }
  }

  /// From exact differences of integers: their doubles are too far apart.
  private static func variance(of numbers: [AttributeValue]) -> Double {
    let differences = numbers.map { number -> Double in
      if case .integer(let own) = number, case .integer(let first)? = numbers.first {
        return Double(Int128(own) - Int128(first))
      }
      return (Scalar(number).number ?? 0) - (numbers.first.flatMap { Scalar($0).number } ?? 0)
    }
    let mean = differences.reduce(0, +) / Double(numbers.count)
    return differences.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count - 1)
  }

  private static func isNear(_ result: AttributeValue, _ expected: Double, _ terms: [Double]) -> Bool {
    guard let number = Scalar(result).number else { return false }
    return abs(number - expected) <= 1e-12 * terms.reduce(0) { $0 + abs($1) }
  }

  /// Negative, zero or positive as the left value comes before, with or after the right one.
  static func order(_ left: AttributeValue, _ right: AttributeValue, _ term: GroupTerm) -> Int {
    let (left, right) = (key(left), key(right))
    switch (rank(left), rank(right)) {
    case (nil, nil): return 0
    case (nil, _): return 1
    case (_, nil): return -1
    default: return (isBefore(left, right) ? -1 : isBefore(right, left) ? 1 : 0) * (term.isDescending ? -1 : 1)
    }
  }

  private static func rank(_ value: AttributeValue) -> Int? {
    switch value {
    case .integer, .double: 0
    case .string: 1
    case .bool: 2
    case .null, .json: nil
    }
  }

  private static func isBefore(_ left: AttributeValue, _ right: AttributeValue) -> Bool {
    switch (left, right) {
    case (.string(let left), .string(let right)): Array(left.utf8).lexicographicallyPrecedes(Array(right.utf8))
    case (.bool(let left), .bool(let right)): !left && right
    case _ where rank(left) == 0 && rank(right) == 0: Scalar(left).order(to: Scalar(right)) == .less
    default: (rank(left) ?? 0) < (rank(right) ?? 0)
    }
  }
}
