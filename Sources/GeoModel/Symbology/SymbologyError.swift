// What can be wrong with a renderer, a label or a popup beyond the range of a single number.

import Query

/// Why a renderer, label definition or popup definition cannot be.
public struct SymbologyError: Error, Hashable, Sendable {
  public enum Reason: Hashable, Sendable {
    /// Members that do not go together, or one that is missing.
    case form
    /// Breaks out of order, overlapping, or not finite.
    case classBreaks
    /// Values that nothing could equal, or that another entry has.
    case uniqueValues
    /// Stops out of order, or not finite.
    case stops
    /// A scale range the wrong way around.
    case scaleRange
    /// A popup's text whose braces do not pair, or a format that is none.
    case template
    /// One that cannot be, or names a field that the layer does not have; it knows its place.
    case expression(ExpressionError)
    /// A field, named by itself, that the layer does not have.
    case unknownField(String, available: [String])
    /// A field whose declared type is of no use here; `found` is the type.
    case fieldType(String)
  }
  public let reason: Reason
  /// Where it stands in what was given: member names and list places, outermost first.
  public private(set) var path: [String]
  /// What would have been right.
  public let expected: String
  public let found: String
  /// Where in the text that `path` leads to; nil where that is no text with places in it.
  public let place: TextPlace?

  public init(
    _ reason: Reason, at path: [String] = [], expected: String, found: String, place: TextPlace? = nil
  ) {
    self.reason = reason
    self.path = path
    self.expected = expected
    self.found = found
    self.place = place
  }

  public init(_ error: ExpressionError, at path: [String] = []) {
    self.init(.expression(error), at: path, expected: error.expected, found: error.found, place: error.place)
  }

  /// The same error of something larger, in which this stands at a place.
  public func under(_ steps: String...) -> SymbologyError { under(steps) }

  public func under(_ steps: [String]) -> SymbologyError {
    var result = self
    result.path = steps + path
    return result
  }
}
