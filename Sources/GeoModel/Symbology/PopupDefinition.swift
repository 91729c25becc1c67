// Popups: title and lines for one feature.

import Expressions
import FeatureStore
import Geometry
import TextFormatting

/// The definition of a popup.
public struct PopupDefinition: Hashable, Sendable {
  /// The definition of one line.
  public struct Element: Hashable, Sendable {
    public private(set) var source: AttributeSource
    /// Nil for the field's name or the expression's text.
    public var label: Text?
    /// A pattern as in the functions `format` and `formatDate`, applied to the value.
    public var format: Text?
    /// The source wrapped in `format`, and in `formatDate`; nil if the pattern is not valid for these.
    private var asNumber: AttributeSource?
    private var asDate: AttributeSource?

    /// - Throws: ``SymbologyError`` of reason `template` if the format is a pattern neither of numbers nor of dates.
    public init(source: AttributeSource, label: String? = nil, format: String? = nil) throws(SymbologyError) {
      self.source = source
      self.label = Text(label)
      self.format = Text(format)
      guard let format else {
        (asNumber, asDate) = (nil, nil)
        return
      }
      let value =
        switch source {
        case .field(let name): Expression.quoted(name.string, by: "\"")
        case .expression(let expression): "(\(expression.text))"
        }
      let pattern = Expression.quoted(format)
      asDate = (try? Expression("formatDate(\(value), \(pattern))")).map(AttributeSource.expression)
      do { asNumber = .expression(try Expression("format(\(value), \(pattern))")) } catch {
        guard asDate == nil else {
          asNumber = nil
          return
        }
        throw SymbologyError(
          .template, at: ["format"], expected: "\(error.expected), or the pattern of a date", found: error.found)
      }
    }

    mutating func mapSources(
      _ map: (AttributeSource) throws(SymbologyError) -> AttributeSource
    ) throws(SymbologyError) {
      source = try map(source)
      if let asNumber { self.asNumber = try map(asNumber) }
      if let asDate { self.asDate = try map(asDate) }
    }

    /// The source wrapped in its format function, and whether that is `formatDate`.
    ///
    /// A pattern that is valid for both functions, such as `%d`, formats dates only for date fields.
    func shown(for schema: FeatureSchema) -> (source: AttributeSource, isOfDates: Bool) {
      if case .field(let name) = source, let column = schema.column(named: name.string),
        schema.declaredType(of: column)?.isOfDates ?? false, let asDate
      {
        return (asDate, true)
      }
      if let asNumber { return (asNumber, false) }
      return (asDate ?? source, true)
    }
  }
  public let title: Template?
  /// Nil for all fields.
  public let elements: [Element]?

  public init(title: Template? = nil, elements: [Element]? = nil) {
    self.title = title
    self.elements = elements
  }

  /// Throws unless all sources and formats are valid for a layer with these columns.
  public func check(for schema: FeatureSchema) throws(SymbologyError) {
    do { try title?.check(for: schema) } catch { throw error.under("title") }
    for (index, element) in (elements ?? []).enumerated() {
      try element.source.check(for: schema, at: "elements", String(index), element.source.member)
      guard let format = element.format else { continue }
      let (shown, isOfDates) = element.shown(for: schema)
      do { try shown.check(for: schema) } catch {
        throw SymbologyError(
          .template, at: ["elements", String(index), "format"],
          expected: isOfDates ? "a pattern of numbers, or %s" : "a pattern of dates, or %s", found: format.string)
      }
    }
  }
}

/// The popup of one feature.
public struct Popup: Hashable, Sendable {
  public struct Line: Hashable, Sendable {
    /// The field's name; nil for an expression.
    public let field: Text?
    public let label: Text
    public let value: AttributeValue
    /// The formatted value; nil for null.
    public var text: Text?
  }
  public let title: Text
  public let lines: [Line]
}

extension PopupDefinition {
  /// The popup of a row.
  ///
  /// - Parameter conventions: for formatting.
  public func popup(of row: FeatureRow, schema: FeatureSchema, by conventions: TextConventions) -> Popup {
    Popup(
      title: Text(title?.text(of: row, schema: schema, by: conventions) ?? ""),
      lines: lines(of: row, schema: schema, by: conventions))
  }

  private func lines(of row: FeatureRow, schema: FeatureSchema, by conventions: TextConventions) -> [Popup.Line] {
    guard let elements else {
      return (0..<schema.count).map { column in
        let value = row.value(column)
        let name = schema.name(of: column)
        return Popup.Line(
          field: Text(name), label: Text(name), value: value, text: Text(value.shownText(by: conventions)))
      }
    }
    return elements.map { element in
      let value = BoundSource(element.source, schema: schema, by: conventions).value(of: row)
      let shown =
        element.format == nil || value == .null
        ? value : BoundSource(element.shown(for: schema).source, schema: schema, by: conventions).value(of: row)
      let (field, name): (Text?, Text) =
        switch element.source {
        case .field(let name): (name, name)
        case .expression(let expression): (nil, Text(expression.text))
        }
      return Popup.Line(
        field: field, label: element.label ?? name, value: value, text: Text(shown.shownText(by: conventions)))
    }
  }
}
