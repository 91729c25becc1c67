// Where renderers, labels and popups get their values from, and how those are compared, measured and shown.

import Geometry
import Query
import TextFormatting

/// What a value is taken from: a field, or an expression over fields.
public enum AttributeSource: Hashable, Sendable {
  case field(String)
  case expression(Expression)

  /// The fields it reads.
  public var fields: [String] {
    switch self {
    case .field(let name): [name]
    case .expression(let expression): expression.properties
    }
  }

  /// Refuses what a layer with these columns could never give a value for, or never one that can be used so.
  ///
  /// Where no type is declared, as for the attributes of graphics, the next value may be of any.
  public func check(for schema: FeatureSchema, as use: Expression.Use = .value) throws(SymbologyError) {
    switch self {
    case .field(let name):
      guard let column = schema.column(named: name) else {
        throw SymbologyError(
          .unknownField(name, available: schema.fields.map(\.name)), expected: "a field of the layer", found: name)
      }
      guard !schema.allows(use, of: column) else { return }
      let type = schema.declaredType(of: column)?.rawValue ?? "unknown"
      throw SymbologyError(.fieldType(name), expected: "a field of numbers", found: type)
    case .expression(let expression):
      do { _ = try expression.compiled(for: schema, as: use) } catch { throw SymbologyError(error) }
    }
  }
}

extension AttributeSource {
  /// Fields are the same where they are written alike.
  public static func == (left: AttributeSource, right: AttributeSource) -> Bool {
    switch (left, right) {
    case (.field(let left), .field(let right)): left.isWritten(as: right)
    case (.expression(let left), .expression(let right)): left == right
    default: false
    }
  }
}

/// A source tied to the columns of a store, to be asked for many rows.
struct BoundSource: Sendable {
  private enum Way: Sendable {
    /// A field that no feature has had yet.
    case nothing
    case column(Int)
    case compiled(CompiledExpression)
    /// An expression over fields of which some are not there yet: those are null.
    case named(Expression, FeatureSchema, TextConventions)
  }
  private let way: Way

  /// - Parameter conventions: by which an expression makes text.
  init(_ source: AttributeSource, schema: FeatureSchema, by conventions: TextConventions = .neutral) {
    switch source {
    case .field(let name): way = schema.column(named: name).map(Way.column) ?? .nothing
    case .expression(let expression):
      if let compiled = try? expression.compiled(for: schema, by: conventions) {
        way = .compiled(compiled)
      } else {
        way = .named(expression, schema, conventions)
      }
    }
  }

  /// What it gives for a row; null where an expression has no value.
  func value(of row: FeatureRow) -> AttributeValue {
    switch way {
    case .nothing: return .null
    case .column(let column): return row.value(column)
    case .compiled(let compiled): return compiled.value(of: row)
    case .named(let expression, let schema, let conventions):
      let value = try? expression.evaluated(by: conventions) { name in
        schema.column(named: name).map { row.value($0) } ?? .null
      }
      return value ?? .null
    }
  }

  /// A number without a detour; nil where there is none, or none that is finite.
  func number(of row: FeatureRow) -> Double? {
    guard case .column(let column) = way else { return value(of: row).finiteNumber }
    return row.withAttribute(column) { value in
      switch value {
      case .integer(let number): Double(number)
      case .double(let number) where number.isFinite: number
      default: nil
      }
    }
  }

  func isTrue(for row: FeatureRow) -> Bool {
    if case .compiled(let compiled) = way { return compiled.isTrue(for: row) }
    return value(of: row) == .bool(true)
  }
}

extension AttributeValue {
  /// The number that it is; nil for anything else, infinities and NaN.
  public var finiteNumber: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .double(let number) where number.isFinite: number
    default: nil
    }
  }

  /// The same value in the one form that stands for all that equal it: 1.0 is 1, and "1" is neither. NaN is null.
  var comparable: AttributeValue {
    guard case .double(let number) = self else { return self }
    if number.isNaN { return .null }
    return Int64(exactly: number).map(AttributeValue.integer) ?? self
  }

  /// What people read; nil for null. Numbers are not grouped: they may be years, or names.
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

/// A number as people read it: the shortest text that reads back to it, without a fraction of nothing.
func shown(_ number: Double) -> String {
  let text = "\(number)"
  return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}
