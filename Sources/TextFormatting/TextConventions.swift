// How people somewhere write numbers, dates and measures: what text made for them follows, and filters never see.

import Calendar

/// The units that people read.
public enum UnitSystem: String, Hashable, Sendable, CaseIterable { case metric, imperial }

/// How numbers, dates and measures become text.
///
/// A class, so that whoever evaluates an expression for each feature hands on one reference.
public final class TextConventions: Sendable {
  /// English, metric, in UTC: for whatever is computed with, compared or looked up.
  public static let neutral = TextConventions()

  package let numbers: NumberStyle
  let names: CalendarNames
  let units: UnitSystem
  let timeZone: TimeZone

  /// - Parameters:
  ///   - locale: a BCP 47 tag; English for one that is not known.
  ///   - language: of the names of months and days; the locale's when nil.
  public init(
    locale: String = "en", language: String? = nil, units: UnitSystem = .metric, timeZone: TimeZone = .utc
  ) {
    numbers = NumberStyle(tag: locale)
    names = CalendarNames(tag: language ?? locale)
    self.units = units
    self.timeZone = timeZone
  }

  /// The decimal text of a number with the decimal separator that is used here.
  public func pointed(_ number: String) -> String { numbers.pointed(number) }
}
