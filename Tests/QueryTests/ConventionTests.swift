// Formatting of numbers, dates and measures by conventions.

import Geometry
import Testing

@testable import Calendar
@testable import Expressions
@testable import FeatureStore
@testable import Filtering
@testable import TextFormatting

@Suite struct ConventionTests {
  private func text(_ expression: String, _ conventions: TextConventions) throws -> AttributeValue {
    try Expression(expression).evaluated(by: conventions) { name in
      switch name {
      case "t": .string("2026-03-05T07:08:09.5Z")
      case "day": .string("2026-03-05")
      default: .null
      }
    }
  }

  // MARK: Numbers

  @Test(arguments: [
    ("en", "1,234,567.89", "1,234.5", "0.5"), ("de", "1.234.567,89", "1.234,5", "0,5"),
    ("de-CH", "1’234’567.89", "1’234.5", "0.5"), ("fr", "1\u{202F}234\u{202F}567,89", "1\u{202F}234,5", "0,5"),
    ("fr-CA", "1\u{A0}234\u{A0}567,89", "1\u{A0}234,5", "0,5"), ("sv", "1\u{A0}234\u{A0}567,89", "1\u{A0}234,5", "0,5"),
    // Four digits are not grouped.
    ("es", "1.234.567,89", "1234,5", "0,5"), ("pl", "1\u{A0}234\u{A0}567,89", "1234,5", "0,5"),
    ("pt-PT", "1\u{A0}234\u{A0}567,89", "1234,5", "0,5"), ("it-CH", "1’234’567.89", "1234.5", "0.5"),
    ("es-MX", "1,234,567.89", "1,234.5", "0.5"), ("pt-BR", "1.234.567,89", "1.234,5", "0,5"),
    ("hi-IN", "12,34,567.89", "1,234.5", "0.5"), ("en-IN", "12,34,567.89", "1,234.5", "0.5"),
    // Case, scripts and extensions are ignored; unknown tags format as English.
    ("DE-at", "1.234.567,89", "1.234,5", "0,5"), ("sr-Latn-RS", "1.234.567,89", "1.234,5", "0,5"),
    ("de-u-nu-ch", "1.234.567,89", "1.234,5", "0,5"), ("tlh", "1,234,567.89", "1,234.5", "0.5"),
    ("", "1,234,567.89", "1,234.5", "0.5"),
  ])
  func `numbers have the separators of their locale`(
    locale: String, large: String, small: String, tiny: String
  ) throws {
    let conventions = TextConventions(locale: locale)
    #expect(try text("format(1234567.89, '%,.2f')", conventions) == .string(large))
    #expect(try text("format(1234.5, '%,.1f')", conventions) == .string(small))
    #expect(try text("format('%s', 0.5)", conventions) == .string(tiny))
    #expect(conventions.pointed("0.5") == tiny)
  }

  @Test func `a width counts separators, and other values have none`() throws {
    let german = TextConventions(locale: "de")
    #expect(try text("format(-1234.5, '%,10.1f')", german) == .string("  -1.234,5"))
    #expect(try text("format(1.5, '%08.2f')", german) == .string("00001,50"))
    #expect(try text("format(12345678901, '%,d')", TextConventions(locale: "hi")) == .string("12,34,56,78,901"))
    #expect(try text("format(1500.0, '%.2e')", german) == .string("1,50e+03"))
    #expect(try text("format('%s %s %s', 1.5, 'v1.2', 7)", german) == .string("1,5 v1.2 7"))
    #expect(try text("concat(1.5, '; ', toText(2.5))", german) == .string("1.5; 2.5"))
  }

  // MARK: Dates

  @Test(arguments: [
    ("%Y-%m-%d %H:%M:%S", "2026-03-05 07:08:09"), ("%F %T", "2026-03-05 07:08:09"),
    ("%y %j %e|%-d/%-m", "26 064  5|5/3"),
    ("%A, %a, %B, %b", "Thursday, Thu, March, Mar"), ("%I:%M %p", "07:08 AM"),
    ("%-H %-I %-M %-S %-e %-j", "7 7 8 9 5 64"),
    ("%z %Z", "+0000 UTC"), ("100%% Zürich", "100% Zürich"), ("", ""),
  ])
  func `a date is formatted by its pattern`(pattern: String, expected: String) throws {
    #expect(try text("formatDate(t, '\(pattern)')", .neutral) == .string(expected))
  }

  @Test func `a time is converted to the zone, a date is not`() throws {
    let west = TextConventions(timeZone: TimeZone(.init(seconds: -34_200, abbreviation: "MART")))
    #expect(try text("formatDate(t, '%F %T %z %Z')", west) == .string("2026-03-04 21:38:09 -0930 MART"))
    #expect(try text("formatDate(day, '%F %T %z %Z')", west) == .string("2026-03-05 00:00:00 +0000 UTC"))
    #expect(try text("formatDate(DATE('2026-03-05'), '%F')", west) == .string("2026-03-05"))
    #expect(
      try text("formatDate(TIMESTAMP('2026-03-04T23:00:00Z'), '%F %T')", west) == .string("2026-03-04 13:30:00"))
    #expect(try text("formatDate('0000-01-01T00:00:00Z', '%Y %y %F')", west) == .string("-0001 99 -0001-12-31"))
    let east = TextConventions(timeZone: TimeZone(.init(seconds: 3600, abbreviation: "CET")))
    #expect(try text("formatDate('9999-12-31T23:30:00Z', '%F %I %p')", east) == .string("10000-01-01 12 AM"))
    #expect(try text("formatDate('2026-03-05T11:00:00Z', '%I %p')", east) == .string("12 PM"))
  }

  @Test(arguments: [
    ("de", "5. März 2026", "Donnerstag Do. März"), ("fr", "5. mars 2026", "jeudi jeu. mars"),
    ("pl", "5. marca 2026", "czwartek czw. mar"), ("fi", "5. maaliskuuta 2026", "torstai to maalis"),
    ("ja", "5. 3月 2026", "木曜日 木 3月"), ("zh-Hant", "5. 三月 2026", "星期四 周四 3月"),
    ("no", "5. mars 2026", "torsdag tor. mars"), ("en-GB", "5. March 2026", "Thursday Thu Mar"),
    ("tlh", "5. March 2026", "Thursday Thu Mar"),
  ])
  func `months and days have the names of the language`(language: String, date: String, names: String) throws {
    let conventions = TextConventions(locale: "en", language: language)
    #expect(try text("formatDate(t, '%-d. %B %Y')", conventions) == .string(date))
    #expect(try text("formatDate(t, '%A %a %b')", conventions) == .string(names))
    // Without a language that of the locale is used.
    #expect(try text("formatDate(t, '%-d. %B %Y')", TextConventions(locale: language)) == .string(date))
  }

  @Test func `a month alone has its stand-alone form`() throws {
    #expect(try text("formatDate(t, '%B %Y')", TextConventions(language: "pl")) == .string("marzec 2026"))
    #expect(try text("formatDate(t, '%d %B')", TextConventions(language: "ru")) == .string("05 марта"))
    #expect(try text("formatDate(t, '%B')", TextConventions(language: "ru")) == .string("март"))
    #expect(
      try text("formatDate(t, '%A %d %B')", TextConventions(language: "fi")) == .string("torstaina 05 maaliskuuta"))
  }

  @Test func `every language has twelve months, seven days and two halves`() throws {
    for (tag, names) in CalendarNames.known {
      for month: Int64 in 1...12 {
        #expect(!names.month(month, isAlone: true).isEmpty && !names.month(month, isAlone: false).isEmpty, "\(tag)")
        #expect(!names.shortMonth(month).isEmpty)
      }
      for day: Int64 in 0...6 {
        #expect(!names.weekday(day, isAlone: true).isEmpty && !names.weekday(day, isAlone: false).isEmpty, "\(tag)")
        #expect(!names.shortWeekday(day).isEmpty)
      }
      #expect(names.half(isMorning: true) != names.half(isMorning: false))
    }
  }

  @Test func `a value that is not a date has no text`() throws {
    for value in ["none", "'soon'", "''", "'2026-13-01'", "'2026-03-05T07:08:09'"] {
      #expect(try text("formatDate(\(value), '%F')", .neutral) == .null, "\(value)")
    }
  }

  // MARK: Measures

  @Test(arguments: [
    ("formatLength(0)", "0 m", "0 ft"), ("formatLength(0.42)", "0.4 m", "1.4 ft"),
    ("formatLength(7.96)", "8 m", "26 ft"),
    ("formatLength(999.4)", "999 m", "0.6 mi"), ("formatLength(999.5)", "1 km", "0.6 mi"),
    ("formatLength(804.6)", "805 m", "0.5 mi"), ("formatLength(804.5)", "804 m", "2,639 ft"),
    ("formatLength(1609.344)", "1.6 km", "1 mi"), ("formatLength(12345)", "12 km", "7.7 mi"),
    ("formatLength(1234567.8)", "1,235 km", "767 mi"), ("formatLength(-1500)", "-1.5 km", "-0.9 mi"),
    ("formatLength(-0.01)", "0 m", "0 ft"), ("formatLength(1609.344, 3)", "1.609 km", "1.000 mi"),
    ("formatLength(999.96, 1)", "1.0 km", "0.6 mi"), ("formatLength(850, 0)", "850 m", "1 mi"),
    ("formatArea(5000)", "5,000 m²", "1.2 ac"), ("formatArea(4046.8564224)", "4,047 m²", "1 ac"),
    ("formatArea(10000)", "1 ha", "2.5 ac"), ("formatArea(999999.9, 1)", "1.0 km²", "247.1 ac"),
    ("formatArea(2589988.110336, 2)", "2.59 km²", "1.00 mi²"), ("formatArea(0.09290304)", "0.1 m²", "1 ft²"),
    ("formatSpeed(10)", "36 km/h", "22 mph"), ("formatSpeed(1.4)", "5 km/h", "3.1 mph"),
    ("formatSpeed(13.89, 1)", "50.0 km/h", "31.1 mph"),
  ])
  func `a measure is converted to display units`(expression: String, metric: String, imperial: String) throws {
    #expect(try text(expression, .neutral) == .string(metric))
    #expect(try text(expression, TextConventions(units: .imperial)) == .string(imperial))
  }

  @Test func `a measure has the separators of the locale`() throws {
    let german = TextConventions(locale: "de")
    #expect(try text("formatLength(1234567, 1)", german) == .string("1.234,6 km"))
    #expect(try text("formatSpeed(1)", german) == .string("3,6 km/h"))
  }

  @Test func `a value that is not a measure has no text`() throws {
    for call in [
      "formatLength(none)", "formatArea(t)", "formatSpeed(1, -1)", "formatSpeed(1, 21)", "formatSpeed(1, none)",
    ] {
      #expect(try text(call, .neutral) == .null, "\(call)")
    }
  }

  // MARK: Expressions

  @Test(arguments: [
    ("format(i, '%d')", true), ("concat('a', formatDate(t, '%F'))", true), ("formatLength(x) = '1 m'", true),
    ("concat(i, toText(d))", false), ("i + 1", false), ("upper(t)", false),
  ])
  func `an expression reports whether it depends on conventions`(text: String, isWritten: Bool) throws {
    #expect(try Expression(text).isWrittenByConventions == isWritten)
  }

  @Test func `a compiled expression formats by its own conventions`() throws {
    var store = FeatureStore()
    var batch = FeatureBatch()
    batch.begin()
    batch.set(column: batch.column(named: "d"), .double(1234.5))
    try store.append(batch)
    let expression = try Expression("format(d, '%,.1f')")
    let row = try #require(store[store.rowsInDrawingOrder()[0]])
    #expect(try expression.compiled(for: store.schema).value(of: row) == .string("1,234.5"))
    #expect(
      try expression.compiled(for: store.schema, by: TextConventions(locale: "de")).value(of: row) == .string("1.234,5")
    )
  }
}
