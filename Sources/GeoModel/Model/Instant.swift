// Model time: nanoseconds since 1970 in the proleptic Gregorian calendar, and their text by RFC 3339.

import Calendar
import Geometry

/// An instant in UTC.
public struct Instant: Hashable, Comparable, Sendable {
  /// Nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.
  public var nanoseconds: Int64
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The start of manual time: 2000-01-01T00:00:00Z.
  public static let manualStart = Instant(nanoseconds: 946_684_800_000_000_000)

  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The latest instant, in the year 2262.
  public static let latest = Instant(nanoseconds: .max)

  /// The instant `seconds` later, rounded to a nanosecond and clamped to the range of 64 bits.
  public func advanced(by seconds: Double) -> Instant {
    let step = (seconds * 1e9).rounded()
    guard abs(step) < 0x1p63 else { return step < 0 ? Instant(nanoseconds: .min) : .latest }
    let (sum, overflow) = nanoseconds.addingReportingOverflow(Int64(step))
    guard !overflow else { return step < 0 ? Instant(nanoseconds: .min) : .latest }
    return Instant(nanoseconds: sum)
  }

  /// Seconds from `other` to this instant.
  public func seconds(since other: Instant) -> Double {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(other.nanoseconds)
    return overflow ? Double(nanoseconds) / 1e9 - Double(other.nanoseconds) / 1e9 : Double(difference) / 1e9
  }
}

extension Instant {
  /// The text by RFC 3339, in UTC with milliseconds: `2000-01-01T00:00:00.000Z`.
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

  /// Parses a date-time by RFC 3339, with any offset. Nil if it is malformed or beyond 64 bits of nanoseconds.
  public init?(_ text: String) {
    guard let time = CivilTime(text), !time.isDate else { return nil }
    let (whole, overflow) = time.seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isBeyond) = whole.addingReportingOverflow(time.nanoseconds)
    guard !overflow, !isBeyond else { return nil }
    nanoseconds = sum
  }

  // Counts in eras of 400 years (146,097 days) that begin on March 1, so that the leap day is the last day of its year.
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
  // For the earliest instants the product overflows; the wrapping difference gives the right result.
  value &- floorDivide(value, divisor) &* divisor
}
