// Why a text is no expression, or not one for this schema: what was expected and where.

/// What is wrong with an expression, and the place in its text.
public struct ExpressionError: Error, Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable {
    /// Something stands where the grammar has something else.
    case syntax
    /// A name that the schema, or the caller, does not know.
    case unknownProperty
    case unknownFunction
    /// A function, or a format pattern, with too few or too many arguments.
    case argumentCount
    /// Operands whose types can never go together.
    case type
    /// More than ``Expression/depthLimit`` parentheses or calls inside one another.
    case tooDeep
    /// More than ``Expression/lengthLimit`` bytes.
    case tooLong
    /// A number, text, date or pattern that does not end or means nothing.
    case badLiteral
  }

  public let kind: Kind
  public let place: TextPlace
  public var line: Int { place.line }
  public var column: Int { place.column }
  public var offset: Int { place.offset }
  /// What could have stood there, in words.
  public let expected: String
  /// What stands there: a piece of the text, or in words.
  public let found: String
  /// With an unknown property of a schema: those there are.
  public let available: [String]

  init(
    _ kind: Kind, at offset: Int, in text: some Sequence<UInt8>, expected: String, found: String,
    available: [String] = []
  ) {
    self.kind = kind
    place = TextPlace(at: offset, in: text)
    self.expected = expected
    self.found = found
    self.available = available
  }

  /// The same error of a larger text, in which the expression begins at `start`, in bytes of UTF-8.
  public func inside(_ text: String, at start: Int) -> ExpressionError {
    ExpressionError(
      kind, at: start + offset, in: text.utf8, expected: expected, found: found, available: available)
  }
}
