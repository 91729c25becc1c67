// Popups: what is told about a feature that somebody points at.

import Geometry
import Query

/// What a popup shows.
public struct PopupDefinition: Hashable, Sendable {
  /// One line of it.
  public struct Element: Hashable, Sendable {
    public let source: AttributeSource
    /// The field's name, or the expression, when nil.
    public let label: String?
    /// As of the function `format`, for one value.
    public let format: String?
    /// The source with the format around it.
    let shown: AttributeSource

    /// - Throws: ``SymbologyError`` of reason `template` where the format is none.
    public init(source: AttributeSource, label: String? = nil, format: String? = nil) throws(SymbologyError) {
      self.source = source
      self.label = label
      self.format = format
      guard let format else {
        shown = source
        return
      }
      let value =
        switch source {
        case .field(let name): Self.quoted(name, by: "\"")
        case .expression(let expression): "(\(expression.text))"
        }
      do { shown = .expression(try Expression("format(\(value), \(Self.quoted(format, by: "'")))")) } catch {
        throw SymbologyError(.template, at: ["format"], expected: error.expected, found: error.found)
      }
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
      guard element.format != nil else { continue }
      do { try element.shown.check(for: schema) } catch { throw error.under("elements", String(place), "format") }
    }
  }
}

/// What a popup says of one feature.
public struct Popup: Hashable, Sendable {
  public struct Line: Hashable, Sendable {
    /// The field's name; nil for an expression.
    public let field: String?
    public let label: String
    public let value: AttributeValue
    /// What people read; nil for null.
    public let text: String?
  }
  public let title: String
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
        ? value : BoundSource(element.shown, schema: schema, by: conventions).value(of: row)
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
