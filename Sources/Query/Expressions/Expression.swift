// The expression language of filters, labels, popups and derived values: a subset of OGC CQL2 text (OGC 21-065r2).

import Geometry
import TextFormatting

/// A parsed expression: literals, properties, comparison, `AND`, `OR`, `NOT`, `IS NULL`, `IN`, `BETWEEN`, `LIKE`,
/// `CASE`, arithmetic and functions (``ExpressionLanguage`` lists them). Spatial, temporal and array predicates are not
/// supported yet.
///
/// Precedence, highest first: unary minus, `^`, `* / % DIV`, `+ -`, predicates, `NOT`, `AND`, `OR`. As in CQL2's
/// grammar `-2^2` is 4, and `^` does not chain. A backslash escapes a quote or a backslash in a text, and a wildcard in
/// a pattern of `LIKE`; before other characters it stands for itself. (CQL2 does not define this.) Keywords and
/// functions are case-insensitive, property names are not.
///
/// Null means unknown: a comparison with it is neither true nor false (SQL's three-valued logic), and arithmetic and
/// functions of it are null, except `coalesce`, `iif` and `CASE`. A comparison of different types, a division by zero, and NaN
/// are null too. Integers and doubles compare exactly; an integer overflow gives a double. `/` divides reals, `DIV`
/// gives the integer part. Texts compare by Unicode code points. JSON is text for functions and `LIKE`, and not
/// comparable. A `DATE` is its midnight in UTC; compared with a `DATE` or `TIMESTAMP`, a text is parsed by RFC 3339.
public struct Expression: Hashable, Sendable {
  /// Maximum length of a text in bytes of UTF-8.
  public static let lengthLimit = 65_536
  /// Maximum nesting of parentheses and calls.
  public static let depthLimit = 100

  /// As given.
  public let text: String
  let tree: ExpressionTree

  /// Parses a text.
  ///
  /// ```swift
  /// let filter = try Expression("population > 1000 AND name LIKE 'B%'")
  /// filter.properties  // ["population", "name"]
  /// ```
  ///
  /// - Throws: ``ExpressionError`` with the position of the first error, including operands whose types never match.
  /// - Complexity: O(n); recursion follows parentheses and calls only, whose nesting is limited.
  public init(_ text: String) throws(ExpressionError) {
    self.text = text
    var parser = try ExpressionParser(text)
    tree = ExpressionTree(try parser.parse())
    try tree.checkTypes(in: text) { _ in .any }
  }

  /// The property names, each once, in order of first use.
  public var properties: [String] { tree.parts.properties }

  /// The number of operators, functions, names and constants.
  public var size: Int { tree.nodes.count }

  /// What an expression is used for.
  public enum Use: Sendable {
    /// A value of any type.
    case value
    /// A filter: its value has to be a truth value.
    case condition
    /// A quantity: class breaks, visual variables.
    case number

    var types: ScalarTypes {
      switch self {
      case .value: .any
      case .condition: .boolean
      case .number: .number
      }
    }
  }

  /// Refuses an expression that can never give a value of the required type.
  ///
  /// - Throws: ``ExpressionError`` of kind `type`.
  public func check(for use: Use) throws(ExpressionError) {
    try tree.checkResult(use.types, in: text) { _ in .any }
  }

  /// Refuses names other than these.
  ///
  /// - Throws: ``ExpressionError`` of kind `unknownProperty`, with the position of the first.
  public func check(names: [String]) throws(ExpressionError) {
    for (name, offset) in zip(tree.parts.properties, tree.parts.propertyOffsets)
    where !names.contains(where: { Text($0) == Text(name) }) {
      throw ExpressionError(
        .unknownProperty, at: offset, in: text.utf8, expected: "a property", found: name, available: names)
    }
  }

  /// Whether its value depends on text conventions: it calls a function whose name begins with `format`.
  public var isWrittenByConventions: Bool { tree.isWrittenByConventions }

  /// Resolves names to the columns of a schema.
  ///
  /// - Parameter conventions: used to format text; filters use the neutral ones.
  /// - Throws: ``ExpressionError``: `unknownProperty`, or `type` if a field's declared type never matches the other
  ///   operand, or the value never has the required type. Types only observed in values cause no error, since the next
  ///   value may have another.
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

  /// The value for the properties given by `property`, each requested once.
  ///
  /// - Parameter conventions: used to format text.
  /// - Throws: `unknownProperty` for a name for which it returns nil, whether or not the value depends on it.
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
