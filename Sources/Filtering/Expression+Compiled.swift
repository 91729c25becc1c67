// Names of an expression become columns of a store.

import Expressions
import FeatureStore
import Geometry
import TextFormatting

extension Expression {
  /// Resolves names to the columns of a schema.
  ///
  /// - Parameter conventions: used to format text; filters use the neutral ones.
  /// - Throws: ``ExpressionError``: `unknownProperty`, or `type` if a field's declared type never matches the other
  ///   operand, or the value never has the required type. Types only observed in values cause no error, since the next
  ///   value may have another.
  public func compiled(
    for schema: FeatureSchema, as use: Use = .value, by conventions: TextConventions = .neutral
  ) throws(ExpressionError) -> CompiledExpression {
    let (tree, columns) = try resolved(for: schema, as: use)
    return CompiledExpression(tree: tree, columns: columns, conventions: conventions)
  }
}

extension FeatureSchema {
  /// Whether values of a column suit the use, by its declared type; true without one.
  public func allows(_ use: Expression.Use, of column: Int) -> Bool {
    use.allows(declaredType(of: column))
  }
}

extension FeatureSchema: PropertySchema {}
