// Decimal and group separators by region.

/// The separators of a locale (table in `Generated/LocaleData.swift`). Digits are always 0 to 9.
package struct NumberStyle: Hashable, Sendable {
  var decimal = "."
  var group = ","
  /// Whether groups beyond the first have two digits.
  var isIndian = false
  /// Minimum number of digits before the first separator.
  var leastBeforeGroup = 1

  static let english = NumberStyle()

  private static let byTag = known.reduce(into: [String: NumberStyle]()) { result, entry in
    for tag in entry.tags.split(separator: " ") { result[String(tag)] = entry.style }
  }

  /// The text of a number with the locale's decimal separator.
  package func pointed(_ text: String) -> String {
    guard decimal != ".", let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) else { return text }
    return text[..<point] + decimal + text[text.utf8.index(after: point)...]
  }

  /// The leading digits of a text in groups from the right; the rest unchanged.
  package func grouped(_ text: String) -> String {
    let digits = text.utf8.prefix { $0 >= 0x30 && $0 <= 0x39 }.count
    guard digits >= 3 + leastBeforeGroup else { return text }
    var result = ""
    for (index, digit) in text.unicodeScalars.enumerated() {
      let left = digits - index
      if index > 0, left > 0, left == 3 || left > 3 && (isIndian ? left % 2 == 1 : left % 3 == 0) { result += group }
      result.unicodeScalars.append(digit)
    }
    return result
  }
}

extension NumberStyle {
  /// For a BCP 47 tag: its language in its region, else its language; English for an unknown one.
  init(tag: String) {
    let tag = LanguageTag(tag)
    let regional = tag.region.flatMap { Self.byTag["\(tag.language)-\($0)"] }
    self = regional ?? Self.byTag[tag.language] ?? .english
  }
}
