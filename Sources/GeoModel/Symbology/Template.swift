// Templates for the titles of popups: `{name}, {format(population, '%,d')} inhabitants`.

import Expressions
import FeatureStore
import Filtering
import Geometry
import TextFormatting

/// A text with embedded expressions.
public struct Template: Hashable, Sendable {
  enum Part: Hashable, Sendable {
    case text(String)
    /// `start` is the offset of the expression in the text, in bytes of UTF-8.
    case expression(Expression, start: Int)
  }
  /// The template as it was given.
  public var text: Text
  var parts: [Part]

  /// Parses a template. Expressions are in braces; braces inside quotes do not count, and `{{` and `}}` stand for literal braces.
  ///
  /// - Throws: ``SymbologyError`` of reason `template` for unbalanced braces, `expression` for an invalid expression.
  ///   Positions refer to the whole text.
  public init(_ text: String) throws(SymbologyError) {
    self.text = Text(text)
    var parts: [Part] = []
    var plain = ""
    // By scalars, since a combining mark after a brace or quote would hide it.
    var rest = Substring(text).unicodeScalars
    func offset(of index: Substring.Index) -> Int { text.utf8.distance(from: text.startIndex, to: index) }
    while let character = rest.popFirst() {
      guard character == "{" || character == "}" else {
        plain.unicodeScalars.append(character)
        continue
      }
      if rest.first == character {
        plain.unicodeScalars.append(character)
        rest.removeFirst()
        continue
      }
      guard character == "{", let end = Self.end(of: rest) else {
        let isOpen = character == "{"
        throw SymbologyError(
          .template, expected: isOpen ? "} behind an expression" : "}} for a brace in the text",
          found: isOpen ? "the end of the text" : "}",
          position: TextPosition(at: isOpen ? text.utf8.count : offset(of: rest.startIndex) - 1, in: text.utf8))
      }
      if !plain.isEmpty { parts.append(.text(plain)) }
      plain = ""
      let start = offset(of: rest.startIndex)
      do { parts.append(.expression(try Expression(String(rest[..<end])), start: start)) } catch {
        throw SymbologyError(error.inside(text, at: start))
      }
      rest = rest[rest.index(after: end)...]
    }
    if !plain.isEmpty { parts.append(.text(plain)) }
    self.parts = parts
  }

  /// The index of the brace that ends an expression.
  private static func end(of rest: Substring.UnicodeScalarView) -> Substring.Index? {
    var quote: Unicode.Scalar?
    var isEscaped = false
    for index in rest.indices {
      let character = rest[index]
      if isEscaped {
        isEscaped = false
      } else if character == "\\", quote == "'" {
        isEscaped = true
      } else if let open = quote {
        // A doubled quote ends the string here, and begins another at once.
        if character == open { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character == "}" {
        return index
      }
    }
    return nil
  }

  /// Throws unless the expressions are valid for a layer with these columns. Positions refer to the whole text.
  func check(for schema: FeatureSchema) throws(SymbologyError) {
    for case .expression(let expression, let start) in parts {
      do { _ = try expression.compiled(for: schema) } catch {
        throw SymbologyError(error.inside(text.string, at: start))
      }
    }
  }

  /// The text for a row. Null becomes the empty text.
  func text(of row: FeatureRow, schema: FeatureSchema, by conventions: TextConventions) -> String {
    parts.map { part in
      switch part {
      case .text(let text): text
      case .expression(let expression, _):
        BoundSource(.expression(expression), schema: schema, by: conventions).value(of: row)
          .shownText(by: conventions) ?? ""
      }
    }.joined()
  }
}
