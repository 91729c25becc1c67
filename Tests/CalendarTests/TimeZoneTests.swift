// Time zones: offsets at instants, and refusal of invalid files.

import Testing

@testable import Calendar

@Suite struct TimeZoneTests {
  @Test(arguments: [-1...1, 1599...2401, 9999...10_000] as [ClosedRange<Int64>])
  func `days and their numbers are the same both ways`(years: ClosedRange<Int64>) {
    var number = CalendarDay(year: years.lowerBound, month: 1, day: 1).number
    var wrong: CalendarDay?
    for year in years {
      for month: Int64 in 1...12 {
        for day in 1...CalendarDay.days(in: month, of: year) {
          let expected = CalendarDay(year: year, month: month, day: day)
          if CalendarDay(number: number) != expected || expected.number != number { wrong = wrong ?? expected }
          number += 1
        }
      }
    }
    #expect(wrong == nil)
  }

  @Test func `a day knows its weekday and its number in the year`() {
    let day = CalendarDay(year: 2026, month: 11, day: 21)
    #expect(day.weekday == 6 && day.dayOfYear == 325)
    #expect(CalendarDay(year: 1969, month: 12, day: 31).weekday == 3)
    #expect(CalendarDay(year: 2024, month: 12, day: 31).dayOfYear == 366)
    #expect(CalendarDay(year: 1900, month: 12, day: 31).dayOfYear == 365)
  }

  @Test(arguments: [
    // The skipped hour, and the repeated one.
    ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T00:59:59Z", 3600, "CET"),
    ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", 7200, "CEST"),
    ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T00:59:59Z", 7200, "CEST"),
    ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T01:00:00Z", 3600, "CET"),
    ("CET-1CEST,M3.5.0,M10.5.0/3", "2099-07-01T00:00:00Z", 7200, "CEST"),
    // In the southern hemisphere summer spans the new year.
    ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2040-01-01T00:00:00Z", 39_600, "AEDT"),
    ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2040-03-31T15:59:59Z", 39_600, "AEDT"),
    ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2040-03-31T16:00:00Z", 36_000, "AEST"),
    ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2040-10-06T16:00:00Z", 39_600, "AEDT"),
    // Half-hour daylight saving, numeric abbreviations, times on other days, no daylight saving.
    ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-01-01T00:00:00Z", 39_600, "+11"),
    ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-07-01T00:00:00Z", 37_800, "+1030"),
    ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z", -7200, "-02"),
    ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -3600, "-01"),
    ("IST-2IDT,M3.4.4/26,M10.5.0", "2026-03-26T23:59:59Z", 7200, "IST"),
    ("IST-2IDT,M3.4.4/26,M10.5.0", "2026-03-27T00:00:00Z", 10_800, "IDT"),
    ("<-03>3", "2200-01-01T00:00:00Z", -10_800, "-03"),
    // Irish law defines winter time as the daylight saving time.
    ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-01-15T00:00:00Z", 0, "GMT"),
    ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-15T00:00:00Z", 3600, "IST"),
    // Days by number, with and without leap days.
    ("AAA0BBB,J60/0,J300/0", "2024-02-29T23:59:59Z", 0, "AAA"),
    ("AAA0BBB,J60/0,J300/0", "2024-03-01T00:00:00Z", 3600, "BBB"),
    ("AAA0BBB,59/0,J300/0", "2024-02-29T00:00:00Z", 3600, "BBB"),
    // Daylight saving all year: one year's end is the next one's start.
    ("XXX3EDT4,0/0,J365/23", "2026-12-31T23:59:59Z", -14_400, "EDT"),
    ("XXX3EDT4,0/0,J365/23", "2027-01-01T03:00:00Z", -14_400, "EDT"),
  ])
  func `a rule says what holds in any year`(rule: String, time: String, seconds: Int64, name: String) throws {
    let rule = try #require(TimeZoneRule(rule.utf8))
    let time = try #require(CivilTime(time))
    #expect(rule.offset(at: time.seconds) == TimeZone.Offset(seconds: seconds, abbreviation: name))
  }

  @Test(arguments: [
    "", "C-1", "CET", "CET-25", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
    "CET-1CEST,M3.6.0,M10.5.0",
    "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J1", "CET-1CEST,366,1", "CET-1CEST,M3.5.0/168,M10.5.0", "CET-1:60",
    "<CET-1", "<>1", "CET-1CEST,M3.5.0,M10.5.0,", "CET-1CEST,M3.5.0,M10.5.0 ", "CET-99999999999999999999",
  ])
  func `what is no rule is refused`(text: String) { #expect(TimeZoneRule(text.utf8) == nil) }

  @Test(arguments: [Int64.min, .max]) func `the ends of time have an offset`(seconds: Int64) throws {
    let rule = try #require(TimeZoneRule("CET-1CEST,M3.5.0,M10.5.0/3".utf8))
    #expect([3600, 7200].contains(rule.offset(at: seconds).seconds))
  }

  @Test func `a file's transitions count, its first kind before them and its rule behind them`() throws {
    let file = ZoneFile(
      times: [-1000, 0, 1000], kinds: [1, 2, 1], types: [(2345, 0), (3600, 4), (7200, 8)],
      names: "LMT\0CET\0CEST\0", footer: "CET-1CEST,M3.5.0,M10.5.0/3")
    let zone = try #require(TimeZone(tzif: file.bytes))
    let found = [Int64.min, -1001, -1000, -1, 0, 999].map { zone.offset(at: $0) }
    #expect(found.map(\.seconds) == [2345, 2345, 3600, 3600, 7200, 7200])
    #expect(found.map(\.abbreviation) == ["LMT", "LMT", "CET", "CET", "CEST", "CEST"])
    // 2050-07-01 is after the table's end.
    #expect(zone.offset(at: 1000).abbreviation == "CET" && zone.offset(at: 2_540_246_400).abbreviation == "CEST")
  }

  @Test func `without a rule the last kind goes on, and without transitions the rule is all`() throws {
    let open = ZoneFile(times: [0], kinds: [1], types: [(0, 0), (3600, 0)], names: "XYZ\0", footer: "")
    #expect(try #require(TimeZone(tzif: open.bytes)).offset(at: .max).seconds == 3600)
    let fixed = ZoneFile(times: [], kinds: [], types: [(0, 0)], names: "UTC\0", footer: "<-05>5")
    #expect(try #require(TimeZone(tzif: fixed.bytes)).offset(at: 0).abbreviation == "-05")
  }

  @Test func `a damaged file is none, wherever it is cut`() {
    let file = ZoneFile(
      times: [-1000, 0], kinds: [1, 0], types: [(2345, 0), (3600, 4)], names: "LMT\0CET\0", footer: "CET-1")
    #expect(TimeZone(tzif: file.bytes) != nil)
    for count in 0..<file.bytes.count { #expect(TimeZone(tzif: Array(file.bytes[..<count])) == nil) }
    var wrong = file
    wrong.version = 0
    #expect(TimeZone(tzif: wrong.bytes) == nil)
    wrong = file
    wrong.kinds = [1, 2]
    #expect(TimeZone(tzif: wrong.bytes) == nil)
    wrong = file
    wrong.times = [0, 0]
    #expect(TimeZone(tzif: wrong.bytes) == nil)
    wrong = file
    wrong.types = [(2345, 0), (3600, 8)]
    #expect(TimeZone(tzif: wrong.bytes) == nil)
    wrong = file
    wrong.types = [(100_000, 0), (3600, 4)]
    #expect(TimeZone(tzif: wrong.bytes) == nil)
    wrong = file
    wrong.types = []
    #expect(TimeZone(tzif: wrong.bytes) == nil)
    wrong = file
    wrong.footer = "C"
    #expect(TimeZone(tzif: wrong.bytes) == nil)
    wrong = file
    wrong.leaps = 1
    #expect(TimeZone(tzif: wrong.bytes) == nil)
  }

  @Test func `zones of whole hours need no file`() {
    let zones = FixedTimeZones()
    func zone(_ name: String) -> TimeZone.Offset? { zones.zone(named: name)?.offset(at: 0) }
    #expect(zone("UTC") == .init(seconds: 0, abbreviation: "UTC") && zone("Etc/UTC") == zone("UTC"))
    #expect(zone("Etc/GMT") == .init(seconds: 0, abbreviation: "GMT") && zone("Etc/GMT+0") == zone("Etc/GMT"))
    #expect(zone("Etc/GMT+5") == .init(seconds: -18_000, abbreviation: "-05"))
    #expect(zone("Etc/GMT-14") == .init(seconds: 50_400, abbreviation: "+14"))
    for name in [
      "", "Etc", "Etc/GMT+13", "Etc/GMT-15", "Etc/GMT+05", "Etc/GMT5", "Etc/GMT+", "Etc/GMT+-1", "Europe/Berlin",
    ] {
      #expect(zone(name) == nil, "\(name)")
    }
  }
}

/// Builds a file of the format.
private struct ZoneFile {
  var times: [Int64]
  var kinds: [UInt8]
  var types: [(seconds: Int32, name: UInt8)]
  var names: String
  var footer: String
  var version = UInt8(ascii: "2")
  var leaps = 0

  var bytes: [UInt8] {
    // Readers of version 2 skip the first part; here it holds one type.
    block(times: [], size: 4, kinds: [], types: [(0, 0)], names: "X\0", leaps: 0)
      + block(times: times, size: 8, kinds: kinds, types: types, names: names, leaps: leaps)
      + Array("\n\(footer)\n".utf8)
  }

  private func block(
    times: [Int64], size: Int, kinds: [UInt8], types: [(seconds: Int32, name: UInt8)], names: String, leaps: Int
  ) -> [UInt8] {
    func big(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
    var bytes = Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15)
    for count in [0, 0, leaps, times.count, types.count, names.utf8.count] { bytes += big(UInt32(count)) }
    for time in times { bytes += big(time).suffix(size) }
    bytes += kinds
    for type in types { bytes += big(type.seconds) + [0, type.name] }
    bytes += names.utf8
    return bytes + [UInt8](repeating: 0, count: leaps * (size + 4))
  }
}
