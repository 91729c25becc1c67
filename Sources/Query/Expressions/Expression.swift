// The one language for filters, labels, popups and derived values: a subset of OGC CQL2 text (OGC 21-065r2).

import Geometry
import TextFormatting

/// A parsed expression: literals, properties, comparison, `AND`, `OR`, `NOT`, `IS NULL`, `IN`, `BETWEEN`, `LIKE`, arithmetic and
/// functions. Spatial, temporal and array predicates are not part of it yet.
///
/// Precedence, the tightest first: unary minus, `^`, `* / % DIV`, `+ -`, predicates, `NOT`, `AND`, `OR`. As in CQL2's grammar
/// `-2^2` is 4, and `^` does not chain. In a text a backslash takes a quote or a backslash behind it as it is, in a pattern of `LIKE` a
/// wildcard too; elsewhere it is a character. (CQL2 leaves open what stands behind it.) Keywords and functions are read in any case, property names as they are.
///
/// Null is "not known": a comparison with it is neither true nor false (SQL's three-valued logic), and any arithmetic or function of
/// it is null, save `coalesce` and `iif`. So are a comparison of unlike types, a division by zero, and NaN. Integers and doubles
/// compare exactly; an integer that overflows goes on as a double. `/` divides reals, `DIV` gives the integer part. Texts compare by
/// their Unicode code points. JSON is its text to functions and `LIKE`, and compares with nothing. A `DATE` is its midnight in UTC; where it or a `TIMESTAMP` meets a text, the text is read by RFC 3339.
public struct Expression: Hashable, Sendable {
  /// The most bytes of UTF-8 in a text.
  public static let lengthLimit = 65_536
  /// The most parentheses and calls inside one another.
  public static let depthLimit = 100

  /// As it was given.
  public let text: String
  let tree: ExpressionTree

  /// Parses a text.
  ///
  /// - Throws: ``ExpressionError`` with the place of the first thing that is wrong, operands that can never go together included.
  /// - Complexity: O(n); the recursion follows parentheses and calls alone, and those have a limit.
  public init(_ text: String) throws(ExpressionError) {
    self.text = text
    var parser = try ExpressionParser(text)
    tree = ExpressionTree(try parser.parse())
    try tree.checkTypes(in: text) { _ in .any }
  }

  /// The names it refers to, each once, in the order of the text.
  public var properties: [String] { tree.parts.properties }

  /// How many operators, functions, names and constants it has.
  public var size: Int { tree.nodes.count }

  /// What the value of an expression is for.
  public enum Use: Sendable {
    /// A value of any type.
    case value
    /// To be true of some features: a filter.
    case condition
    /// To be measured: class breaks, visual variables.
    case number

    var types: ScalarTypes {
      switch self {
      case .value: .any
      case .condition: .boolean
      case .number: .number
      }
    }
  }

  /// Refuses an expression that can never give what it is for, whatever its properties are.
  ///
  /// - Throws: ``ExpressionError`` of kind `type`.
  public func check(for use: Use) throws(ExpressionError) {
    try tree.checkResult(use.types, in: text) { _ in .any }
  }

  /// Refuses names other than these.
  ///
  /// - Throws: ``ExpressionError`` of kind `unknownProperty`, with the place of the first.
  public func check(names: [String]) throws(ExpressionError) {
    for (name, offset) in zip(tree.parts.properties, tree.parts.propertyOffsets)
    where !names.contains(where: { Text($0) == Text(name) }) {
      throw ExpressionError(
        .unknownProperty, at: offset, in: text.utf8, expected: "a property", found: name, available: names)
    }
  }

  /// Whether its value may be another by other conventions: it has a function in it whose name begins with `format`.
  public var isWrittenByConventions: Bool { tree.isWrittenByConventions }

  /// The expression with its names replaced by a schema's columns.
  ///
  /// - Parameter conventions: by which it makes text; a filter has the neutral ones.
  /// - Throws: ``ExpressionError``: `unknownProperty`, or `type` where a field's declared type cannot go with the other operand or
  ///   the value can never be what it is for. Types that were only seen in values are no reason, since the next value may be of
  ///   another.
  public func compiled(
    for schema: FeatureSchema, as use: Use = .value, by conventions: TextConventions = .neutral
  ) throws(ExpressionError) -> CompiledExpression {
    var columns: [Int] = []
    for (name, offset) in zip(tree.parts.properties, tree.parts.propertyOffsets) {
      guard let column = schema.column(named: name) else {
        throw ExpressionError(
          .unknownProperty, at: offset, in: text.utf8, expected: "a property", found: name,
          available: schema.fields.map(\.name.string))
      }
      columns.append(column)
    }
    let type = { (property: Int) in ScalarTypes(schema.declaredType(of: columns[property])) }
    try tree.checkTypes(in: text, type)
    try tree.checkResult(use.types, in: text, type)
    return CompiledExpression(tree: tree, columns: columns, conventions: conventions)
  }

  /// The value for the properties that `property` gives, each asked for once.
  ///
  /// - Parameter conventions: by which it makes text.
  /// - Throws: `unknownProperty` for a name for which it gives nil, whether or not the value depends on it.
  public func evaluated(
    by conventions: TextConventions = .neutral, _ property: (String) -> AttributeValue?
  ) throws(ExpressionError) -> AttributeValue {
    var values: [AttributeValue] = []
    for (name, offset) in zip(tree.parts.properties, tree.parts.propertyOffsets) {
      guard let value = property(name) else {
        throw ExpressionError(.unknownProperty, at: offset, in: text.utf8, expected: "a property", found: name)
      }
      values.append(value)
    }
    return tree.withEvaluator(GivenValues(values: values), by: conventions) { $0.value(tree.root).attribute }
  }

  public static func == (left: Expression, right: Expression) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}
