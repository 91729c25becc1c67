// The sources of values for renderers, labels and popups, and how these values are compared, converted and formatted.

import Expressions
import FeatureStore
import Filtering
import Geometry
import TextFormatting

/// The source of a value: a field, or an expression over fields.
public enum AttributeSource: Hashable, Sendable {
  case field(Text)
  case expression(Expression)

  /// The names of the fields that it reads.
  public var fields: [String] {
    switch self {
    case .field(let name): [name.string]
    case .expression(let expression): expression.properties
    }
  }

  /// Throws unless the source can have a value, of a suitable type, in a layer with these columns.
  ///
  /// Fields without a declared type, such as attributes of graphics, are accepted: the next value may have any type.
  ///
  /// - Parameter path: path of the source from the value given, for errors.
  public func check(
    for schema: FeatureSchema, as use: Expression.Use = .value, at path: String...
  ) throws(SymbologyError) {
    switch self {
    case .field(let field):
      let name = field.string
      guard let column = schema.column(named: name) else {
        throw SymbologyError(
          .unknownField(name, available: schema.fields.map(\.name.string)), at: path,
          expected: "a field of the layer", found: name)
      }
      guard !schema.allows(use, of: column) else { return }
      let type = schema.declaredType(of: column)?.rawValue ?? "unknown"
      throw SymbologyError(.fieldType(name), at: path, expected: "a field of numbers", found: type)
    case .expression(let expression):
      do { _ = try expression.compiled(for: schema, as: use) } catch { throw SymbologyError(error, at: path) }
    }
  }
}

/// A source bound to the columns of a store, for evaluation over many rows.
struct BoundSource: Sendable {
  private enum Evaluation: Sendable {
    /// A field that no feature has.
    case null
    case column(Int)
    case compiled(CompiledExpression)
    /// An expression with fields that no feature has yet; they are null.
    case named(Expression, FeatureSchema, TextConventions)
  }
  private let evaluation: Evaluation

  /// - Parameter conventions: for formatting in expressions.
  init(_ source: AttributeSource, schema: FeatureSchema, by conventions: TextConventions = .neutral) {
    switch source {
    case .field(let name): evaluation = schema.column(named: name.string).map(Evaluation.column) ?? .null
    case .expression(let expression):
      if let compiled = try? expression.compiled(for: schema, by: conventions) {
        evaluation = .compiled(compiled)
      } else {
        evaluation = .named(expression, schema, conventions)
      }
    }
  }

  /// The value for a row; null if the expression has none.
  func value(of row: FeatureRow) -> AttributeValue {
    switch evaluation {
    case .null: return .null
    case .column(let column): return row.value(column)
    case .compiled(let compiled): return compiled.value(of: row)
    case .named(let expression, let schema, let conventions):
      let value = try? expression.evaluated(by: conventions) { name in
        schema.column(named: name).map { row.value($0) } ?? .null
      }
      return value ?? .null
    }
  }

  /// The value as a number; nil if it is not a finite number. Reads columns without boxing.
  func number(of row: FeatureRow) -> Double? {
    guard case .column(let column) = evaluation else { return value(of: row).finiteNumber }
    return row.withAttribute(column) { value in
      switch value {
      case .integer(let number): Double(number)
      case .double(let number): number.isFinite ? number : nil
      case .null, .bool, .string, .json: nil
      }
    }
  }

  func isTrue(for row: FeatureRow) -> Bool {
    if case .compiled(let compiled) = evaluation { return compiled.isTrue(for: row) }
    return value(of: row) == .bool(true)
  }
}

extension AttributeValue {
  /// The value as a number; nil for other types, infinities and NaN.
  public var finiteNumber: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .double(let number): number.isFinite ? number : nil
    case .null, .bool, .string, .json: nil
    }
  }

  /// A normal form in which equal values are identical: 1.0 becomes 1, "1" stays a text, NaN becomes null.
  var comparable: AttributeValue {
    guard case .double(let number) = self else { return self }
    if number.isNaN { return .null }
    return Int64(exactly: number).map(AttributeValue.integer) ?? self
  }

  /// The text for display; nil for null. Digits are not grouped, since numbers may be years or identifiers.
  public func shownText(by conventions: TextConventions) -> String? {
    switch self {
    case .null: nil
    case .bool(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .double(let number): conventions.pointed(shown(number))
    case .string(let text), .json(let text): text
    }
  }
}

/// The shortest text that parses to the number, without a fraction of zero.
func shown(_ number: Double) -> String {
  let text = "\(number)"
  return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}
