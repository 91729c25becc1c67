// Formats numbers by printf-like patterns, but safely: patterns are checked once, and the process's locale is ignored.

import Calendar
import TextFormatting

/// A pattern: text with `%[flags][width][.precision]` and one of `d f e g E G s`; `%%` is a percent sign.
///
/// Flags are those of printf (`-` left, `+` and space before non-negative values, `0` fill) and `,`, which groups
/// thousands. `d` rounds to the nearest integer, halves away from zero. `%.Nf` is exact: the double's decimal digits,
/// rounded once. Separators come from the text conventions.
struct NumberFormat: Sendable {
  private struct Field: Sendable {
    var isLeft = false
    var plus = ""
    var isZeroFilled = false
    var isGrouped = false
    var width = 0
    var precision: Int?
    var conversion = UInt8(ascii: "s")
  }

  private let pieces: [PatternPiece<Field>]
  /// The types of its values.
  let types: [ScalarTypes]
  let pattern: String

  init(_ pattern: String) throws(PatternProblem) {
    self.pattern = pattern
    pieces = try PatternPiece.split(
      pattern, expected: "%[-+ 0,][width][.precision] and one of d f e g E G s, or %%", excerpt: 12, field: Self.field)
    types = pieces.compactMap { piece in
      guard case .field(let field) = piece else { return nil }
      return field.conversion == UInt8(ascii: "s") ? .any : .number
    }
  }

  private static func field(_ rest: inout ArraySlice<UInt8>) -> Field? {
    var field = Field()
    flags: while let byte = rest.first {
      switch byte {
      case UInt8(ascii: "-"): field.isLeft = true
      case UInt8(ascii: "+"): field.plus = "+"
      case UInt8(ascii: " "): if field.plus.isEmpty { field.plus = " " }
      case UInt8(ascii: "0"): field.isZeroFilled = true
      case UInt8(ascii: ","): field.isGrouped = true
      default: break flags
      }
      rest.removeFirst()
    }
    func number(limit: Int) -> Int? {
      var value = 0
      while let byte = rest.first, byte >= 0x30, byte <= 0x39 {
        value = value * 10 + Int(byte - 0x30)
        guard value <= limit else { return nil }
        rest.removeFirst()
      }
      return value
    }
    guard let width = number(limit: 1000) else { return nil }
    field.width = width
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      guard let precision = number(limit: 100) else { return nil }
      field.precision = precision
    }
    guard let conversion = rest.popFirst(), "dfegEGs".utf8.contains(conversion) else { return nil }
    field.conversion = conversion
    return field
  }

  /// An upper bound of the size of the text, in bytes; without values, of the text that the pattern adds to them.
  func maxSize(of values: [Scalar]) -> Int {
    // A number has up to 309 digits before the point and 100 after it, with separators of up to three bytes.
    var size = values.reduce(0) { $0 + $1.textSize }
    for piece in pieces {
      switch piece {
      case .text(let text): size += text.utf8.count
      case .field(let field):
        size += field.width + (field.conversion == UInt8(ascii: "f") ? 64 + (field.precision ?? 6) : 64)
      }
    }
    return size
  }

  /// The text for values that match ``types``; nil if one is null or has another type.
  func text(of values: [Scalar], by conventions: TextConventions) -> String? {
    var result = ""
    var next = 0
    for piece in pieces {
      switch piece {
      case .text(let text): result += text
      case .field(let field):
        guard next < values.count, let text = Self.text(of: values[next], field, conventions.numbers)
        else { return nil }
        result += text
        next += 1
      }
    }
    return result
  }

  private static func text(of value: Scalar, _ field: Field, _ style: NumberStyle) -> String? {
    var sign = ""
    var body: String
    if field.conversion == UInt8(ascii: "s") {
      guard var text = value.asText else { return nil }
      if case .double = value { text = style.pointed(text) }
      body = field.precision.map { String(text.unicodeScalars.prefix($0)) } ?? text
    } else {
      guard let digits = digits(of: value, field) else { return nil }
      body = style.pointed(digits.text)
      if field.isGrouped { body = style.grouped(body) }
      sign = digits.isNegative ? "-" : field.plus
    }
    let missing = field.width - sign.unicodeScalars.count - body.unicodeScalars.count
    guard missing > 0 else { return sign + body }
    let isNumber = field.conversion != UInt8(ascii: "s")
    if field.isLeft { return sign + body + String(repeating: " ", count: missing) }
    if field.isZeroFilled, isNumber, value.number?.isFinite == true {
      return sign + String(repeating: "0", count: missing) + body
    }
    return String(repeating: " ", count: missing) + sign + body
  }

  /// The digits without the sign.
  private static func digits(of value: Scalar, _ field: Field) -> (text: String, isNegative: Bool)? {
    switch (value, field.conversion) {
    case (.integer(let value), UInt8(ascii: "d")): return (String(value.magnitude), value < 0)
    case (.integer(let value), UInt8(ascii: "f")):
      // Integers are not converted to doubles, which have only 53 bits.
      let decimals = field.precision ?? 6
      let text = String(value.magnitude) + (decimals > 0 ? "." + String(repeating: "0", count: decimals) : "")
      return (text, value < 0)
    case (.double(let value), UInt8(ascii: "d")):
      let whole = value.rounded()
      return (NumberText.printed(whole.magnitude, UInt8(ascii: "f"), 0), whole < 0)
    default:
      guard let number = value.number else { return nil }
      return (NumberText.printed(number.magnitude, field.conversion, field.precision ?? 6), number.sign == .minus)
    }
  }
}

extension Scalar {
  /// The value as plain text: whole doubles without a point, other doubles as the shortest text that parses to the same number;
  /// nil for null.
  var asText: String? {
    switch self {
    case .null: return nil
    case .bool(let value): return value ? "true" : "false"
    case .integer(let value): return String(value)
    case .double(let value):
      if value.magnitude < 0x1p53, let whole = Int64(exactly: value) { return String(whole) }
      return value.description
    case .bytes, .text: return string
    case .instant(let instant): return instant.text
    case .json(let text): return text
    }
  }
  /// The time of an instant or of an RFC 3339 text; nil for other values.
  var civilTime: CivilTime? {
    if case .instant(let instant) = self { return instant.time }
    return withText { CivilTime(utf8: $0) } ?? nil
  }
}
