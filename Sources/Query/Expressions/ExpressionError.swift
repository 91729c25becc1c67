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
  /// From 1; lines end with a line feed.
  public let line: Int
  /// From 1, in Unicode scalars.
  public let column: Int
  /// In bytes of UTF-8, from 0.
  public let offset: Int
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
    var line = 1
    var column = 1
    for byte in text.prefix(offset) {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    self.kind = kind
    self.line = line
    self.column = column
    self.offset = offset
    self.expected = expected
    self.found = found
    self.available = available
  }

  /// The same error of a larger text, in which the expression begins at `start`, in bytes of UTF-8.
  public func inside(_ text: String, at start: Int) -> ExpressionError {
    ExpressionError(kind, at: start + offset, in: text.utf8, expected: expected, found: found, available: available)
  }
}
