// Expressions that are to be true of features: what filters and definition expressions are.

import Query

extension Expression {
  /// Parses what is to be true of features, whatever fields they have.
  ///
  /// - Parameter path: where it stands, for errors.
  static func condition(_ text: String, at path: String) throws(ModelError) -> Expression {
    do throws(ExpressionError) {
      let expression = try Expression(text)
      try expression.check(for: .condition)
      return expression
    } catch { throw .expression(error, path: path) }
  }

  /// Parses and compiles what is to be true of features.
  ///
  /// - Parameter path: where it stands, for errors.
  public static func condition(
    _ text: String, over schema: FeatureSchema, at path: String
  ) throws(ModelError) -> (Expression, CompiledExpression) {
    do throws(ExpressionError) {
      let expression = try Expression(text)
      return (expression, try expression.compiled(for: schema, as: .condition))
    } catch { throw .expression(error, path: path) }
  }
}
