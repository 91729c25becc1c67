// What months and days are called.

/// The names of one language.
struct CalendarNames: Sendable {
  private let months: [Substring]
  private let shortMonths: [Substring]
  private let weekdays: [Substring]
  private let shortWeekdays: [Substring]
  /// Before noon and after.
  private let halves: [Substring]
  private let monthsAlone: [Substring]
  private let weekdaysAlone: [Substring]

  /// - Parameters:
  ///   - months: beside a day, parted by spaces; `shortMonths` and weekdays as well, from Sunday on.
  ///   - halves: of the day, parted by a bar.
  ///   - monthsAlone: without a day of the month, where that is another form.
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

  /// Those of a BCP 47 tag's language; English for one that is not known.
  init(tag: String) {
    self = Self.known[LanguageTag(tag).language] ?? Self.english
  }

  /// - Parameters:
  ///   - number: from 1.
  ///   - isAlone: without a day of the month beside it.
  func month(_ number: Int64, isAlone: Bool) -> Substring { (isAlone ? monthsAlone : months)[Int(number) - 1] }

  func shortMonth(_ number: Int64) -> Substring { shortMonths[Int(number) - 1] }

  /// - Parameter number: from 0 for Sunday.
  func weekday(_ number: Int64, isAlone: Bool) -> Substring { (isAlone ? weekdaysAlone : weekdays)[Int(number)] }

  func shortWeekday(_ number: Int64) -> Substring { shortWeekdays[Int(number)] }

  func half(isMorning: Bool) -> Substring { halves[isMorning ? 0 : 1] }
}
