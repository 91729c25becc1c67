// Model time: nanoseconds since 1970 on the proleptic Gregorian calendar, and their text by RFC 3339.

/// An instant in UTC.
public struct Instant: Hashable, Comparable, Sendable {
  /// Since 1970-01-01T00:00:00Z, without leap seconds.
  public var nanoseconds: Int64
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Where manual time begins.
  public static let manualStart = Instant(nanoseconds: 946_684_800_000_000_000)

  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The last there is, in the year 2262.
  public static let latest = Instant(nanoseconds: .max)

  /// Later by so many seconds, to the nearest nanosecond; ``latest`` when that is beyond it.
  public func advanced(by seconds: Double) -> Instant {
    let step = (seconds * 1e9).rounded()
    guard abs(step) < 0x1p63 else { return step < 0 ? Instant(nanoseconds: .min) : .latest }
    let (sum, overflow) = nanoseconds.addingReportingOverflow(Int64(step))
    guard !overflow else { return step < 0 ? Instant(nanoseconds: .min) : .latest }
    return Instant(nanoseconds: sum)
  }

  /// Seconds from `other` to this.
  public func seconds(since other: Instant) -> Double {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(other.nanoseconds)
    return overflow ? Double(nanoseconds) / 1e9 - Double(other.nanoseconds) / 1e9 : Double(difference) / 1e9
  }
}

extension Instant {
  /// RFC 3339 in UTC with milliseconds: `2000-01-01T00:00:00.000Z`.
  public var text: String {
    let milliseconds = floorDivide(nanoseconds, 1_000_000)
    let (day, inDay) = (floorDivide(milliseconds, 86_400_000), floorRemainder(milliseconds, 86_400_000))
    let (year, month, dayOfMonth) = Self.civil(fromDays: day)
    func padded(_ value: Int64, _ width: Int) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(dayOfMonth, 2) + "T"
      + padded(inDay / 3_600_000, 2) + ":" + padded(inDay / 60_000 % 60, 2) + ":" + padded(inDay / 1000 % 60, 2) + "."
      + padded(inDay % 1000, 3) + "Z"
  }

  /// Reads RFC 3339's date-time, with any offset; nil when it is none. A leap second counts as the next second.
  public init?(_ text: String) {
    var rest = text.utf8[...]
    func digits(_ count: Int) -> Int64? {
      guard rest.count >= count else { return nil }
      var value: Int64 = 0
      for byte in rest.prefix(count) {
        guard byte >= 0x30, byte <= 0x39 else { return nil }
        value = value * 10 + Int64(byte - 0x30)
      }
      rest = rest.dropFirst(count)
      return value
    }
    func skip(_ allowed: String) -> Bool {
      guard let byte = rest.first, allowed.utf8.contains(byte) else { return false }
      rest = rest.dropFirst()
      return true
    }
    guard let year = digits(4), skip("-"), let month = digits(2), skip("-"), let day = digits(2), skip("Tt "),
      let hour = digits(2), skip(":"), let minute = digits(2), skip(":"), let second = digits(2),
      (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day), hour < 24, minute < 60, second < 61
    else { return nil }
    var fraction: Int64 = 0
    if skip(".") {
      var scale: Int64 = 100_000_000
      var any = false
      while let byte = rest.first, byte >= 0x30, byte <= 0x39 {
        fraction += Int64(byte - 0x30) * scale
        scale /= 10
        rest = rest.dropFirst()
        any = true
      }
      guard any else { return nil }
    }
    var offset: Int64 = 0
    if !skip("Zz") {
      guard let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
      rest = rest.dropFirst()
      guard let hours = digits(2), skip(":"), let minutes = digits(2), hours < 24, minutes < 60 else { return nil }
      offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
    }
    guard rest.isEmpty else { return nil }
    let seconds = Self.days(fromCivil: year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isBeyond) = whole.addingReportingOverflow(fraction)
    guard !overflow, !isBeyond else { return nil }
    nanoseconds = sum
  }

  private static func days(in month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  // Days and civil dates by counting in 400-year eras of 146,097 days that begin on the first of March, so that the leap
  // day is the last of its year.
  private static func days(fromCivil year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let marchYear = month > 2 ? year : year - 1
    let era = floorDivide(marchYear, 400)
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    )
  }
}

private func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
  value >= 0 ? value / divisor : (value + 1) / divisor - 1
}

private func floorRemainder(_ value: Int64, _ divisor: Int64) -> Int64 {
  // At the very beginning of time the product wraps, and the difference back again.
  value &- floorDivide(value, divisor) &* divisor
}
