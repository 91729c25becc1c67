// Figures about features by group, filled row by row or chunk by chunk: statistics of layers, clusters and joins alike.

import FeatureStore
import Geometry

/// The totals of numbered groups, of which statistics are computed.
///
/// ```swift
/// var totals = StatisticTotals([Statistic(.sum, of: population)], in: store.schema)
/// totals.reserve(1)
/// for row in rows { totals.add(row, to: 0) }
/// let sum = totals.figure(0, of: 0)
/// ```
public struct StatisticTotals: Sendable {
  private let statistics: [Statistic]
  /// The number of features of each group.
  private var sizes: [Int] = []
  private var fields: [FieldTotals]

  public init(_ statistics: [Statistic], in schema: FeatureSchema) {
    self.statistics = statistics
    fields = Set(statistics.compactMap(\.column)).sorted().map { column in
      FieldTotals(
        column, for: Set(statistics.filter { $0.column == column }.map(\.kind)), isTime: schema.isTime(column))
    }
  }

  /// The number of groups.
  public var count: Int { sizes.count }

  /// The number of columns of which totals are kept.
  var fieldCount: Int { fields.count }

  /// Adds empty groups until there are `groups`.
  public mutating func reserve(_ groups: Int) {
    while sizes.count < groups { sizes.append(0) }
    for index in fields.indices { fields[index].reserve(groups) }
  }

  /// Forgets all features, and keeps the memory.
  public mutating func removeAll() {
    sizes.removeAll(keepingCapacity: true)
    for index in fields.indices { fields[index].removeAll() }
  }

  public mutating func add(_ row: FeatureRow, to group: Int) {
    sizes[group] += 1
    for index in fields.indices { fields[index].add(row, to: group) }
  }

  /// Adds rows of a chunk to the groups that are numbered.
  mutating func add(_ rows: UnsafeBufferPointer<UInt16>, of chunk: FeatureChunk, _ groups: borrowing RowGroups) {
    for place in rows.indices { sizes[groups.occurring[Int(groups.local[place])]] += 1 }
    for index in fields.indices { fields[index].add(rows, of: chunk, groups) }
  }

  /// The number of features of a group.
  public func size(of group: Int) -> Int { sizes[group] }

  /// A statistic of a group.
  ///
  /// - Parameter index: of the statistic.
  public func figure(_ index: Int, of group: Int) -> AttributeValue {
    fields.first { $0.column == statistics[index].column }?.result(statistics[index].kind, of: group)
      ?? .integer(Int64(sizes[group]))
  }

  public func figures(of group: Int) -> [AttributeValue] { statistics.indices.map { figure($0, of: group) } }
}
