// Tokens of JSON text in a buffer, without a tree: strings as byte ranges, numbers as values, everything else skipped and
// checked.

/// Why reading stops.
public enum TextStop: Error, Sendable {
  /// The text continues after the buffer.
  case more
  /// The text is not JSON at an offset of the buffer.
  case broken(offset: Int, expected: StaticString)
  /// The file is left to GDAL because of something unusual in it, which the text describes.
  case odd(StaticString)
}

/// The bytes of a string between its quotes, in the buffer.
public struct RawString {
  public let start: UnsafePointer<UInt8>
  public let count: Int
  public let hasEscapes: Bool

  public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }
}

/// Reads tokens. At least eight zero bytes follow the text: no token contains one, so that no step has to compare with the end.
struct TextScanner {
  /// The next byte.
  var at: UnsafePointer<UInt8>
  let start: UnsafePointer<UInt8>
  let end: UnsafePointer<UInt8>

  init(_ start: UnsafePointer<UInt8>, count: Int, from offset: Int) {
    self.start = start
    at = start + offset
    end = start + count
  }

  var offset: Int { at - start }

  /// The error for a byte that does not belong at its position.
  @inline(never)
  func stop(at place: UnsafePointer<UInt8>, _ expected: StaticString) -> TextStop {
    place >= end ? .more : .broken(offset: place - start, expected: expected)
  }

  /// Skips the byte order mark that some programs write at the start of a file.
  mutating func skipByteOrderMark() {
    if end - at >= 3, at[0] == 0xEF, at[1] == 0xBB, at[2] == 0xBF { at += 3 }
  }

  /// The next byte that is not white space; 0 at the end.
  @inline(__always)
  mutating func next() -> UInt8 {
    while true {
      let byte = at.pointee
      guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
      at += 1
    }
  }

  @inline(__always)
  mutating func expect(_ byte: UInt8, _ expected: StaticString) throws(TextStop) {
    guard next() == byte else { throw stop(at: at, expected) }
    at += 1
  }

  /// Reads a name and the colon after it.
  @inline(__always)
  mutating func name() throws(TextStop) -> RawString {
    try expect(UInt8(ascii: "\""), "a name in quotes")
    let name = try string()
    try expect(UInt8(ascii: ":"), "a colon")
    return name
  }

  /// After a value: whether another one follows in the object or array that ends with `closing`.
  @inline(__always)
  mutating func goesOn(_ closing: UInt8) throws(TextStop) -> Bool {
    let byte = next()
    if byte == UInt8(ascii: ",") {
      at += 1
      return true
    }
    guard byte == closing else { throw stop(at: at, "a comma, or the end of the list") }
    at += 1
    return false
  }

  mutating func literal(_ word: StaticString) throws(TextStop) {
    let start = at
    for index in 0..<word.utf8CodeUnitCount {
      guard at.pointee == word.utf8Start[index] else { throw stop(at: at, "true, false or null") }
      at += 1
    }
    // `nullx` is not a literal, and `null` at the end of the buffer may continue.
    guard at < end else { throw .more }
    let next = at.pointee | 0x20
    if next >= UInt8(ascii: "a"), next <= UInt8(ascii: "z") { throw stop(at: start, "true, false or null") }
  }

  // MARK: Strings

  /// Reads a string; the scanner is after its opening quote.
  @inline(__always)
  mutating func string() throws(TextStop) -> RawString {
    let first = at
    var hasEscapes = false
    while true {
      at += Self.plainBytes(from: at)
      let byte = at.pointee
      if byte == UInt8(ascii: "\"") {
        at += 1
        return RawString(start: first, count: at - 1 - first, hasEscapes: hasEscapes)
      }
      if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        try skipEscape()
      } else if byte >= 0x80 {
        try skipCharacter()
      } else {
        throw stop(at: at, "no control character in a string")
      }
    }
  }

  /// The number of bytes before a quote, a backslash, a control character or a byte beyond ASCII; compares eight at a time.
  @inline(__always)
  private static func plainBytes(from first: UnsafePointer<UInt8>) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var place = UnsafeRawPointer(first)
    while true {
      let word = UInt64(littleEndian: place.loadUnaligned(as: UInt64.self))
      let quotes = word ^ (ones &* 0x22)
      let slashes = word ^ (ones &* 0x5C)
      let found =
        ((quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes | (word &- ones &* 0x20) & ~word | word)
        & (ones &* 0x80)
      if found != 0 { return place - UnsafeRawPointer(first) + found.trailingZeroBitCount >> 3 }
      place += 8
    }
  }

  private mutating func skipEscape() throws(TextStop) {
    let byte = at[1]
    guard byte == UInt8(ascii: "u") else {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
        UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
        at += 2
      default: throw stop(at: at + 1, "an escape")
      }
      return
    }
    let unit = try codeUnit(at: at + 2)
    at += 6
    // GDAL replaces a lone surrogate.
    guard unit & 0xF800 == 0xD800 else { return }
    guard unit < 0xDC00 else { throw .odd("half of a surrogate pair") }
    guard at < end, at + 1 < end else { throw .more }
    guard at[0] == UInt8(ascii: "\\"), at[1] == UInt8(ascii: "u") else { throw .odd("half of a surrogate pair") }
    guard try codeUnit(at: at + 2) & 0xFC00 == 0xDC00 else { throw .odd("half of a surrogate pair") }
    at += 6
  }

  private func codeUnit(at place: UnsafePointer<UInt8>) throws(TextStop) -> UInt16 {
    var unit: UInt16 = 0
    for index in 0..<4 {
      guard let digit = Self.digit(place[index]) else { throw stop(at: place + index, "four hexadecimal digits") }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// A character beyond ASCII: well-formed UTF-8 (table 3-7 of the Unicode standard).
  private mutating func skipCharacter() throws(TextStop) {
    let (count, second): (Int, ClosedRange<UInt8>) =
      switch at.pointee {
      case 0xC2...0xDF: (2, 0x80...0xBF)
      case 0xE0: (3, 0xA0...0xBF)
      case 0xE1...0xEC, 0xEE...0xEF: (3, 0x80...0xBF)
      case 0xED: (3, 0x80...0x9F)
      case 0xF0: (4, 0x90...0xBF)
      case 0xF1...0xF3: (4, 0x80...0xBF)
      case 0xF4: (4, 0x80...0x8F)
      default: throw .odd("text that is no UTF-8")
      }
    guard at + count <= end else { throw .more }
    guard second.contains(at[1]), count < 3 || at[2] & 0xC0 == 0x80, count < 4 || at[3] & 0xC0 == 0x80 else {
      throw .odd("text that is no UTF-8")
    }
    at += count
  }
}
