// Statistics of features by group, accumulated row by row or chunk by chunk, for layers, clusters and joins alike.

import FeatureStore
import Geometry
import Sorting

/// The totals of numbered groups, from which statistics are computed.
///
/// ```swift
/// var totals = StatisticTotals([Statistic(.sum, of: population)], in: store.schema)
/// totals.reserve(1)
/// for row in rows { totals.add(row, to: 0) }
/// let sum = totals.figure(0, of: 0)
/// ```
public struct StatisticTotals: Sendable {
  /// By statistic: its column's index in `fields`, nil for statistics of features; and the function that computes it.
  private let figures: [(field: Int?, figure: @Sendable (FieldTotals, Int) -> AttributeValue)]
  /// The number of features in each group.
  private var sizes: [Int] = []
  private var fields: [FieldTotals]

  public init(_ statistics: [Statistic], in schema: FeatureSchema) {
    let columns = Set(statistics.compactMap(\.column)).sorted()
    fields = columns.map { column in
      FieldTotals(
        column, for: statistics.filter { $0.column == column }.map(\.kind), isTime: schema.isTime(column))
    }
    figures = statistics.map { statistic in
      (statistic.column.flatMap(columns.firstIndex), statistic.figure)
    }
  }

  /// The number of groups.
  public var count: Int { sizes.count }

  /// The number of columns with totals.
  var fieldCount: Int { fields.count }

  /// The number of values that are kept, for statistics that need all.
  var keptCount: Int { fields.reduce(0) { $0 + $1.keptCount } }

  /// Called after the last chunk. Sorts the kept values, so that each statistic need not.
  mutating func finish(checking check: CancellationCheck) throws {
    for index in fields.indices { try fields[index].finish(checking: check) }
  }

  /// Adds empty groups until there are `groups`.
  public mutating func reserve(_ groups: Int) {
    while sizes.count < groups { sizes.append(0) }
    for index in fields.indices { fields[index].reserve(groups) }
  }

  /// Removes all features, and keeps the memory.
  public mutating func removeAll() {
    sizes.removeAll(keepingCapacity: true)
    for index in fields.indices { fields[index].removeAll() }
  }

  public mutating func add(_ row: FeatureRow, to group: Int) {
    sizes[group] += 1
    for index in fields.indices { fields[index].add(row, to: group) }
  }

  /// Adds rows of a chunk to the groups in `groups`.
  mutating func add(_ rows: UnsafeBufferPointer<UInt16>, of chunk: FeatureChunk, _ groups: borrowing RowGroups) {
    for (group, size) in zip(groups.occurring, groups.sizes) { sizes[group] += size }
    for index in fields.indices { fields[index].add(rows, of: chunk, groups) }
  }

  /// The number of features in a group.
  public func size(of group: Int) -> Int { sizes[group] }

  /// A statistic of a group.
  ///
  /// - Parameter index: the index of the statistic.
  public func figure(_ index: Int, of group: Int) -> AttributeValue {
    let (field, figure) = figures[index]
    return field.map { figure(fields[$0], group) } ?? .integer(Int64(sizes[group]))
  }

  public func figures(of group: Int) -> [AttributeValue] { figures.indices.map { figure($0, of: group) } }
}
