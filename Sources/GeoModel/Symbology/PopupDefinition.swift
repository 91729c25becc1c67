// Popups: what is told about a feature that somebody points at.

import Geometry
import Query
import TextFormatting

/// What a popup shows.
public struct PopupDefinition: Hashable, Sendable {
  /// One line of it.
  public struct Element: Hashable, Sendable {
    public let source: AttributeSource
    /// The field's name, or the expression, when nil.
    @Exact public private(set) var label: String?
    /// As of the functions `format` and `formatDate`, for one value.
    @Exact public private(set) var format: String?
    /// The source with `format` around it, and with `formatDate`; nil where the format is not for these.
    private let asNumber: AttributeSource?
    private let asDate: AttributeSource?

    /// - Throws: ``SymbologyError`` of reason `template` where the format is neither of numbers nor of dates.
    public init(source: AttributeSource, label: String? = nil, format: String? = nil) throws(SymbologyError) {
      self.source = source
      self.label = label
      self.format = format
      guard let format else {
        (asNumber, asDate) = (nil, nil)
        return
      }
      let value =
        switch source {
        case .field(let name): Self.quoted(name, by: "\"")
        case .expression(let expression): "(\(expression.text))"
        }
      let pattern = Self.quoted(format, by: "'")
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

    /// The source with the format around it, and whether that is taken for one of dates.
    ///
    /// A pattern for both, as `%d` is, counts as one of dates for fields of dates alone.
    func shown(for schema: FeatureSchema) -> (source: AttributeSource, isOfDates: Bool) {
      if case .field(let name) = source, let column = schema.column(named: name) {
        switch schema.declaredType(of: column) {
        case .date, .dateTime: if let asDate { return (asDate, true) }
        default: break
        }
      }
      if let asNumber { return (asNumber, false) }
      return (asDate ?? source, true)
    }

    private static func quoted(_ text: String, by quote: Unicode.Scalar) -> String {
      var result = String.UnicodeScalarView([quote])
      // By scalars: a mark that combines with a quote must not hide it. A backslash means something in texts alone.
      for scalar in text.unicodeScalars {
        let isDoubled = scalar == quote || scalar == "\\" && quote == "'"
        result.append(contentsOf: isDoubled ? [scalar, scalar] : [scalar])
      }
      result.append(quote)
      return String(result)
    }
  }
  public let title: Template?
  /// All fields when nil.
  public let elements: [Element]?

  public init(title: Template? = nil, elements: [Element]? = nil) {
    self.title = title
    self.elements = elements
  }

  /// Refuses what cannot be for a layer with these columns.
  public func check(for schema: FeatureSchema) throws(SymbologyError) {
    do { try title?.check(for: schema) } catch { throw error.under("title") }
    for (place, element) in (elements ?? []).enumerated() {
      do { try element.source.check(for: schema) } catch {
        throw error.under("elements", String(place), element.source.member)
      }
      guard let format = element.format else { continue }
      let (shown, isOfDates) = element.shown(for: schema)
      do { try shown.check(for: schema) } catch {
        throw SymbologyError(
          .template, at: ["elements", String(place), "format"],
          expected: isOfDates ? "a pattern of numbers, or %s" : "a pattern of dates, or %s", found: format)
      }
    }
  }
}

/// What a popup says of one feature.
public struct Popup: Hashable, Sendable {
  public struct Line: Hashable, Sendable {
    /// The field's name; nil for an expression.
    @Exact public private(set) var field: String?
    @Exact public private(set) var label: String
    public let value: AttributeValue
    /// What people read; nil for null.
    @Exact public private(set) var text: String?
  }
  @Exact public private(set) var title: String
  public let lines: [Line]
}

extension PopupDefinition {
  /// The popup of a row.
  ///
  /// - Parameter conventions: by which texts are made.
  public func popup(of row: FeatureRow, schema: FeatureSchema, by conventions: TextConventions) -> Popup {
    Popup(
      title: title?.text(of: row, schema: schema, by: conventions) ?? "",
      lines: lines(of: row, schema: schema, by: conventions))
  }

  private func lines(of row: FeatureRow, schema: FeatureSchema, by conventions: TextConventions) -> [Popup.Line] {
    guard let elements else {
      return (0..<schema.count).map { column in
        let value = row.value(column)
        let name = schema.name(of: column)
        return Popup.Line(field: name, label: name, value: value, text: value.shownText(by: conventions))
      }
    }
    return elements.map { element in
      let value = BoundSource(element.source, schema: schema, by: conventions).value(of: row)
      let shown =
        element.format == nil || value == .null
        ? value : BoundSource(element.shown(for: schema).source, schema: schema, by: conventions).value(of: row)
      var field: String?
      var name = ""
      switch element.source {
      case .field(let own):
        field = own
        name = own
      case .expression(let expression): name = expression.text
      }
      return Popup.Line(
        field: field, label: element.label ?? name, value: value, text: shown.shownText(by: conventions))
    }
  }
}
