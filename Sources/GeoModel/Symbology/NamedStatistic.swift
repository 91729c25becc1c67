// A statistic as clients request it: of an attribute by name, with a name for the result.

import FeatureStore
import Geometry
import Statistics

/// A statistic of features, by names.
public struct NamedStatistic: Hashable, Sendable {
  /// The name of the result.
  public var name: Text
  public var kind: Statistic.Kind
  /// The attribute; nil to count features.
  public var field: Text?
  /// In 0...100, for a percentile.
  public var percentile: Double?

  public init(name: String, _ kind: Statistic.Kind, of field: String?, percentile: Double? = nil) {
    (self.name, self.kind, self.field, self.percentile) = (Text(name), kind, Text(field), percentile)
  }

  /// Throws unless features with these columns have the attribute, of a suitable type.
  ///
  /// - Parameter schema: the columns of the features; nil if attributes are not declared.
  public func check(for schema: FeatureSchema?) throws(SymbologyError) {
    guard (kind == .percentile) == (percentile != nil) else {
      throw SymbologyError(
        .form, at: ["percentile"], expected: kind == .percentile ? "number in 0...100" : "absent, or the type percentile",
        found: percentile.map { "\($0)" } ?? "absent")
    }
    guard let field else {
      guard kind != .count else { return }
      throw SymbologyError(
        .form, at: ["field"], expected: "name of an attribute", found: "nothing, as only count is without")
    }
    if let schema { try AttributeSource.field(field).check(for: schema, as: kind.use, at: "field") }
  }

  /// The statistic of a store's column; nil if no feature has had the attribute.
  public func bound(to schema: FeatureSchema) -> Statistic? {
    guard let field else { return Statistic(kind, of: nil) }
    return schema.column(named: field.string).map { Statistic(kind, of: $0, percentile: percentile) }
  }
}
