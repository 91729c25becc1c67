// Statistics of the features that match a query, by groups: what is asked for, checked, and computed.

import Expressions
import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Statistics
import WireCoding

/// Statistics over a snapshot, which a worker can compute while the world changes.
struct StatisticsQuery: Sendable {
  private let features: FeatureQuery
  private let columns: [Int]
  private let statistics: [Statistic]
  /// Of the columns, then of the statistics.
  private let names: [String]
  private let terms: [GroupTerm]
  private let having: Expression?

  /// The groups of a page.
  struct Page {
    fileprivate let groups: FeatureGroups
    /// The groups' numbers.
    fileprivate let numbers: ArraySlice<Int>
    let exceeded: Bool
  }

  /// - Parameter fields: the name of the param that lists the fields to group by.
  init(
    _ features: FeatureQuery, groupBy: [String], at fields: String, _ wanted: [FeatureProtocol.Statistic] = [],
    having: JSONOpaque? = nil, orderBy: [FeatureProtocol.OrderBy]
  ) throws {
    self.features = features
    columns = try groupBy.enumerated().map { try Self.column($1, in: features.store, at: "/\(fields)/\($0)") }
    let given = wanted.map(Wire.statistic)
    statistics = try features.store.schema.statistics(given, at: "statistics")
    let names = groupBy + given.map(\.name.string)
    self.names = names
    try Self.checkNames(names) {
      $0 < groupBy.count ? "/params/\(fields)/\($0)" : "/params/statistics/\($0 - groupBy.count)"
    }
    terms = try orderBy.enumerated().map { index, each in
      guard let place = names.firstIndex(where: { Text($0) == Text(each.field) }) else {
        throw ModelError.unknownField(each.field, available: names, path: "/orderBy/\(index)/field")
      }
      return GroupTerm(index: place, isDescending: each.order.isDescending)
    }
    let schema = features.store.schema
    let types = columns.map(schema.declaredType) + statistics.map(schema.resultType)
    self.having = try having.map {
      try Wire.parsed($0, at: "/params/having")
        .condition(over: Array(zip(names, types)).map { (name: $0, type: $1) }, at: "/having")
    }
  }

  /// The estimated cost, in the unit of ``FeatureQuery/effort``.
  var effort: Int { features.effort * (1 + 10 * columns.count + Set(statistics.map(\.column)).count) }

  // MARK: Params

  private static func column(_ name: String, in store: FeatureStore, at path: String) throws -> Int {
    guard let column = store.schema.column(named: name) else {
      throw ModelError.unknownField(name, available: store.fields.map(\.name.string), path: path)
    }
    return column
  }

  /// Throws `duplicateItem` where a name occurs twice.
  ///
  /// - Parameter path: of a name by its index.
  static func checkNames(_ names: [String], at path: (Int) -> String) throws(RPCError) {
    var known: Set<Text> = []
    for (index, name) in names.enumerated() where !known.insert(Text(name)).inserted {
      throw RPCError(.duplicateItem, "Records would have \"\(name)\" twice.", path: path(index)).with("id", name)
    }
  }

  // MARK: Results

  /// One page of the groups.
  func page(offset: Int, limit: Int, _ share: WorkShare) throws -> Page {
    let shares = share.split(by: 1, 4, 2)
    let selection = try features.selection(shares[0])
    let groups: FeatureGroups
    do {
      groups = try features.store.statistics(
        statistics, of: selection, groupedBy: columns, checking: shares[1].checkpoint)
    } catch let error as TooManyGroups {
      throw RPCError(
        .tooManyGroups,
        "There are too many distinct values to group by: group a part of the features, or by other fields."
      ).with("limit", error.limit)
    }
    var numbers = Array(0..<groups.count)
    if let having { numbers = try numbers.filter { try holds(having, for: groups[$0], share) } }
    let (sum, isBeyond) = offset.addingReportingOverflow(limit)
    let end = isBeyond ? numbers.count : min(sum, numbers.count)
    let first = try groups.first(end, of: numbers, by: terms, checking: shares[2].checkpoint)
    return Page(groups: groups, numbers: first.dropFirst(offset), exceeded: end < numbers.count)
  }

  private func holds(_ condition: Expression, for group: FeatureGroup, _ share: WorkShare) throws -> Bool {
    try share.worker?.checkCancelled()
    let value = try condition.evaluated { name in
      names.firstIndex { Text($0) == Text(name) }.map {
        $0 < columns.count ? group.values[$0] : group.results[$0 - columns.count]
      }
    }
    return value == .bool(true)
  }

  /// The JSON array of the groups, each an object whose members `write` writes.
  func records(
    of page: Page, _ share: WorkShare, _ write: (FeatureGroup, inout JSONWriter) -> Void
  ) throws -> JSONOpaque {
    var count = 0
    return try .made { writer in
      writer.beginArray()
      for number in page.numbers {
        count += 1
        if count & 0x3f == 0 { try share.checkpoint(count, of: page.numbers.count) }
        writer.beginObject()
        write(page.groups[number], &writer)
        writer.endObject()
        if let limit = share.worker?.resultBytes, writer.count > limit { throw RPCError.resultTooLarge(limit: limit) }
      }
      writer.endArray()
    }
  }

  /// Writes the values that the features of a group have in common, as an object.
  func writeValues(of group: FeatureGroup, to writer: inout JSONWriter) {
    write(group.values, names[..<columns.count], to: &writer)
  }

  /// Writes the figures of a group, as an object.
  func writeFigures(of group: FeatureGroup, to writer: inout JSONWriter) {
    write(group.results, names[columns.count...], to: &writer)
  }

  private func write(_ values: [AttributeValue], _ names: ArraySlice<String>, to writer: inout JSONWriter) {
    writer.beginObject()
    for (name, value) in zip(names, values) {
      writer.key(name)
      switch value {
      case .null: writer.null()
      case .bool(let flag): writer.value(flag)
      case .integer(let number): writer.value(number)
      case .double(let number): writer.value(number)
      case .string(let text): writer.value(text)
      case .json(let text): writer.raw(text)
      }
    }
    writer.endObject()
  }
}

extension FeatureSchema {
  /// Statistics of the columns that have the names given.
  ///
  /// - Parameter param: the name of the param that lists them, for errors.
  func statistics(_ given: [NamedStatistic], at param: String) throws(SymbologyError) -> [Statistic] {
    var result: [Statistic] = []
    for (index, each) in given.enumerated() {
      do { try each.check(for: self) } catch { throw error.under(param, String(index)) }
      if let statistic = each.bound(to: self) { result.append(statistic) }
    }
    return result
  }
}
