// Errors of expressions, with the expected form and the position.

/// An error in an expression, with its position in the text.
public struct ExpressionError: Error, Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable {
    /// The grammar expects something else.
    case syntax
    /// A name that is not in the schema or not known to the caller.
    case unknownProperty
    case unknownFunction
    /// A function, or a format pattern, has too few or too many arguments.
    case argumentCount
    /// Operands of types that never match.
    case type
    /// Parentheses or calls nest deeper than ``Expression/depthLimit``.
    case tooDeep
    /// The text is longer than ``Expression/lengthLimit`` bytes.
    case tooLong
    /// A number, text, date or pattern is unterminated or invalid.
    case badLiteral
    /// A required library is not installed.
    case unavailable
  }

  public let kind: Kind
  public let position: TextPosition
  public var line: Int { position.line }
  public var column: Int { position.column }
  public var offset: Int { position.offset }
  /// The allowed forms, in words.
  public let expected: String
  /// What was found: a part of the text, or in words.
  public let found: String
  /// The existing properties for an unknown one of a schema; all functions for an unknown function.
  public let available: [String]
  /// For an expression in CQL2 JSON: the names and indexes from the expression to the value with the error. The position then
  /// refers to generated text, not to the client's.
  public private(set) var steps: [String]?
  /// What CQL2 writes for a name that is probably one of another language, or a text; `expected` says it, too.
  public private(set) var meant: String?

  init(_ kind: Kind, steps: [String], expected: String, found: String, available: [String] = []) {
    self.init(kind, at: 0, in: [], expected: expected, found: found, available: available)
    self.steps = steps
  }

  func meaning(_ meant: String?) -> ExpressionError {
    var copy = self
    copy.meant = meant
    return copy
  }

  /// The error for the JSON from which the text was made, if any.
  func about(_ source: JSONSource?) -> ExpressionError {
    guard let source else { return self }
    var copy = self
    copy.steps = source.steps(at: offset)
    return copy
  }

  init(
    _ kind: Kind, at offset: Int, in text: some Sequence<UInt8>, expected: String, found: String,
    available: [String] = []
  ) {
    self.kind = kind
    position = TextPosition(at: offset, in: text)
    self.expected = expected
    self.found = found
    self.available = available
  }

  /// The error for a larger text in which the expression starts at `start`, in bytes of UTF-8.
  public func inside(_ text: String, at start: Int) -> ExpressionError {
    ExpressionError(
      kind, at: start + offset, in: text.utf8, expected: expected, found: found, available: available
    ).meaning(meant)
  }
}
