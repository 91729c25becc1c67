// Model time: nanoseconds since 1970 in the proleptic Gregorian calendar, and their text by RFC 3339.

import Calendar

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
  public var text: String { CivilTime.text(ofMilliseconds: nanoseconds.flooredQuotient(1_000_000)) }

  /// Parses a date-time by RFC 3339, with any offset. Nil if it is malformed or beyond 64 bits of nanoseconds.
  public init?(_ text: String) {
    guard let time = CivilTime(text), !time.isDate else { return nil }
    let (whole, overflow) = time.seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isBeyond) = whole.addingReportingOverflow(time.nanoseconds)
    guard !overflow, !isBeyond else { return nil }
    nanoseconds = sum
  }
}
