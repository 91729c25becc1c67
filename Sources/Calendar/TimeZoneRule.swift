// The rule of a time zone for all later years: a POSIX TZ string, as in the footer of RFC 8536.

/// Standard time, and optionally daylight saving time between two days of each year.
struct TimeZoneRule: Sendable {
  /// A day and time of each year.
  fileprivate enum Day {
    /// 1...365, ignoring leap days.
    case withoutLeap(Int64)
    /// 0...365
    case fromZero(Int64)
    /// Week 5 is the last one; 0 is Sunday.
    case week(month: Int64, week: Int64, weekday: Int64)
  }
  fileprivate struct Moment {
    let day: Day
    /// Seconds of local time, which may be on another day.
    let time: Int64
  }

  private let standard: TimeZone.Offset
  private let daylight: TimeZone.Offset
  /// Start and end of daylight saving time; nil without it.
  private let season: (start: Moment, end: Moment)?

  /// Parses `std offset [dst [offset] , start [/time] , end [/time]]`; nil for other texts.
  init?(_ text: some Collection<UInt8>) {
    var rest = Array(text)[...]
    guard let name = Self.name(&rest), let west = Self.time(&rest, hours: 24) else { return nil }
    standard = TimeZone.Offset(seconds: -west, abbreviation: name)
    guard !rest.isEmpty else {
      daylight = standard
      season = nil
      return
    }
    guard let other = Self.name(&rest) else { return nil }
    var east = standard.seconds + 3600
    if rest.first != UInt8(ascii: ",") {
      guard let west = Self.time(&rest, hours: 24) else { return nil }
      east = -west
    }
    daylight = TimeZone.Offset(seconds: east, abbreviation: other)
    guard let start = Self.moment(&rest), let end = Self.moment(&rest), rest.isEmpty else { return nil }
    season = (start, end)
  }

  /// The offset at an instant, in seconds since 1970-01-01T00:00:00Z.
  func offset(at seconds: Int64) -> TimeZone.Offset {
    guard let season else { return standard }
    // 34,000 years either way suffice, and cannot overflow.
    let seconds = min(max(seconds, -1 << 40), 1 << 40)
    let year = CalendarDay(number: (seconds + standard.seconds).flooredQuotient(86_400)).year
    var best = standard
    var since = Int64.min
    // The local time of a change may be in an adjacent year. If one period of daylight saving time ends where the next begins, it
    // continues.
    for year in year - 1...year + 1 {
      let start = season.start.seconds(in: year) - standard.seconds
      let end = season.end.seconds(in: year) - daylight.seconds
      if end <= seconds, end > since { (best, since) = (standard, end) }
      if start <= seconds, start >= since { (best, since) = (daylight, start) }
    }
    return best
  }

  // MARK: Pieces of the text

  /// Three letters or more, or letters, digits and signs in angle brackets.
  private static func name(_ rest: inout ArraySlice<UInt8>) -> String? {
    func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z") }
    guard rest.first == UInt8(ascii: "<") else {
      let letters = rest.prefix(while: isLetter)
      rest = rest.dropFirst(letters.count)
      return letters.count >= 3 ? String(decoding: letters, as: UTF8.self) : nil
    }
    let inside = rest.dropFirst().prefix { $0 != UInt8(ascii: ">") }
    guard inside.allSatisfy({ isLetter($0) || $0 == 0x2B || $0 == 0x2D || ($0 >= 0x30 && $0 <= 0x39) }),
      inside.endIndex < rest.endIndex, !inside.isEmpty
    else { return nil }
    rest = rest[(inside.endIndex + 1)...]
    return String(decoding: inside, as: UTF8.self)
  }

  /// `[+-]hh[:mm[:ss]]` in seconds.
  private static func time(_ rest: inout ArraySlice<UInt8>, hours limit: Int64) -> Int64? {
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    guard var seconds = number(&rest, 0...limit).map({ $0 * 3600 }) else { return nil }
    for unit: Int64 in [60, 1] {
      guard rest.first == UInt8(ascii: ":") else { break }
      rest.removeFirst()
      guard let count = number(&rest, 0...59) else { return nil }
      seconds += count * unit
    }
    return isNegative ? -seconds : seconds
  }

  private static func number(_ rest: inout ArraySlice<UInt8>, _ range: ClosedRange<Int64>) -> Int64? {
    let digits = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }
    guard (1...3).contains(digits.count), let value = Int64(String(decoding: digits, as: UTF8.self)),
      range.contains(value)
    else { return nil }
    rest = rest.dropFirst(digits.count)
    return value
  }

  private static func moment(_ rest: inout ArraySlice<UInt8>) -> Moment? {
    guard rest.popFirst() == UInt8(ascii: ","), let day = day(&rest) else { return nil }
    guard rest.first == UInt8(ascii: "/") else { return Moment(day: day, time: 7200) }
    rest.removeFirst()
    // Up to a week either way is RFC 8536's extension.
    return time(&rest, hours: 167).map { Moment(day: day, time: $0) }
  }

  private static func day(_ rest: inout ArraySlice<UInt8>) -> Day? {
    switch rest.first {
    case UInt8(ascii: "J"):
      rest.removeFirst()
      return number(&rest, 1...365).map { .withoutLeap($0) }
    case UInt8(ascii: "M"):
      rest.removeFirst()
      guard let month = number(&rest, 1...12), rest.popFirst() == UInt8(ascii: "."), let week = number(&rest, 1...5),
        rest.popFirst() == UInt8(ascii: "."), let weekday = number(&rest, 0...6)
      else { return nil }
      return .week(month: month, week: week, weekday: weekday)
    default: return number(&rest, 0...365).map { .fromZero($0) }
    }
  }
}

extension TimeZoneRule.Moment {
  /// Local time, in seconds since 1970-01-01T00:00:00.
  fileprivate func seconds(in year: Int64) -> Int64 {
    let newYear = CalendarDay(year: year, month: 1, day: 1).number
    let number: Int64
    switch day {
    case .withoutLeap(let day): number = newYear + day - 1 + (CalendarDay.isLeap(year) && day >= 60 ? 1 : 0)
    case .fromZero(let day): number = newYear + day
    case .week(let month, let week, let weekday):
      let first = CalendarDay(year: year, month: month, day: 1)
      let offset = (weekday - first.weekday + 7) % 7 + (week - 1) * 7
      let isBeyond = offset >= CalendarDay.days(in: month, of: year)
      number = first.number + offset - (isBeyond ? 7 : 0)
    }
    return number * 86_400 + time
  }
}
