// Dates and times in RFC 3339, parsed in place.

/// A date, or a date with time, of the years 0 to 9999 of the proleptic Gregorian calendar. A date equals its midnight
/// in UTC.
public struct CivilTime: Hashable, Comparable, Sendable {
  /// Since 1970-01-01T00:00:00Z, without leap seconds.
  public let seconds: Int64
  /// In 0..<10^9, added to the seconds.
  public let nanoseconds: Int64
  /// Whether the text had no time.
  public let isDate: Bool

  /// Whether both are the same instant; a date equals its midnight.
  public static func == (left: CivilTime, right: CivilTime) -> Bool {
    (left.seconds, left.nanoseconds) == (right.seconds, right.nanoseconds)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(seconds)
    hasher.combine(nanoseconds)
  }

  public static func < (left: CivilTime, right: CivilTime) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }

  public init?(_ text: String) {
    var text = text
    guard let time = text.withUTF8({ CivilTime(utf8: UnsafeRawBufferPointer($0)) }) else { return nil }
    self = time
  }

  /// Parses RFC 3339's full-date or date-time with any offset; nil for other texts. A leap second becomes the next
  /// second; digits beyond nanoseconds are dropped.
  public init?(utf8 text: UnsafeRawBufferPointer) {
    var rest = text[...]
    guard let year = Self.digits(4, &rest), Self.skip("-", &rest), let month = Self.digits(2, &rest),
      Self.skip("-", &rest), let day = Self.digits(2, &rest), (1...12).contains(month),
      (1...CalendarDay.days(in: month, of: year)).contains(day)
    else { return nil }
    let midnight = CalendarDay(year: year, month: month, day: day).number * 86_400
    isDate = rest.isEmpty
    if rest.isEmpty {
      seconds = midnight
      nanoseconds = 0
      return
    }
    guard Self.skip("T", &rest) || Self.skip("t", &rest) || Self.skip(" ", &rest), let hour = Self.digits(2, &rest),
      Self.skip(":", &rest), let minute = Self.digits(2, &rest), Self.skip(":", &rest),
      let second = Self.digits(2, &rest), hour < 24, minute < 60, second < 61, let fraction = Self.fraction(&rest),
      let offset = Self.offset(&rest), rest.isEmpty
    else { return nil }
    seconds = midnight + hour * 3600 + minute * 60 + second - offset
    nanoseconds = fraction
  }

  // MARK: Pieces of the text

  private static func digits(_ count: Int, _ rest: inout Slice<UnsafeRawBufferPointer>) -> Int64? {
    guard rest.count >= count else { return nil }
    var value: Int64 = 0
    for byte in rest.prefix(count) {
      guard byte >= 0x30, byte <= 0x39 else { return nil }
      value = value * 10 + Int64(byte - 0x30)
    }
    rest = rest.dropFirst(count)
    return value
  }

  private static func skip(_ character: Unicode.Scalar, _ rest: inout Slice<UnsafeRawBufferPointer>) -> Bool {
    guard let byte = rest.first, UInt32(byte) == character.value else { return false }
    rest = rest.dropFirst()
    return true
  }

  /// Nanoseconds; 0 without a point.
  private static func fraction(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Int64? {
    guard skip(".", &rest) else { return 0 }
    var value: Int64 = 0
    var scale: Int64 = 100_000_000
    var any = false
    while let digit = digits(1, &rest) {
      value += digit * scale
      scale /= 10
      any = true
    }
    return any ? value : nil
  }

  /// Seconds east of UTC.
  private static func offset(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Int64? {
    if skip("Z", &rest) || skip("z", &rest) { return 0 }
    let isWest = rest.first == UInt8(ascii: "-")
    guard skip("+", &rest) || skip("-", &rest), let hours = digits(2, &rest), skip(":", &rest),
      let minutes = digits(2, &rest), hours < 24, minutes < 60
    else { return nil }
    return (hours * 60 + minutes) * (isWest ? -60 : 60)
  }
}

extension CivilTime {
  /// The text in UTC of an instant since 1970: `2000-01-01T00:00:00.000Z`.
  package static func text(ofMilliseconds milliseconds: Int64) -> String {
    let day = milliseconds.flooredQuotient(86_400_000)
    let inDay = milliseconds - day * 86_400_000
    let date = CalendarDay(number: day)
    func padded(_ value: Int64, _ width: Int) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
    return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T\(padded(inDay / 3_600_000, 2)):"
      + "\(padded(inDay / 60_000 % 60, 2)):\(padded(inDay / 1000 % 60, 2)).\(padded(inDay % 1000, 3))Z"
  }
}
