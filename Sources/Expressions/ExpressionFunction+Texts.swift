// Functions of texts.

import TextFormatting

extension FunctionRecord {
  static let texts: [FunctionRecord] = [
    FunctionRecord(
      "casei", .text(), result: .text,
      doc:
        "The text without difference of case, on both sides of a comparison, or around the pattern of LIKE too: full case folding of Unicode, by which `ß` and `SS` match.",
      // In another case, a code point may become up to three, each of two bytes or more.
      example: "CASEI('Bern') = CASEI('BERN')", textSize: first, fold: CaseFolding.folded,
      mapping(CaseFolding.folded)),
    FunctionRecord(
      "accenti", .text(), result: .text,
      doc:
        "The text without accents that Unicode's canonical decomposition separates from a letter; to be used as CASEI. It separates none from `ø` or `ł`, which are letters of their own and stay.",
      example: "ACCENTI('Zürich') LIKE ACCENTI('Zur%')", textSize: first, fold: AccentFolding.folded,
      mapping(AccentFolding.folded)),
    FunctionRecord(
      "upper", .text(), result: .text, doc: "The text in upper case.", example: "upper('Bern')", textSize: first,
      mapping { $0.uppercased() }),
    FunctionRecord(
      "lower", .text(), result: .text, doc: "The text in lower case.", example: "lower('Bern')", textSize: first,
      mapping { $0.lowercased() }),
    FunctionRecord(
      "trim", .text(), result: .text, doc: "The text without white space at both ends.", example: "trim(' Bern ')",
      textSize: first, mapping(trimmed)),
    FunctionRecord(
      "length", .text(), result: .number, doc: "The number of code points of a text; of elements of an array, as `count`.",
      example: "length('Bern')", textSize: { _ in 0 },
      .values { arguments in
        if case .json = arguments[0] { return count(arguments[0]) }
        return arguments[0].withText { text in .integer(Int64(text.count { $0 & 0xC0 != 0x80 })) } ?? .null
      }),
    FunctionRecord(
      "substring", .text(), .number("start"), .init(name: "count", types: .number, occurrence: .optional),
      result: .text,
      doc:
        "From the code point numbered `start`, the first being 1, to the end or as many as `count`. As in SQL, a start before the first reduces the count.",
      example: "substring('Bern', 2, 2)",
      textSize: { arguments in
        let size = arguments[0].textSize
        guard arguments.count > 2, let count = arguments[2].number else { return size }
        return Int(min(Double(size), max(0, 4 * count)))
      },
      .values(substring)),
    FunctionRecord(
      "replace", .text(), .text("old"), .text("new"), result: .text,
      doc: "The text with each `old`, from the left, replaced by `new`.", example: "replace('Bern', 'e', 'o')",
      textSize: replacedSize, textEstimate: { $0[0] / max(1, $0[1]) * $0[2] + $0[0] }, .values(replaced)),
    FunctionRecord(
      "concat", .init(name: "value", types: .any, occurrence: .repeated), result: .text,
      doc: "All values as one text.", example: "concat('B', 12)",
      textSize: { $0.reduce(0) { $0 + $1.textSize } },
      .values { arguments in
        var text = ""
        for argument in arguments {
          guard let part = argument.asText else { return .null }
          text += part
        }
        return .text(text)
      }),
    FunctionRecord(
      "toText", .any("value"), result: .text, doc: "The value as text; of an object or array its JSON.",
      example: "toText(12)", textSize: first, .values { $0[0].asText.map { .text($0) } ?? .null }),
    FunctionRecord(
      "toNumber", .init(name: "value", types: [.text, .number]), result: .number,
      doc: "The number that a text says in decimal digits; null for other texts.", example: "toNumber('12.5')",
      textSize: first, .values { number($0[0]) }),
  ]

  /// The size of the first argument.
  private static let first: TextSize = { $0[0].textSize }

  private static func mapping(_ body: @escaping @Sendable (String) -> String) -> Evaluation {
    .values { $0[0].string.map { .text(body($0)) } ?? .null }
  }

  /// The text without white space at its ends.
  @Sendable private static func trimmed(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }

  /// The result as in SQL: a start before the first code point reduces the count; fractions are dropped.
  @Sendable private static func substring(_ arguments: [Scalar]) -> Scalar {
    guard let text = arguments[0].string, let start = arguments[1].number else { return .null }
    let first = max(-0x1p52, min(0x1p52, start.rounded(.towardZero)))
    var end = 0x1p53
    if arguments.count > 2 {
      guard let count = arguments[2].number else { return .null }
      end = first + max(0, min(0x1p54, count.rounded(.towardZero)))
    }
    let scalars = text.unicodeScalars
    let skipped = Int(max(first, 1)) - 1
    let taken = Int(end) - 1 - skipped
    guard taken > 0 else { return .text("") }
    return .text(String(String.UnicodeScalarView(scalars.dropFirst(skipped).prefix(taken))))
  }

  /// Replaces each `old`, from the left; an empty `old` has no occurrences.
  @Sendable private static func replaced(_ arguments: [Scalar]) -> Scalar {
    let result = arguments[0].withText { text in
      arguments[1].withText { old in
        arguments[2].withText { new in
          old.isEmpty ? String(decoding: text, as: UTF8.self) : TextSearch(old).replaced(in: text, by: new)
        }
      }
    }
    return Scalar((result ?? nil) ?? nil)
  }

  @Sendable private static func replacedSize(_ arguments: [Scalar]) -> Int {
    let (size, old, new) = (arguments[0].textSize, arguments[1].textSize, arguments[2].textSize)
    guard old > 0, new > old, size < Expression.textLimit else { return size }
    // One occurrence more than the limit allows is enough to refuse the text.
    let limit = (Expression.textLimit - size) / (new - old) + 1
    let count = arguments[0].withText { text in
      arguments[1].withText { TextSearch($0).count(in: text, atMost: limit) } ?? 0
    }
    return size + (count ?? 0) * (new - old)
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
}
