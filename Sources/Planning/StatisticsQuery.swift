// Statistics of the features that match a query, by groups: checks what is requested, and computes it.

import Expressions
import FeatureStore
import GeoModel
import Geometry
import Statistics

/// Statistics of a snapshot, which a worker can compute while the world changes.
package struct StatisticsQuery: Sendable {
  private let features: FeatureQuery
  package let columns: [Int]
  private let statistics: [Statistic]
  /// The names of the columns, followed by those of the statistics.
  package let names: [String]
  /// Their types; nil for what may have several.
  package let types: [FieldType?]
  private let terms: [GroupTerm]
  private let having: Expression?

  /// The groups of a page.
  package struct Page {
    package let groups: FeatureGroups
    /// The numbers of the groups.
    package let numbers: ArraySlice<Int>
    package let exceeded: Bool
  }

  /// - Parameter fields: the name of the param with the fields to group by.
  package init(
    _ features: FeatureQuery, groupBy: [String], at fields: String, _ wanted: [NamedStatistic] = [],
    having: Expression? = nil, order: [FeatureOrder]
  ) throws {
    self.features = features
    columns = try groupBy.enumerated().map { try features.column($1, at: "/\(fields)/\($0)") }
    statistics = try features.store.schema.statistics(wanted, at: "statistics")
    let names = groupBy + wanted.map(\.name.string)
    self.names = names
    try QueryError.checkNames(names) {
      $0 < groupBy.count ? "/\(fields)/\($0)" : "/statistics/\($0 - groupBy.count)"
    }
    terms = try order.enumerated().map { index, each in
      guard let place = names.firstIndex(where: { Text($0) == Text(each.field) }) else {
        throw ModelError.unknownField(each.field, available: names, path: "/orderBy/\(index)/field")
      }
      return GroupTerm(index: place, isDescending: each.isDescending)
    }
    let schema = features.store.schema
    let types = columns.map(schema.declaredType) + statistics.map(schema.resultType)
    self.types = types
    self.having = try having.map {
      try $0.condition(over: zip(names, types).map { (name: $0, type: $1) }, at: "/having")
    }
  }

  /// The estimated cost, in units of ``FeatureQuery/effort``.
  package var effort: Int { features.effort * (1 + 10 * columns.count + Set(statistics.map(\.column)).count) }

  // MARK: Results

  /// One page of the groups.
  ///
  /// - Parameter rows: those of the features that count, ascending; nil for all that match.
  package func page(of rows: [UInt32]? = nil, offset: Int, limit: Int, _ share: WorkShare) throws -> Page {
    let shares = share.split(by: 1, 4, 2, features.effort)
    let features = try features.computed(shares[3])
    let selection = try rows.map { .rows($0) } ?? features.selection(shares[0])
    let groups = try features.store.statistics(
      statistics, of: selection, groupedBy: columns, checking: shares[1].checkpoint)
    var numbers = Array(0..<groups.count)
    if let having { numbers = try numbers.filter { try holds(having, for: groups[$0], share) } }
    let (sum, isBeyond) = offset.addingReportingOverflow(limit)
    let end = isBeyond ? numbers.count : min(sum, numbers.count)
    let first = try groups.first(end, of: numbers, by: terms, checking: shares[2].checkpoint)
    return Page(groups: groups, numbers: first.dropFirst(offset), exceeded: end < numbers.count)
  }

  private func holds(_ condition: Expression, for group: FeatureGroup, _ share: WorkShare) throws -> Bool {
    try share.work?.checkCancelled()
    let value = try condition.evaluated { name in
      names.firstIndex { Text($0) == Text(name) }.map {
        $0 < columns.count ? group.values[$0] : group.results[$0 - columns.count]
      }
    }
    return value == .bool(true)
  }
}

extension FeatureSchema {
  /// Statistics of the columns with the given names.
  ///
  /// - Parameter param: the name of the param with the statistics, for errors.
  package func statistics(_ given: [NamedStatistic], at param: String) throws(SymbologyError) -> [Statistic] {
    var result: [Statistic] = []
    for (index, each) in given.enumerated() {
      do { try each.check(for: self) } catch { throw error.under(param, String(index)) }
      if let statistic = each.bound(to: self) { result.append(statistic) }
    }
    return result
  }
}
