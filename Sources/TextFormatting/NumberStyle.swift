// How numbers are written in a place: the signs that part their digits.

/// The separators of a locale. Digits are always 0 to 9.
package struct NumberStyle: Hashable, Sendable {
  var decimal = "."
  var group = ","
  /// Whether groups beyond the first have two digits.
  var isIndian = false
  /// How many digits must stand before the first separator for there to be any.
  var leastBeforeGroup = 1

  static let english = NumberStyle()

  /// Of a BCP 47 tag: its language's in its region, or else its language's; English for one that is not known.
  init(tag: String) {
    let tag = LanguageTag(tag)
    let regional = tag.region.flatMap { Self.known["\(tag.language)-\($0)"] }
    self = regional ?? Self.known[tag.language] ?? .english
  }

  init(decimal: String = ".", group: String = ",", isIndian: Bool = false, leastBeforeGroup: Int = 1) {
    self.decimal = decimal
    self.group = group
    self.isIndian = isIndian
    self.leastBeforeGroup = leastBeforeGroup
  }

  /// The text of a number with the locale's decimal separator instead of the point.
  package func pointed(_ text: String) -> String {
    guard decimal != ".", let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) else { return text }
    return text[..<point] + decimal + text[text.utf8.index(after: point)...]
  }

  /// The digits that a text begins with in groups, from the right; what comes behind them as it is.
  package func grouped(_ text: String) -> String {
    let digits = text.utf8.prefix { $0 >= 0x30 && $0 <= 0x39 }.count
    guard digits >= 3 + leastBeforeGroup else { return text }
    var result = ""
    for (place, digit) in text.unicodeScalars.enumerated() {
      let left = digits - place
      if place > 0, left > 0, left == 3 || left > 3 && (isIndian ? left % 2 == 1 : left % 3 == 0) { result += group }
      result.unicodeScalars.append(digit)
    }
    return result
  }

  // MARK: What is known

  /// Facts from the Unicode CLDR for Latin digits: `decimal`, `group` and the grouping of the decimal pattern of version 47, and
  /// `minimumGroupingDigits` as ICU applies it. By language, and by region where that differs; whoever is not here is as English.
  private static let known: [String: NumberStyle] = {
    let comma = NumberStyle(decimal: ",", group: ".")
    let spaced = NumberStyle(decimal: ",", group: "\u{A0}")
    var known: [String: NumberStyle] = [:]
    func add(_ style: NumberStyle, _ tags: String) {
      for tag in tags.split(separator: " ") { known[String(tag)] = style }
    }
    func wide(_ style: NumberStyle) -> NumberStyle {
      var style = style
      style.leastBeforeGroup = 2
      return style
    }
    add(
      comma, "az bs ca da de el en-AT en-BE en-DE en-DK en-ID en-NL en-PL en-SI eu fo fr-LU gl hr id is lb lo mk ms-BN")
    add(comma, "ms-ID nl pt ro sr sw-CD tr vi es-AR es-BO es-CL es-CO es-EC es-PY es-UY es-VE")
    add(comma, "ar-DZ ar-LB ar-LY ar-MA ar-MR ar-TN")
    add(wide(comma), "es it sl")
    add(spaced, "af cs en-CZ en-FI en-HU en-NO en-PT en-SE en-SK en-ZA es-CR fi fr-CA hy kk ky lt nb nn no pt-AO ru sk")
    add(spaced, "sv tg tk uk uz")
    add(wide(spaced), "be bg et hu ka lv pl pt-CH pt-CV pt-GQ pt-GW pt-LU pt-MO pt-MZ pt-PT pt-ST pt-TL ru-UA sq")
    add(NumberStyle(decimal: ",", group: "\u{202F}"), "en-FR fr")
    add(NumberStyle(group: "\u{2019}"), "de-CH de-LI en-CH gsw rm")
    add(wide(NumberStyle(group: "\u{2019}")), "it-CH")
    add(NumberStyle(isIndian: true), "bn en-IN gu hi ml mr ne pa ta te")
    add(.english, "es-419 es-BR es-BZ es-CU es-DO es-GT es-HN es-MX es-NI es-PA es-PE es-PR es-SV es-US ta-MY ta-SG")
    return known
  }()
}
