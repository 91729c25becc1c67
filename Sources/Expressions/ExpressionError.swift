// Errors of expressions: what was expected, and where.

/// An error in an expression, with its position in the text.
public struct ExpressionError: Error, Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable {
    /// The grammar expects something else.
    case syntax
    /// A name unknown to the schema or the caller.
    case unknownProperty
    case unknownFunction
    /// A function, or a format pattern, has too few or too many arguments.
    case argumentCount
    /// The types of operands never match.
    case type
    /// Parentheses or calls nest deeper than ``Expression/depthLimit``.
    case tooDeep
    /// The text is longer than ``Expression/lengthLimit`` bytes.
    case tooLong
    /// A number, text, date or pattern is unterminated or invalid.
    case badLiteral
    /// A library that is not installed.
    case unavailable
  }

  public let kind: Kind
  public let position: TextPosition
  public var line: Int { position.line }
  public var column: Int { position.column }
  public var offset: Int { position.offset }
  /// What is allowed there, in words.
  public let expected: String
  /// What was found: a part of the text, or in words.
  public let found: String
  /// For an unknown property of a schema: the existing ones. For an unknown function: all functions.
  public let available: [String]
  /// For an expression in CQL2 JSON: the names and indexes that lead from it to the value that the error is about. The
  /// position is then not one of the client's.
  public private(set) var steps: [String]?

  init(_ kind: Kind, steps: [String], expected: String, found: String, available: [String] = []) {
    self.init(kind, at: 0, in: [], expected: expected, found: found, available: available)
    self.steps = steps
  }

  /// The same error about the JSON that a text was made of.
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

  /// The same error in a larger text in which the expression starts at `start`, in bytes of UTF-8.
  public func inside(_ text: String, at start: Int) -> ExpressionError {
    ExpressionError(
      kind, at: start + offset, in: text.utf8, expected: expected, found: found, available: available)
  }
}
