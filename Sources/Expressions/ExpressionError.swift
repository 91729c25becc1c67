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

  private struct Details: Hashable, Sendable {
    let kind: Kind
    let position: TextPosition
    let expected: String
    let found: String
    let available: [String]
    var steps: [String]?
    var meant: String?
  }

  private final class Box: Sendable {
    let details: Details
    init(_ details: Details) { self.details = details }
  }

  /// On the heap: an error of a pointer's size keeps the stack frames small of the parser's functions, which recurse and throw it.
  private let box: Box
  private var details: Details { box.details }

  public var kind: Kind { details.kind }
  public var position: TextPosition { details.position }
  public var line: Int { position.line }
  public var column: Int { position.column }
  public var offset: Int { position.offset }
  /// The allowed forms, in words.
  public var expected: String { details.expected }
  /// What was found: a part of the text, or in words.
  public var found: String { details.found }
  /// The existing properties for an unknown one of a schema; all functions for an unknown function.
  public var available: [String] { details.available }
  /// For an expression in CQL2 JSON: the names and indexes from the expression to the value with the error. The position then
  /// refers to generated text, not to the client's.
  public var steps: [String]? { details.steps }
  /// What CQL2 writes for a name that is probably one of another language, or a text; `expected` says it, too.
  public var meant: String? { details.meant }

  public static func == (left: ExpressionError, right: ExpressionError) -> Bool { left.details == right.details }

  public func hash(into hasher: inout Hasher) { details.hash(into: &hasher) }

  init(_ kind: Kind, steps: [String], expected: String, found: String, available: [String] = []) {
    box = Box(
      Details(
        kind: kind, position: TextPosition(at: 0, in: []), expected: expected, found: found, available: available,
        steps: steps))
  }

  private init(_ details: Details) { box = Box(details) }

  func meaning(_ meant: String?) -> ExpressionError {
    var details = details
    details.meant = meant
    return ExpressionError(details)
  }

  /// The error for the JSON from which the text was made, if any.
  func about(_ source: JSONSource?) -> ExpressionError {
    guard let source else { return self }
    var details = details
    details.steps = source.steps(at: offset)
    return ExpressionError(details)
  }

  init(
    _ kind: Kind, at offset: Int, in text: some Sequence<UInt8>, expected: String, found: String,
    available: [String] = []
  ) {
    box = Box(
      Details(
        kind: kind, position: TextPosition(at: offset, in: text), expected: expected, found: found,
        available: available))
  }

  /// The error for a larger text in which the expression starts at `start`, in bytes of UTF-8.
  public func inside(_ text: String, at start: Int) -> ExpressionError {
    ExpressionError(
      kind, at: start + offset, in: text.utf8, expected: expected, found: found, available: available
    ).meaning(meant)
  }
}
