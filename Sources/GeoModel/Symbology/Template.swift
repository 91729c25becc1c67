// Text with expressions in braces, for the titles of popups: `{name}, {format(population, '%,d')} inhabitants`.

import Geometry
import Query

/// A text with expressions in it.
public struct Template: Hashable, Sendable {
  enum Part: Hashable, Sendable {
    case text(String)
    case expression(Expression)
  }
  /// As it was given.
  public let text: String
  let parts: [Part]

  /// Reads a text: `{` begins an expression and `}` ends it, outside of its quotes; `{{` and `}}` stand for the braces.
  ///
  /// - Throws: ``SymbologyError`` of reason `template` for braces that do not pair, `expression` for what is between them.
  public init(_ text: String) throws(SymbologyError) {
    self.text = text
    var parts: [Part] = []
    var plain = ""
    // By scalars: a mark that combines with a brace or quote must not hide it.
    var rest = Substring(text).unicodeScalars
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
        throw SymbologyError(
          .template, expected: character == "{" ? "} behind an expression" : "}} for a brace in the text",
          found: character == "{" ? "the end of the text" : "}")
      }
      if !plain.isEmpty { parts.append(.text(plain)) }
      plain = ""
      do { parts.append(.expression(try Expression(String(rest[..<end])))) } catch {
        throw SymbologyError(error.inside(text, at: text.utf8.distance(from: text.startIndex, to: rest.startIndex)))
      }
      rest = rest[rest.index(after: end)...]
    }
    if !plain.isEmpty { parts.append(.text(plain)) }
    self.parts = parts
  }

  /// Where the brace is that ends an expression.
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
        // A doubled quote closes and opens again.
        if character == open { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character == "}" {
        return index
      }
    }
    return nil
  }

  var expressions: [Expression] {
    parts.compactMap { part in
      if case .expression(let expression) = part { expression } else { nil }
    }
  }

  /// The text for a row; null is nothing.
  func text(of row: FeatureRow, schema: FeatureSchema, by conventions: TextConventions) -> String {
    parts.map { part in
      switch part {
      case .text(let text): text
      case .expression(let expression):
        BoundSource(.expression(expression), schema: schema, by: conventions).value(of: row)
          .shownText(by: conventions) ?? ""
      }
    }.joined()
  }
}
