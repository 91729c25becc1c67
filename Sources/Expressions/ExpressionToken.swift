// The tokens of an expression's text, read one at a time.

import Geometry

enum ExpressionToken: Equatable {
  /// An integer, or a finite double.
  case number(AttributeValue)
  case text(String)
  case name(String)
  /// A name in double quotes, which is never a keyword or a function.
  case quotedName(String)
  case keyword(Keyword)
  case symbol(Symbol)
  case end

  enum Keyword: String, CaseIterable {
    case and, or, not, `is`, null, `in`, between, like, `true`, `false`, div
  }

  enum Symbol: String {
    case equal = "="
    case notEqual = "<>"
    case less = "<"
    case greater = ">"
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case plus = "+"
    case minus = "-"
    case asterisk = "*"
    case slash = "/"
    case percent = "%"
    case caret = "^"
    case open = "("
    case close = ")"
    case comma = ","
  }
}

/// Splits a text into tokens, by the lexical rules of CQL2 text (OGC 21-065r2, annex B).
struct ExpressionLexer {
  let bytes: [UInt8]
  private(set) var position = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Continues at an offset.
  mutating func skip(to end: Int) { position = end }

  /// The next token and its range.
  mutating func next() throws(ExpressionError) -> (ExpressionToken, Range<Int>) {
    skipSpace()
    let start = position
    guard start < bytes.count else { return (.end, start..<start) }
    let token: ExpressionToken
    switch bytes[start] {
    case UInt8(ascii: "'"): token = .text(try quoted(by: UInt8(ascii: "'")))
    case UInt8(ascii: "\""):
      let name = try quoted(by: UInt8(ascii: "\""))
      guard !name.isEmpty else {
        throw error(.syntax, at: start, expected: "a name between the quotes", found: "\"\"")
      }
      token = .quotedName(name)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): token = try number()
    case UInt8(ascii: ".") where start + 1 < bytes.count && isDigit(bytes[start + 1]): token = try number()
    default: token = try isNameStart(scalar(at: start)) ? name() : .symbol(symbol())
    }
    return (token, start..<position)
  }

  func error(
    _ kind: ExpressionError.Kind, at offset: Int, expected: String, found: String, available: [String] = []
  ) -> ExpressionError {
    ExpressionError(kind, at: offset, in: bytes, expected: expected, found: found, available: available)
  }

  /// A part of the text for a message, truncated.
  func excerpt(_ range: Range<Int>) -> String {
    let text = String(decoding: bytes[range], as: UTF8.self).unicodeScalars
    return text.count <= 40 ? String(text) : String(text.prefix(40)) + "…"
  }

  // MARK: Kinds of tokens

  /// Reads a text or a quoted name. A doubled quote stands for one quote. In texts a backslash begins an escape sequence, and is
  /// literal if it does not; so every text can be written, even one that ends in a backslash.
  private mutating func quoted(by quote: UInt8) throws(ExpressionError) -> String {
    let start = position
    var content: [UInt8] = []
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      let next = position + 1 < bytes.count ? bytes[position + 1] : 0
      if byte == Self.backslash, quote == UInt8(ascii: "'"), let escaped = Self.escaped(next) {
        content.append(escaped)
        position += 2
      } else if byte == quote && next == quote {
        content.append(next)
        position += 2
      } else if byte == quote {
        position += 1
        return String(decoding: content, as: UTF8.self)
      } else {
        content.append(byte)
        position += 1
      }
    }
    let quote = quote == UInt8(ascii: "'") ? "'" : "\""
    throw error(.badLiteral, at: start, expected: "a closing \(quote)", found: excerpt(start..<bytes.count))
  }

  /// The text with its backslashes, as ``LikePattern`` reads it; sequences for control characters are replaced.
  func pattern(_ range: Range<Int>) -> String {
    var content: [UInt8] = []
    var position = range.lowerBound + 1
    while position < range.upperBound - 1 {
      let byte = bytes[position]
      if byte == Self.backslash, let control = Self.control(bytes[position + 1]) {
        content.append(control)
      } else {
        content.append(byte)
        if byte == Self.backslash { content.append(bytes[position + 1]) }
      }
      position += byte == Self.backslash || byte == UInt8(ascii: "'") ? 2 : 1
    }
    return String(decoding: content, as: UTF8.self)
  }

  private static let backslash = UInt8(ascii: "\\")

  /// The character for a backslash with another character, by /req/cql2-text/escaping; nil if the backslash is literal.
  private static func escaped(_ next: UInt8) -> UInt8? {
    next == UInt8(ascii: "'") || next == backslash ? next : control(next)
  }

  /// The control character for a letter after a backslash: BEL, BS, TAB, LF, VT, FF or CR.
  static func control(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "a"): 0x07
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "v"): 0x0B
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "r"): 0x0D
    default: nil
    }
  }

  private mutating func number() throws(ExpressionError) -> ExpressionToken {
    let start = position
    var isInteger = true
    func skipDigits() { while position < bytes.count, isDigit(bytes[position]) { position += 1 } }
    skipDigits()
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      isInteger = false
      position += 1
      skipDigits()
    }
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      isInteger = false
      position += 1
      if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
        position += 1
      }
      let digits = position
      skipDigits()
      if position == digits {
        throw error(.badLiteral, at: start, expected: "digits after the E", found: excerpt(start..<position))
      }
    }
    let end = position
    skipNameParts()
    let isInName = position > end
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if !isInName, isInteger, let value = Int64(text) { return .number(.integer(value)) }
    // Integers beyond 64 bits become doubles; "1." reads as "1.0".
    if !isInName, let value = Double(text.hasSuffix(".") ? text + "0" : text.replacingPoint), value.isFinite {
      return .number(.double(value))
    }
    throw error(.badLiteral, at: start, expected: "a number", found: excerpt(start..<position))
  }

  private mutating func name() -> ExpressionToken {
    let start = position
    skipNameParts()
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if text.utf8.count <= 7, let keyword = ExpressionToken.Keyword(rawValue: text.lowercased()) {
      return .keyword(keyword)
    }
    return .name(text)
  }

  private mutating func symbol() throws(ExpressionError) -> ExpressionToken.Symbol {
    for length in [3, 2, 1] where position + length <= bytes.count {
      let text = String(decoding: bytes[position..<position + length], as: UTF8.self)
      if let meant = ForeignNotation.meant(by: text) {
        throw error(.syntax, at: position, expected: meant, found: text)
      }
      if let symbol = ExpressionToken.Symbol(rawValue: text) {
        position += length
        return symbol
      }
    }
    throw error(
      .syntax, at: position, expected: "a value or an operator",
      found: excerpt(position..<position + UTF8.width(scalar(at: position))))
  }

  // MARK: Characters

  private func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  /// The scalar at an index. The text comes from a `String`, so it is well-formed.
  private func scalar(at index: Int) -> Unicode.Scalar {
    if bytes[index] < 0x80 { return Unicode.Scalar(bytes[index]) }
    return String(decoding: bytes[index...].prefix(4), as: UTF8.self).unicodeScalars.first ?? "\u{FFFD}"
  }

  /// Skips CQL2's `whitespace`, except for U+1680, which is also in `identifierStart`.
  private mutating func skipSpace() {
    while position < bytes.count {
      let scalar = scalar(at: position)
      switch scalar.value {
      case 0x09...0x0D, 0x20, 0x85, 0xA0, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000:
        position += UTF8.width(scalar)
      default: return
      }
    }
  }

  private mutating func skipNameParts() {
    while position < bytes.count, case let scalar = scalar(at: position), isNamePart(scalar) {
      position += UTF8.width(scalar)
    }
  }

  /// Whether a scalar is in CQL2's `identifierStart`, which is that of XML.
  private func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x3A, 0x5F, 0x41...0x5A, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFE,
      0x200C...0x200D, 0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD,
      0x10000...0xEFFFF:
      true
    default: false
    }
  }

  private func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x2E, 0x30...0x39, 0x300...0x36F, 0x203F...0x2040: true
    default: isNameStart(scalar)
    }
  }
}

extension String {
  /// The number with a digit on both sides of the point, as the standard library requires.
  fileprivate var replacingPoint: String {
    let text = hasPrefix(".") ? "0" + self : self
    guard let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) else { return text }
    let next = text.utf8.index(after: point)
    guard next < text.utf8.endIndex, text.utf8[next] | 0x20 == UInt8(ascii: "e") else { return text }
    return text[..<next] + "0" + text[next...]
  }
}
