// Names of months and days.

/// The names of one language.
struct CalendarNames: Sendable {
  private let months: [Substring]
  private let shortMonths: [Substring]
  private let weekdays: [Substring]
  private let shortWeekdays: [Substring]
  /// Before and after noon.
  private let halves: [Substring]
  private let monthsAlone: [Substring]
  private let weekdaysAlone: [Substring]

  /// - Parameters:
  ///   - months: as written with a day, separated by spaces; likewise `shortMonths` and weekdays, from Sunday.
  ///   - halves: of the day, separated by a bar.
  ///   - monthsAlone: without a day of the month, if that form differs.
  init(
    months: String, shortMonths: String, weekdays: String, shortWeekdays: String, halves: String,
    monthsAlone: String? = nil, weekdaysAlone: String? = nil
  ) {
    self.months = months.split(separator: " ")
    self.shortMonths = shortMonths.split(separator: " ")
    self.weekdays = weekdays.split(separator: " ")
    self.shortWeekdays = shortWeekdays.split(separator: " ")
    self.halves = halves.split(separator: "|")
    self.monthsAlone = monthsAlone?.split(separator: " ") ?? self.months
    self.weekdaysAlone = weekdaysAlone?.split(separator: " ") ?? self.weekdays
  }

  /// The names in a BCP 47 tag's language; English for an unknown one.
  init(tag: String) {
    self = Self.known[LanguageTag(tag).language] ?? Self.english
  }

  /// - Parameters:
  ///   - number: 1-based.
  ///   - isAlone: without a day of the month.
  func month(_ number: Int64, isAlone: Bool) -> Substring { (isAlone ? monthsAlone : months)[Int(number) - 1] }

  func shortMonth(_ number: Int64) -> Substring { shortMonths[Int(number) - 1] }

  /// - Parameter number: 0 is Sunday.
  func weekday(_ number: Int64, isAlone: Bool) -> Substring { (isAlone ? weekdaysAlone : weekdays)[Int(number)] }

  func shortWeekday(_ number: Int64) -> Substring { shortWeekdays[Int(number)] }

  func half(isMorning: Bool) -> Substring { halves[isMorning ? 0 : 1] }
}
