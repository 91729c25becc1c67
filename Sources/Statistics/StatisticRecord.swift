// The statistics, one record each: required types, required totals, results.

import Expressions
import Geometry

/// The properties of a kind of statistic.
struct StatisticRecord: Sendable {
  /// The use that the values of the column have to allow.
  let use: Expression.Use
  /// The type of results; nil if only the values determine it.
  let resultType: FieldType?
  /// The result for an attribute that no feature has.
  var ofNothing = AttributeValue.null
  var needs: FieldTotals.Needs = []
  /// The result for a group.
  let figure: @Sendable (FieldTotals, Int) -> AttributeValue
}

extension Statistic.Kind {
  var record: StatisticRecord {
    switch self {
    case .count:
      StatisticRecord(use: .value, resultType: .integer, ofNothing: .integer(0)) { .integer(Int64($0.counts[$1])) }
    case .sum:
      StatisticRecord(use: .number, resultType: .double) { totals, group in
        let numbers = totals.numbers[group]
        return numbers.count == 0 ? .null : numbers.integer.map(AttributeValue.integer) ?? .finite(numbers.sum)
      }
    case .mean: StatisticRecord(use: .number, resultType: .double) { .finite($0.numbers[$1].mean) }
    case .variance:
      StatisticRecord(use: .number, resultType: .double, needs: .deviations) { .finite($0.deviations[$1].variance) }
    case .standardDeviation:
      StatisticRecord(use: .number, resultType: .double, needs: .deviations) {
        .finite($0.deviations[$1].standardDeviation)
      }
    case .min:
      StatisticRecord(use: .value, resultType: nil, needs: .extremes) { $0.extremes[$1].least?.value ?? .null }
    case .median, .percentile:
      StatisticRecord(use: .number, resultType: .double, needs: .values) { $0.quantile(0.5, of: $1) }
    case .max:
      StatisticRecord(use: .value, resultType: nil, needs: .extremes) { $0.extremes[$1].greatest?.value ?? .null }
    }
  }

  /// Whether all values are kept and sorted, which takes too long for drawing clusters.
  public var needsAllValues: Bool { record.needs.contains(.values) }
  public var use: Expression.Use { record.use }
  public var resultType: FieldType? { record.resultType }
  public var ofNothing: AttributeValue { record.ofNothing }
}

extension AttributeValue {
  /// The number; null for nil and for one that is not finite.
  static func finite(_ number: Double?) -> AttributeValue {
    number.flatMap { $0.isFinite ? .double($0) : nil } ?? .null
  }
}
