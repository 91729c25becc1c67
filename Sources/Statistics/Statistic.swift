// Statistics of features by groups: their definitions and results.

import FeatureStore
import Filtering
import Geometry

/// One statistic of the features of a group.
public struct Statistic: Hashable, Sendable {
  public enum Kind: Hashable, Sendable, CaseIterable {
    /// The number of values that are not null; without a column, the number of features.
    case count
    /// Of numbers; values of other types are ignored. Null if there are none or the result is not finite.
    case sum, mean
    /// Of a sample: the sum of squared deviations from the mean, divided by the count less one; and its square root. Null for
    /// fewer than two numbers.
    case variance, standardDeviation
    /// The first or last value in the order of values: numbers, times, texts by code points, booleans. JSON has no order.
    case min, max
    /// A value among the sorted numbers, interpolated between two; null without numbers.
    case median, percentile
  }

  public let kind: Kind
  public let column: Int?
  /// In 0...100, for ``Kind/percentile``.
  public let percentile: Double?

  public init(_ kind: Kind, of column: Int?, percentile: Double? = nil) {
    (self.kind, self.column, self.percentile) = (kind, column, percentile)
  }

  /// The result for a group.
  var figure: @Sendable (FieldTotals, Int) -> AttributeValue {
    guard let percentile else { return kind.record.figure }
    return { $0.quantile(percentile / 100, of: $1) }
  }
}

extension FeatureSchema {
  /// The type of a statistic's results; nil if only the values of its column determine it.
  public func resultType(of statistic: Statistic) -> FieldType? {
    statistic.kind.resultType ?? statistic.column.flatMap(declaredType)
  }
}

/// Features with equal values in some columns, and their statistics.
public struct FeatureGroup: Hashable, Sendable {
  /// The common values, in the order of the columns; null is a value.
  public let values: [AttributeValue]
  /// The number of features.
  public let count: Int
  /// In the order of the statistics.
  public let results: [AttributeValue]
}

/// The features from which something is computed.
public enum FeatureSelection: Sendable {
  /// Features for which all conditions are true.
  case matching([CompiledExpression])
  case rows([UInt32])
}

/// The number of groups exceeds the memory limit of a query.
public struct TooManyGroups: Error, Hashable {
  /// Maximum number of values: groups times columns and statistics.
  public let limit: Int
}
