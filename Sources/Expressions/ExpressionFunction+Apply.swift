// Results of functions. All are null for a null argument, and for one of another type.

import Platform
import TextFormatting

extension ExpressionFunction {
  /// `arguments` match the signature. The evaluator implements `coalesce`, `min` and `max`; the last ones are nodes of
  /// their own.
  func value(of arguments: [Scalar], by conventions: TextConventions) -> Scalar {
    switch self {
    case .concat:
      var text = ""
      for argument in arguments {
        guard let part = argument.asText else { return .null }
        text += part
      }
      return .text(text)
    case .toText: return arguments[0].asText.map { .text($0) } ?? .null
    case .toNumber: return Self.number(arguments[0])
    case .upper: return map(arguments[0]) { $0.uppercased() }
    case .lower: return map(arguments[0]) { $0.lowercased() }
    case .casei, .accenti: return fold.map { map(arguments[0], $0) } ?? .null
    case .trim: return map(arguments[0], Self.trimmed)
    case .length: return arguments[0].withText { text in .integer(Int64(text.count { $0 & 0xC0 != 0x80 })) } ?? .null
    case .substring: return Self.substring(arguments)
    case .replace: return Self.replaced(arguments)
    case .round: return Self.rounded(arguments)
    case .floor: return whole(arguments[0]) { $0.rounded(.down) }
    case .ceil: return whole(arguments[0]) { $0.rounded(.up) }
    case .abs:
      switch arguments[0] {
      case .integer(let value) where value < 0: return Scalar.integer(0).applying(.subtract, .integer(value))
      case .double(let value): return .double(value.magnitude)
      case .integer: return arguments[0]
      default: return .null
      }
    case .sqrt: return arguments[0].number.map { Scalar(finite: $0.squareRoot()) } ?? .null
    case .formatLength: return Self.measured(arguments, .length, conventions)
    case .formatArea: return Self.measured(arguments, .area, conventions)
    case .formatSpeed: return Self.measured(arguments, .speed, conventions)
    case .count: return Self.count(arguments[0])
    case .coalesce, .min, .max: return .null
    // Literals and relations are evaluated by their nodes.
    default: return .null
    }
  }

  /// The text transformation, also applied to the pattern that a text is matched against; nil for functions that no
  /// pattern contains.
  var fold: ((String) -> String)? {
    switch self {
    case .casei: CaseFolding.folded
    case .accenti: AccentFolding.folded
    default: nil
    }
  }

  private static func measured(_ arguments: [Scalar], _ measure: Measure, _ conventions: TextConventions) -> Scalar {
    guard let value = arguments[0].number, value.isFinite else { return .null }
    guard arguments.count > 1 else { return .text(measure.text(of: value, by: conventions)) }
    guard let decimals = arguments[1].number?.rounded(.towardZero), (0...20).contains(decimals) else { return .null }
    return .text(measure.text(of: value, decimals: Int(decimals), by: conventions))
  }

  private func map(_ value: Scalar, _ body: (String) -> String) -> Scalar {
    value.string.map { .text(body($0)) } ?? .null
  }

  private func whole(_ value: Scalar, _ body: (Double) -> Double) -> Scalar {
    switch value {
    case .integer: value
    case .double(let value): Scalar(whole: body(value))
    default: .null
    }
  }

  /// The text without white space at both ends.
  private static func trimmed(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }

  /// As in SQL: a start before the first code point reduces the count; fractions are dropped.
  private static func substring(_ arguments: [Scalar]) -> Scalar {
    guard let text = arguments[0].string, let start = arguments[1].number else { return .null }
    let first = Swift.max(-0x1p52, Swift.min(0x1p52, start.rounded(.towardZero)))
    var end = 0x1p53
    if arguments.count > 2 {
      guard let count = arguments[2].number else { return .null }
      end = first + Swift.max(0, Swift.min(0x1p54, count.rounded(.towardZero)))
    }
    let scalars = text.unicodeScalars
    let skipped = Int(Swift.max(first, 1)) - 1
    let taken = Int(end) - 1 - skipped
    guard taken > 0 else { return .text("") }
    return .text(String(String.UnicodeScalarView(scalars.dropFirst(skipped).prefix(taken))))
  }

  /// Replaces each `old` from the left; an empty one matches nowhere.
  private static func replaced(_ arguments: [Scalar]) -> Scalar {
    let result = arguments[0].withText { text in
      arguments[1].withText { old in
        arguments[2].withText { new in
          old.isEmpty ? String(decoding: text, as: UTF8.self) : TextSearch(old).replaced(in: text, by: new)
        }
      }
    }
    return Scalar((result ?? nil) ?? nil)
  }

  /// Parses a decimal number; hexadecimal, "nan" and "inf" are not numbers.
  private static func number(_ value: Scalar) -> Scalar {
    if value.number != nil { return value }
    guard let text = value.string.map(trimmed), text.utf8.contains(where: { $0 >= 0x30 && $0 <= 0x39 }),
      text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) })
    else { return .null }
    if let whole = Int64(text) { return .integer(whole) }
    return Double(text).map { Scalar(finite: $0) } ?? .null
  }

  /// The number of elements of an array or of members of an object: of commas outside of texts and inner values.
  private static func count(_ value: Scalar) -> Scalar {
    guard case .json(let text) = value else { return .null }
    var (depth, commas, isInText, isEscaped, isEmpty) = (0, 0, false, false, true)
    for byte in text.utf8 {
      if isInText {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInText = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInText = true
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      case UInt8(ascii: ",") where depth == 1: commas += 1
      case 0x20, 0x09, 0x0A, 0x0D: continue
      default: break
      }
      // The first bracket is followed by its closing one in an empty value alone.
      if depth > 1 || depth == 1 && byte != UInt8(ascii: "[") && byte != UInt8(ascii: "{") || isInText {
        isEmpty = false
      }
    }
    return .integer(isEmpty ? 0 : Int64(commas + 1))
  }

  private static func rounded(_ arguments: [Scalar]) -> Scalar {
    guard arguments.count > 1 else {
      guard case .double(let value) = arguments[0] else { return arguments[0].number == nil ? .null : arguments[0] }
      return Scalar(whole: value.rounded())
    }
    guard let value = arguments[0].number, let places = arguments[1].number, places.magnitude <= 400 else {
      return .null
    }
    let digits = places.rounded(.towardZero)
    if case .integer = arguments[0], digits >= 0 { return arguments[0] }
    let scale = pow(10, digits.magnitude)
    let scaled = digits < 0 ? value / scale : value * scale
    // A double of that size has no such decimals.
    guard scaled.magnitude < 0x1p52 else { return arguments[0] }
    let result = digits < 0 ? scaled.rounded() * scale : scaled.rounded() / scale
    return digits <= 0 ? Scalar(whole: result) : Scalar(finite: result)
  }
}
