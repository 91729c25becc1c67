// Conditions: expressions that are true or false of a feature, as in filters and definition expressions.

import Query

extension Expression {
  /// Parses a condition without a schema.
  ///
  /// - Parameter path: JSON Pointer of the text from the params, for errors.
  static func condition(_ text: String, at path: String) throws(ModelError) -> Expression {
    do throws(ExpressionError) {
      let expression = try Expression(text)
      try expression.check(for: .condition)
      return expression
    } catch { throw .expression(error, path: path) }
  }

  /// Parses a condition over values by these names.
  ///
  /// - Parameter path: JSON Pointer of the text from the params, for errors.
  public static func condition(
    _ text: String, over names: [String], at path: String
  ) throws(ModelError) -> Expression {
    let expression = try condition(text, at: path)
    do throws(ExpressionError) { try expression.check(names: names) } catch { throw .expression(error, path: path) }
    return expression
  }

  /// Parses a condition and compiles it for a schema.
  ///
  /// - Parameter path: JSON Pointer of the text from the params, for errors.
  public static func condition(
    _ text: String, over schema: FeatureSchema, at path: String
  ) throws(ModelError) -> (Expression, CompiledExpression) {
    do throws(ExpressionError) {
      let expression = try Expression(text)
      return (expression, try expression.compiled(for: schema, as: .condition))
    } catch { throw .expression(error, path: path) }
  }
}
