// Dates and times in strings, recognized as by GDAL's `OGRParseDate`, but for digits after the milliseconds, which are kept.

import Platform

/// A date, a time, or both, in GDAL's representation.
struct Moment {
  private var year: Int16 = 0
  private var month = 0
  private var day = 0
  private var hour = 0
  private var minute = 0
  /// GDAL keeps seconds in a Float, accurate to a millisecond.
  private var second: Float = 0
  /// The digits after the decimal point, at most nine, where there are more than three.
  private var fraction = ""
  private var wholeSecond = 0
  /// GDAL's time zone: quarters of an hour from 100; 0 is unknown.
  private var zone: UInt8 = 0

  /// Nil if the text is not a date or time.
  init?(_ text: UnsafeRawBufferPointer) {
    var text = MomentText(text)
    text.skip(" ")
    var hasDate = false
    if text.rest.contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "/") }) {
      guard readDate(&text) else { return nil }
      if text.isAtEnd { return }
      hasDate = true
      if text.byte == UInt8(ascii: "Z") { return }
      guard text.byte == UInt8(ascii: "T") || text.byte == UInt8(ascii: " ") else { return nil }
      if text.byte == UInt8(ascii: "T") { text.at += 1 }
    }
    text.skip(" ")
    if text.rest.contains(UInt8(ascii: ":")) {
      guard readTime(&text) else { return nil }
    } else if !hasDate || !text.isAtEnd {
      return nil
    }
    text.skip(" ")
    readZone(text)
  }

  private mutating func readDate(_ text: inout MomentText) -> Bool {
    let first = text.byte
    guard MomentText.isDigit(first) || first == UInt8(ascii: "-") || first == UInt8(ascii: "+"),
      var year = Int16(exactly: text.integer())
    else { return false }
    let isShort = text.isSeparator(1) || (text.byte(1) != 0 && text.isSeparator(2))
    if isShort, (30..<100).contains(year) { year += 1900 } else if isShort, (0..<30).contains(year) { year += 2000 }
    self.year = year
    if first == UInt8(ascii: "-") { text.at += 1 }
    text.skipDigits()
    guard text.isSeparator(0) else { return false }
    text.at += 1
    month = text.integer()
    guard (1...12).contains(month) else { return false }
    text.skipDigits()
    guard text.isSeparator(0) else { return false }
    text.at += 1
    day = text.integer()
    guard (1...31).contains(day) else { return false }
    text.skipDigits()
    return true
  }

  private mutating func readTime(_ text: inout MomentText) -> Bool {
    guard MomentText.isDigit(text.byte) else { return false }
    hour = text.integer()
    guard hour <= 23 else { return false }
    text.skipDigits()
    guard text.byte == UInt8(ascii: ":") else { return false }
    text.at += 1
    guard MomentText.isDigit(text.byte) else { return false }
    minute = text.integer()
    guard minute <= 59 else { return false }
    text.skipDigits()
    guard text.byte == UInt8(ascii: ":") else { return true }
    text.at += 1
    guard MomentText.isDigit(text.byte) else { return false }
    let seconds = text.number()
    guard seconds <= 60 else { return false }
    second = Float(seconds)
    wholeSecond = Int(seconds)
    let start = text.at
    while MomentText.isDigit(text.byte) || text.byte == UInt8(ascii: ".") { text.at += 1 }
    let digits = text.between(start, text.at).split(separator: ".", omittingEmptySubsequences: false)
    if digits.count == 2, digits[1].utf8.count > 3, seconds < 60 {
      fraction = String(digits[1].prefix(9).reversed().drop { $0 == "0" }.reversed())
    }
    if text.byte == UInt8(ascii: "Z") { zone = 100 }
    return true
  }

  /// `+HH`, `+HH:MM`, `+HHMM` or `+HMM`, in quarters of an hour; any other is ignored.
  private mutating func readZone(_ text: MomentText) {
    guard text.byte == UInt8(ascii: "-") || text.byte == UInt8(ascii: "+") else { return }
    func digits(_ first: Int, _ count: Int) -> Int {
      (first..<first + count).reduce(0) { sum, index in
        MomentText.isDigit(text.byte(index)) ? sum * 10 + Int(text.byte(index) - UInt8(ascii: "0")) : sum
      }
    }
    let hours: Int
    let minutes: Int
    if text.rest.count <= 3 {
      zone = UInt8(truncatingIfNeeded: 100 + text.integer() * 4)
      return
    } else if text.byte(3) == UInt8(ascii: ":") {
      (hours, minutes) = (text.integer(from: 1), text.integer(from: 4))
    } else if MomentText.isDigit(text.byte(3)), MomentText.isDigit(text.byte(4)) {
      (hours, minutes) = (digits(1, 2), text.integer(from: 3))
    } else if MomentText.isDigit(text.byte(3)), text.rest.count == 4 {
      (hours, minutes) = (digits(1, 1), text.integer(from: 2))
    } else {
      return
    }
    guard minutes % 15 == 0 else { return }
    zone = UInt8(truncatingIfNeeded: 100 &+ hours &* 4 &+ minutes / 15)
    if text.byte == UInt8(ascii: "-") { zone = UInt8(truncatingIfNeeded: 200 - Int(zone)) }
  }
}

extension Moment {
  /// GDAL's type of a string: determined by its punctuation, if it can be parsed.
  static func type(of text: UnsafeRawBufferPointer) -> ValueType {
    // The first byte excludes nearly all other strings.
    guard let first = text.first, first <= UInt8(ascii: "9"), Moment(text) != nil else { return .string }
    let hasDate = text.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "-") }
    let hasTime = text.contains(UInt8(ascii: ":"))
    return hasDate ? hasTime ? .dateTime : .date : .time
  }

  /// RFC 3339. A time without a zone is taken as UTC, as in GeoPackage and OGC API Features.
  func text(as type: ValueType) -> String {
    let date = "\(padded(Int(year), 4))-\(padded(month, 2))-\(padded(day, 2))"
    if type == .date { return date }
    let milliseconds = min(Int((second * 1000).rounded()), 59_999)
    // A float of 59.9999 would be 60.
    let whole = fraction.utf8.count > 3 ? wholeSecond : milliseconds / 1000
    var time = "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(whole, 2))"
    if fraction.utf8.count > 3 { time += "." + fraction } else if milliseconds % 1000 != 0 {
      time += "." + padded(milliseconds % 1000, 3)
    }
    if type == .time { return time }
    let offset = zone > 1 ? (Int(zone) - 100) * 15 : 0
    let sign = offset < 0 ? "-" : "+"
    return "\(date)T\(time)"
      + (offset == 0 ? "Z" : "\(sign)\(padded(abs(offset) / 60, 2)):\(padded(abs(offset) % 60, 2))")
  }

  private func padded(_ value: Int, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

/// A string read with the semantics of C's functions, as if zeros followed its end.
private struct MomentText {
  private let text: UnsafeRawBufferPointer
  var at = 0

  init(_ text: UnsafeRawBufferPointer) { self.text = text }

  var rest: Slice<UnsafeRawBufferPointer> { text[min(at, text.count)...] }
  var isAtEnd: Bool { at >= text.count }
  var byte: UInt8 { byte(0) }

  func byte(_ offset: Int) -> UInt8 { at + offset < text.count ? text[at + offset] : 0 }

  static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  func isSeparator(_ offset: Int) -> Bool {
    byte(offset) == UInt8(ascii: "-") || byte(offset) == UInt8(ascii: "/")
  }

  /// The text between two places.
  func between(_ start: Int, _ end: Int) -> String {
    String(decoding: text[min(start, text.count)..<min(end, text.count)], as: UTF8.self)
  }

  mutating func skip(_ byte: Unicode.Scalar) { while self.byte == UInt8(ascii: byte) { at += 1 } }
  mutating func skipDigits() { while Self.isDigit(byte) { at += 1 } }

  /// `atoi`, which skips white space; the result stops growing beyond a billion.
  func integer(from offset: Int = 0) -> Int {
    var offset = offset
    while byte(offset) == 0x20 || (0x09...0x0D).contains(byte(offset)) { offset += 1 }
    let isNegative = byte(offset) == UInt8(ascii: "-")
    if isNegative || byte(offset) == UInt8(ascii: "+") { offset += 1 }
    var value = 0
    while Self.isDigit(byte(offset)) {
      value = min(value * 10 + Int(byte(offset) - 0x30), 1_000_000_000)
      offset += 1
    }
    return isNegative ? -value : value
  }

  /// `atof` of a text that begins with a digit.
  func number() -> Double {
    let bytes = Array(rest.prefix(64)) + [0]
    return bytes.withUnsafeBytes { raw in
      raw.bindMemory(to: CChar.self).baseAddress.map { strtod($0, nil) } ?? 0
    }
  }
}
