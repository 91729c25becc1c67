// Compiles expressions: resolves their names to columns of a store.

import Expressions
import FeatureStore
import Geometry
import TextFormatting

extension Expression {
  /// Resolves names to the columns of a schema.
  ///
  /// - Parameter conventions: used to format text; filters use the neutral ones.
  /// - Throws: ``ExpressionError``: `unknownProperty`, or `type` if a field's declared type never matches the other operand, or
  ///   if the value never has the required type. Types that are only observed in values cause no error, since the next value may
  ///   have another type.
  public func compiled(
    for schema: FeatureSchema, as use: Use = .value, by conventions: TextConventions = .neutral
  ) throws(ExpressionError) -> CompiledExpression {
    let (tree, columns) = try resolved(for: schema, as: use)
    return CompiledExpression(tree: tree, columns: columns, conventions: conventions)
  }
}

extension FeatureSchema {
  /// Whether the use allows values of a column, by its declared type; true if no type is declared.
  public func allows(_ use: Expression.Use, of column: Int) -> Bool {
    use.allows(declaredType(of: column))
  }
}

extension FeatureSchema: PropertySchema {}
