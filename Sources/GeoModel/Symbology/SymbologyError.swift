// Errors in renderers, labels and popups that are found after decoding.

import Expressions

/// Why a renderer, label definition or popup definition is not valid.
public struct SymbologyError: Error, Hashable, Sendable {
  public enum Reason: Hashable, Sendable {
    /// Members that exclude each other, or a missing one.
    case form
    /// Breaks out of order, overlapping, or not finite.
    case classBreaks
    /// Values that no attribute can equal, or that repeat another entry.
    case uniqueValues
    /// Stops out of order, or not finite.
    case stops
    /// A reversed scale range.
    case scaleRange
    /// Unbalanced braces in a popup's text, or an invalid format.
    case template
    /// An invalid expression, or one with a field that the layer does not have. The error has the text position.
    case expression(ExpressionError)
    /// A field that the layer does not have.
    case unknownField(String, available: [String])
    /// A field with an unsuitable declared type, which is in `found`.
    case fieldType(String)
  }
  public let reason: Reason
  /// The path from the value given: member names and list indexes, outermost first.
  public private(set) var path: [String]
  /// The valid form.
  public let expected: String
  public let found: String
  /// The position in the text at `path`; nil if the value there is not a text.
  public let position: TextPosition?

  public init(
    _ reason: Reason, at path: [String] = [], expected: String, found: String, position: TextPosition? = nil
  ) {
    self.reason = reason
    self.path = path
    self.expected = expected
    self.found = found
    self.position = position
  }

  public init(_ error: ExpressionError, at path: [String] = []) {
    self.init(.expression(error), at: path, expected: error.expected, found: error.found, position: error.position)
  }

  /// The error as seen from an enclosing value, with the path to the inner one.
  public func under(_ steps: String...) -> SymbologyError { under(steps) }

  public func under(_ steps: [String]) -> SymbologyError {
    changed(self) { $0.path = steps + path }
  }
}
