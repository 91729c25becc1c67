// The expression language of filters, labels, popups and derived values: OGC CQL2 (OGC 21-065r2).

import Geometry
import TextFormatting

/// A parsed expression: literals, properties, comparison, `AND`, `OR`, `NOT`, `IS NULL`, `IN`, `BETWEEN`, `LIKE`,
/// `CASE`, arithmetic, functions, and relations of geometries, times and arrays (``ExpressionLanguage`` lists them).
///
/// Precedence, highest first: unary minus, `^`, `* / % DIV`, `+ -`, predicates, `NOT`, `AND`, `OR`. As in CQL2's grammar, `-2^2`
/// is 4, and `^` does not chain. In a text, a backslash begins an escape sequence: for a quote, a backslash or, with a letter, a
/// control character; in a `LIKE` pattern also for a wildcard. Before other characters it is literal, which CQL2 leaves open.
/// Keywords and functions are case-insensitive, property names are case-sensitive.
///
/// Null means unknown: a comparison with null is neither true nor false (SQL's three-valued logic), and arithmetic and functions
/// with null are null, except `coalesce`, `iif` and `CASE`. A comparison of different types, a division by zero, and NaN are
/// null, too. Integers and doubles compare exactly; an integer overflow gives a double. `/` divides reals, `DIV` gives the
/// integer part. Texts compare by Unicode code points. JSON is text for functions and `LIKE`, and not comparable. A `DATE` is its
/// midnight in UTC; a text that is compared with a `DATE` or `TIMESTAMP` is parsed by RFC 3339.
public struct Expression: Hashable, Sendable {
  /// Maximum length of a text in bytes of UTF-8.
  public static let lengthLimit = 65_536
  /// Maximum total size, in bytes, of the texts that functions make for one feature; a text that would exceed it is null.
  public static let textLimit = 1 << 20
  /// Maximum nesting of parentheses and calls.
  public static let depthLimit = 100
  /// Maximum nesting of values in CQL2 JSON, where one parenthesis of the text may be several operations. Without optimisation,
  /// reading needs 11 KB of stack per level.
  public static let jsonDepthLimit = 300

  /// The text as given; for an expression given as JSON, the same expression as text.
  public let text: String
  let tree: ExpressionTree
  /// Nil for an expression given as text.
  let source: JSONSource?

  /// Parses a text.
  ///
  /// ```swift
  /// let filter = try Expression("population > 1000 AND name LIKE 'B%'")
  /// filter.properties  // ["population", "name"]
  /// ```
  ///
  /// - Throws: ``ExpressionError`` with the position of the first error, including operands whose types never match.
  /// - Complexity: O(n); recursion follows parentheses and calls only, whose nesting is limited.
  public init(_ text: String) throws(ExpressionError) { try self.init(text, nil) }

  init(_ other: Expression, tree: ExpressionTree) {
    (text, source) = (other.text, other.source)
    self.tree = tree
  }

  init(_ text: String, _ source: JSONSource?) throws(ExpressionError) {
    self.text = text
    self.source = source
    do throws(ExpressionError) {
      var parser = try ExpressionParser(text)
      tree = ExpressionTree(try parser.parse())
      try tree.checkTypes(in: text) { _ in .any }
    } catch { throw error.about(source) }
  }

  /// The property names, each once, in order of first use.
  public var properties: [String] { tree.parts.properties }

  /// The number of operators, functions, names and constants.
  public var size: Int { tree.nodes.count }

  /// The purpose of an expression.
  public enum Use: Sendable {
    /// A value of any type.
    case value
    /// A filter: its value must be a truth value.
    case condition
    /// A number, for class breaks and visual variables.
    case number

    var types: ScalarTypes {
      switch self {
      case .value: .any
      case .condition: .boolean
      case .number: .number
      }
    }

    /// Whether the use allows values of a declared type; true if no type is declared.
    package func allows(_ type: FieldType?) -> Bool { !ScalarTypes(type).isDisjoint(with: types) }
  }

  /// Throws if the expression can never have a value of the required type.
  ///
  /// - Throws: ``ExpressionError`` of kind `type`.
  public func check(for use: Use) throws(ExpressionError) {
    do throws(ExpressionError) { try tree.checkResult(use.types, in: text) { _ in .any } } catch {
      throw error.about(source)
    }
  }

  /// Throws if the expression has other names than these.
  ///
  /// - Throws: ``ExpressionError`` of kind `unknownProperty`, with the position of the first unknown name.
  public func check(names: [String]) throws(ExpressionError) {
    for (number, name) in tree.parts.properties.enumerated()
    where !names.contains(where: { Text($0) == Text(name) }) {
      throw unknownProperty(number, available: names)
    }
  }

  private func unknownProperty(
    _ number: Int, expected: String = "a property", available: [String] = []
  ) -> ExpressionError {
    let (name, offset) = (tree.parts.properties[number], tree.parts.propertyOffsets[number])
    let isQuoted = source == nil && text.utf8.dropFirst(offset).first == UInt8(ascii: "\"")
    let meant = isQuoted ? "\(Expression.quoted(name)) for a text" : nil
    return ExpressionError(
      .unknownProperty, at: offset, in: text.utf8, expected: meant.map { "\(expected), or \($0)" } ?? expected,
      found: name, available: available
    ).meaning(meant).about(source)
  }

  /// Throws for names other than those of these fields, and for operations that never have a value with the fields' types.
  ///
  /// - Throws: ``ExpressionError`` of kind `unknownProperty` or `type`, as ``compiled(for:as:by:)``.
  public func check(fields: [(name: String, type: FieldType?)], for use: Use) throws(ExpressionError) {
    try check(names: fields.map(\.name))
    let types = tree.parts.properties.map { name in
      ScalarTypes(fields.first { Text($0.name) == Text(name) }?.type)
    }
    for case .shape(let number) in tree.nodes {
      throw ExpressionError(
        .type, at: tree.parts.propertyOffsets[number], in: text.utf8, expected: ScalarTypes.geometry.words,
        found: types[number].words
      ).about(source)
    }
    try check(tree, for: use) { types[$0] }
  }

  private func check(
    _ tree: ExpressionTree, for use: Use, _ type: (Int) -> ScalarTypes
  ) throws(ExpressionError) {
    do throws(ExpressionError) {
      try tree.checkTypes(in: text, type)
      try tree.checkResult(use.types, in: text, type)
    } catch { throw error.about(source) }
  }

  /// Whether the value depends on text conventions: whether it calls a function whose name begins with `format`.
  public var isWrittenByConventions: Bool { tree.isWrittenByConventions }

  /// Resolves names. Returns the column of each property, `Int.max` for the geometry, and the tree in which such a name stands
  /// for the geometry.
  ///
  /// - Throws: ``ExpressionError``, as for compiling an expression.
  package func resolved(
    for schema: some PropertySchema, as use: Use
  ) throws(ExpressionError) -> (ExpressionTree, [Int]) {
    let (tree, columns) = try resolved(for: schema)
    // A name that stands for the geometry has a type of its own.
    try check(tree, for: use) { property in
      columns[property] == .max ? .geometry : ScalarTypes(schema.declaredType(of: columns[property]))
    }
    return (tree, columns)
  }

  private func resolved(for schema: some PropertySchema) throws(ExpressionError) -> (ExpressionTree, [Int]) {
    let columns = tree.parts.properties.map { schema.column(named: $0) ?? .max }
    var parts = tree.parts
    parts.compareTimes { columns[$0] != .max && schema.isTime(columns[$0]) }
    for (index, node) in tree.nodes.enumerated() {
      switch node {
      case .shape(let number) where !schema.isGeometry(parts.properties[number]):
        guard columns[number] == .max else {
          throw ExpressionError(
            .type, at: tree.parts.propertyOffsets[number], in: text.utf8, expected: ScalarTypes.geometry.words,
            found: "the field `\(parts.properties[number])`"
          ).about(source)
        }
        throw unknownProperty(number, expected: "the geometry", available: schema.geometryNames)
      case .property(let number) where columns[number] == .max:
        guard schema.isGeometry(parts.properties[number]) else {
          throw unknownProperty(number, available: schema.names)
        }
        parts.nodes[index] = .shape(number)
      default: break
      }
    }
    do throws(ExpressionError) { parts.spatialTests = try tree.spatialTests(in: text) } catch {
      throw error.about(source)
    }
    let isSame = parts.spatialTests.isEmpty && !columns.contains { $0 == .max || schema.isTime($0) }
    return (isSame ? tree : ExpressionTree(parts), columns)
  }

  /// The value of the expression. `property` gives the value of each property and is called once for each.
  ///
  /// - Parameter conventions: used to format text.
  /// - Throws: `unknownProperty` if `property` returns nil, whether or not the value depends on that property.
  public func evaluated(
    by conventions: TextConventions = .neutral, _ property: (String) -> AttributeValue?
  ) throws(ExpressionError) -> AttributeValue {
    var values: [AttributeValue] = []
    for (number, name) in tree.parts.properties.enumerated() {
      guard let value = property(name) else { throw unknownProperty(number) }
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
