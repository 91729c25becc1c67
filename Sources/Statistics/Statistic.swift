// Statistics of features by groups: what can be asked, and what is answered.

import Expressions
import FeatureStore
import Filtering
import Geometry

/// One figure about the features of a group.
public struct Statistic: Hashable, Sendable {
  public enum Kind: Hashable, Sendable, CaseIterable {
    /// The number of values that are not null; without a column that of features.
    case count
    /// Of numbers; values of other types do not count. Null without any, and where the result is not finite.
    case sum, mean
    /// Of a sample: the squared deviations from the mean, divided by one less than their number; its root. Null for fewer than two
    /// numbers.
    case variance, standardDeviation
    /// The first or last in the order of values: numbers, times, texts by code points, booleans. JSON has no order.
    case min, max
  }

  public let kind: Kind
  public let column: Int?

  public init(_ kind: Kind, of column: Int?) { (self.kind, self.column) = (kind, column) }
}

extension FeatureSchema {
  /// The type of a statistic's results; nil if only the values of its column determine it.
  public func resultType(of statistic: Statistic) -> FieldType? {
    statistic.kind.resultType ?? statistic.column.flatMap(declaredType)
  }
}

/// Features with equal values in some columns, and figures about them.
public struct FeatureGroup: Hashable, Sendable {
  /// The common values, in the order of the columns; null is a value.
  public let values: [AttributeValue]
  /// The number of features.
  public let count: Int
  /// In the order of the statistics.
  public let results: [AttributeValue]
}

/// The features that something is computed from.
public enum FeatureSelection: Sendable {
  /// Those for which all conditions are true.
  case matching([CompiledExpression])
  case rows([UInt32])
}

/// There are more groups than fit in the memory of a query.
public struct TooManyGroups: Error, Hashable {
  /// The greatest number of values: groups times columns and figures.
  public let limit: Int
}
