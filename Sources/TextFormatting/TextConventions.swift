// Conventions for formatting numbers, dates and measures. Filters never depend on them.

import Calendar

/// Display units.
public enum UnitSystem: String, Hashable, Sendable, CaseIterable { case metric, imperial }

/// Formats numbers, dates and measures.
///
/// A class, so that evaluating an expression for each feature passes a single reference.
public final class TextConventions: Sendable {
  /// English, metric, UTC: for computations, comparisons and look-ups.
  public static let neutral = TextConventions()

  package let numbers: NumberStyle
  let names: CalendarNames
  package let units: UnitSystem
  let timeZone: TimeZone

  /// - Parameters:
  ///   - locale: a BCP 47 tag; English for an unknown one.
  ///   - language: of month and day names; nil for that of the locale.
  public init(
    locale: String = "en", language: String? = nil, units: UnitSystem = .metric, timeZone: TimeZone = .utc
  ) {
    numbers = NumberStyle(tag: locale)
    names = CalendarNames(tag: language ?? locale)
    self.units = units
    self.timeZone = timeZone
  }

  /// The decimal text of a number with the locale's decimal separator.
  public func pointed(_ number: String) -> String { numbers.pointed(number) }
}
