// Formats dates and times by a pattern: a subset of strftime's, checked once.

import Calendar

/// A pattern: text with `%` and one of `Y y m d e j H I M S p a A b B F T z Z`; `%%` is a percent sign.
///
/// `%-m`, and likewise for `d e j H I M S`, omits padding. A time is shown in the conventions' time zone, names in
/// their language; months and weekdays in the form used with a day of the month if the pattern has one. A date without
/// time is not shifted: it is midnight in UTC.
package struct DateFormat: Sendable {
  private struct Field: Sendable {
    let letter: UInt8
    let isFilled: Bool
  }

  private let pieces: [PatternPiece<Field>]
  /// Whether the pattern has no day of the month, which selects another form of names.
  private let isAlone: Bool

  package init(_ pattern: String) throws(PatternProblem) {
    pieces = try PatternPiece.split(
      pattern,
      expected: "% and one of Y y m d e j H I M S p a A b B F T z Z, %- and one of m d e j H I M S, or %%", excerpt: 4
    ) { rest in
      let isBare = rest.first == UInt8(ascii: "-")
      if isBare { rest.removeFirst() }
      guard let letter = rest.popFirst(), (isBare ? "mdejHIMS" : "YymdejHIMSpaAbBFTzZ").utf8.contains(letter) else {
        return nil
      }
      return Field(letter: letter, isFilled: !isBare)
    }
    isAlone = !pieces.contains { if case .field(let field) = $0 { "deF".utf8.contains(field.letter) } else { false } }
  }

  /// The text of a date or time.
  package func text(of time: CivilTime, by conventions: TextConventions) -> String {
    let local = LocalTime(time, in: conventions.timeZone)
    var result = ""
    for piece in pieces {
      switch piece {
      case .text(let text): result += text
      case .field(let field): result += text(of: field, local, conventions.names)
      }
    }
    return result
  }

  private func text(of field: Field, _ time: LocalTime, _ names: CalendarNames) -> String {
    func number(_ value: Int64, _ width: Int = 2, by filling: Character = "0") -> String {
      let digits = String(value.magnitude)
      let missing = field.isFilled ? max(0, width - digits.utf8.count) : 0
      return (value < 0 ? "-" : "") + String(repeating: filling, count: missing) + digits
    }
    let day = time.day
    switch field.letter {
    case UInt8(ascii: "Y"): return number(day.year, 4)
    case UInt8(ascii: "y"): return number(day.year - day.year.flooredQuotient(100) * 100)
    case UInt8(ascii: "m"): return number(day.month)
    case UInt8(ascii: "d"): return number(day.day)
    case UInt8(ascii: "e"): return number(day.day, by: " ")
    case UInt8(ascii: "j"): return number(day.dayOfYear, 3)
    case UInt8(ascii: "H"): return number(time.hour)
    case UInt8(ascii: "I"): return number((time.hour + 11) % 12 + 1)
    case UInt8(ascii: "M"): return number(time.minute)
    case UInt8(ascii: "S"): return number(time.second)
    case UInt8(ascii: "p"): return String(names.half(isMorning: time.hour < 12))
    case UInt8(ascii: "a"): return String(names.shortWeekday(day.weekday))
    case UInt8(ascii: "A"): return String(names.weekday(day.weekday, isAlone: isAlone))
    case UInt8(ascii: "b"): return String(names.shortMonth(day.month))
    case UInt8(ascii: "B"): return String(names.month(day.month, isAlone: isAlone))
    case UInt8(ascii: "F"): return "\(number(day.year, 4))-\(number(day.month))-\(number(day.day))"
    case UInt8(ascii: "T"): return "\(number(time.hour)):\(number(time.minute)):\(number(time.second))"
    case UInt8(ascii: "z"):
      let minutes = time.offset.seconds.magnitude / 60
      return (time.offset.seconds < 0 ? "-" : "+") + number(Int64(minutes / 60)) + number(Int64(minutes % 60))
    default: return time.offset.abbreviation
    }
  }
}

/// Local date and time.
private struct LocalTime {
  let day: CalendarDay
  let hour: Int64
  let minute: Int64
  let second: Int64
  let offset: TimeZone.Offset

  init(_ time: CivilTime, in zone: TimeZone) {
    offset = (time.isDate ? .utc : zone).offset(at: time.seconds)
    let seconds = time.seconds + offset.seconds
    let number = seconds.flooredQuotient(86_400)
    let left = seconds - number * 86_400
    day = CalendarDay(number: number)
    hour = left / 3600
    minute = left / 60 % 60
    second = left % 60
  }
}
