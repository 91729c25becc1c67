// A statistic as clients ask for it: of an attribute by its name, and under a name of its own.

import FeatureStore
import Geometry
import Statistics

/// A figure about features, by names.
public struct NamedStatistic: Hashable, Sendable {
  /// What it is called.
  public var name: Text
  public var kind: Statistic.Kind
  /// The attribute; nil for the features themselves, which can only be counted.
  public var field: Text?

  public init(name: String, _ kind: Statistic.Kind, of field: String?) {
    (self.name, self.kind, self.field) = (Text(name), kind, Text(field))
  }

  /// Throws unless features with these columns have the attribute, of a suitable type.
  ///
  /// - Parameter schema: nil where attributes are not declared.
  public func check(for schema: FeatureSchema?) throws(SymbologyError) {
    guard let field else {
      guard kind != .count else { return }
      throw SymbologyError(
        .form, at: ["field"], expected: "name of an attribute", found: "nothing, as only count is without")
    }
    if let schema { try AttributeSource.field(field).check(for: schema, as: kind.use, at: "field") }
  }

  /// The statistic of a store's column; nil where no feature has had the attribute.
  public func bound(to schema: FeatureSchema) -> Statistic? {
    guard let field else { return Statistic(kind, of: nil) }
    return schema.column(named: field.string).map { Statistic(kind, of: $0) }
  }
}
