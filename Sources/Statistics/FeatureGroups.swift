// Groups of features with their statistics, kept in columns and converted to values on demand, as there may be a million groups.

import FeatureStore
import Geometry
import Sorting

/// The groups of some features, numbered in the order of their first features.
public struct FeatureGroups: Sendable {
  /// By statistic: whether texts in its results are times.
  private let areTimes: [Bool]
  private(set) var groups: RowGroups
  private var totals: StatisticTotals

  init(_ statistics: [Statistic], by columns: [Int], in schema: FeatureSchema) {
    areTimes = statistics.map { $0.column.map(schema.isTime) ?? false }
    groups = RowGroups(by: columns, of: schema)
    totals = StatisticTotals(statistics, in: schema)
    totals.reserve(groups.count)
  }

  public var count: Int { totals.count }

  public subscript(number: Int) -> FeatureGroup {
    FeatureGroup(
      values: groups.values(of: number), count: totals.size(of: number), results: totals.figures(of: number))
  }

  /// The number of the group that each of the rows is in, by the same equality of values; nil for one that is in none.
  public func numbers(of rows: [UInt32], in store: FeatureStore, checking check: () throws -> Void) rethrows -> [Int?] {
    var groups = groups
    return try rows.map { row in
      try check()
      return store[row].flatMap { groups.number(of: $0) }.flatMap { $0 < count ? $0 : nil }
    }
  }

  func figure(_ index: Int, of group: Int) -> AttributeValue { totals.figure(index, of: group) }

  func isTime(_ index: Int) -> Bool { areTimes[index] }

  /// The number of stored values; kept numbers are an eighth of their size.
  var cellCount: Int { groups.cellCount + groups.count * totals.fieldCount + totals.keptCount / 8 }

  mutating func finish(checking check: CancellationCheck) throws { try totals.finish(checking: check) }

  mutating func add(_ rows: UnsafeBufferPointer<UInt16>, of chunk: FeatureChunk) {
    groups.add(rows, of: chunk)
    totals.reserve(groups.count)
    totals.add(rows, of: chunk, groups)
  }
}
