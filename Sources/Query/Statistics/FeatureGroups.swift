// Groups of features with figures about them: kept as columns, and made into values one by one, as there may be a million.

import Geometry

/// The groups of some features, numbered in the order of their first features.
public struct FeatureGroups: Sendable {
  private let statistics: [Statistic]
  /// Whether texts of a figure are times.
  private let areTimes: [Bool]
  private(set) var groups: RowGroups
  /// The number of features of each group.
  private var sizes: [Int] = []
  private var fields: [FieldTotals]

  init(_ statistics: [Statistic], by columns: [Int], in schema: FeatureSchema) {
    self.statistics = statistics
    areTimes = statistics.map { $0.column.map(schema.isTime) ?? false }
    groups = RowGroups(by: columns, of: schema)
    fields = Set(statistics.compactMap(\.column)).sorted().map { column in
      FieldTotals(
        column, for: Set(statistics.filter { $0.column == column }.map(\.kind)), isTime: schema.isTime(column))
    }
    reserve()
  }

  public var count: Int { sizes.count }

  public subscript(number: Int) -> FeatureGroup {
    FeatureGroup(
      values: groups.values(of: number), count: sizes[number],
      results: statistics.indices.map { figure($0, of: number) })
  }

  func figure(_ index: Int, of group: Int) -> AttributeValue {
    fields.first { $0.column == statistics[index].column }?.result(statistics[index].kind, of: group)
      ?? .integer(Int64(sizes[group]))
  }

  func isTime(_ index: Int) -> Bool { areTimes[index] }

  /// The number of values that are kept.
  var cellCount: Int { groups.cellCount + groups.count * fields.count }

  private mutating func reserve() {
    while sizes.count < groups.count { sizes.append(0) }
    for index in fields.indices { fields[index].reserve(groups.count) }
  }

  mutating func add(_ rows: UnsafeBufferPointer<UInt16>, of chunk: FeatureChunk) {
    groups.add(rows, of: chunk)
    reserve()
    for place in rows.indices { sizes[groups.occurring[Int(groups.local[place])]] += 1 }
    for index in fields.indices { fields[index].add(rows, of: chunk, groups) }
  }
}
