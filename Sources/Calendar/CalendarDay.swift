// Conversion between calendar days and day numbers, for parsing, formatting and shifting dates.

/// A day of the proleptic Gregorian calendar.
public struct CalendarDay: Hashable, Sendable {
  /// Year 0 exists.
  public let year: Int64
  /// 1...12
  public let month: Int64
  /// 1...31
  public let day: Int64

  public init(year: Int64, month: Int64, day: Int64) {
    self.year = year
    self.month = month
    self.day = day
  }

  // Counts in eras of 400 years, 146,097 days, that begin on 1 March, so that the leap day is the last of its year.
  // January and February of year 0 belong to the previous era.

  /// The day with that number of days after 1970-01-01.
  public init(number: Int64) {
    let shifted = number + 719_468
    let era = shifted.flooredQuotient(146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// Days since 1970-01-01.
  public var number: Int64 {
    let marchYear = month > 2 ? year : year - 1
    let era = marchYear.flooredQuotient(400)
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// 1-based: 1 is 1 January.
  public var dayOfYear: Int64 { number - CalendarDay(year: year, month: 1, day: 1).number + 1 }

  /// 0-based: 0 is Sunday.
  public var weekday: Int64 {
    // 1 January 1970 was a Thursday.
    let days = number + 4
    return days - days.flooredQuotient(7) * 7
  }

  /// The number of days of a month.
  public static func days(in month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
}

extension Int64 {
  /// The quotient by a positive number, rounded down.
  public func flooredQuotient(_ divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
