// Functions that format numbers, dates and measures by conventions.

import TextFormatting

extension FunctionRecord {
  static let formats: [FunctionRecord] = [
    FunctionRecord(
      "format", .text("pattern"), .init(name: "value", types: .any, occurrence: .repeated), result: .text,
      doc: """
        Numbers and texts by a pattern in quotes, as printf: `%[-+ 0,][width][.precision]` and one of `d f e g E G s`; the flag `,` \
        groups digits. The separators and the grouping are those of `locale`. Digits are always 0 to 9. With one value the pattern may \
        also come last.
        """, example: "format('%.1f of %d', 2.5, 10)", .node(.format)),
    FunctionRecord(
      "formatDate", .init(name: "date", types: [.text, .instant]), .text("pattern"), result: .text,
      doc: """
        A date or time of RFC 3339 by a pattern in quotes, as strftime. The conversions are `%Y %y %m %d %e %j` (year, year in two \
        digits, month, day, day padded with a space, day of the year), `%H %I %M %S %p` (hours of 24 and of 12, minutes, seconds, AM or \
        PM), `%A %a %B %b` (weekday and month, whole and short), `%F` (`%Y-%m-%d`), `%T` (`%H:%M:%S`), `%z %Z` (`+0100`, the zone's \
        name) and `%%`; `%-d`, and likewise `m e j H I M S`, without padding. A time is converted to `timeZone`; a date without a time \
        is not. Names are in `language`, or in the language of `locale` where that is null: in de, fr, it, es, pt, nl, da, sv, nb, fi, \
        pl, cs, ru, tr, ja, zh, otherwise in English.
        """, example: "formatDate('2000-01-31', '%-d %B %Y')", .node(.formatDate)),
    FunctionRecord(
      "formatLength", .number("metres"), .decimals, result: .text,
      doc: """
        A length with its unit, by `units`. Metric: m, km from 1 km. Imperial: ft, mi from half a mile. \(decimals) A foot is \
        0.3048 m, a mile 1609.344 m, both exact (the international foot and its multiples).
        """, example: "formatLength(1500)", measure(.length)),
    FunctionRecord(
      "formatArea", .number("squareMetres"), .decimals, result: .text,
      doc: """
        An area with its unit, by `units`. Metric: m², ha from 1 ha, km² from 1 km². Imperial: ft², ac from 1 acre, mi² from 1 mi². \
        \(decimals) An acre is 4046.8564224 m².
        """, example: "formatArea(20000, 1)", measure(.area)),
    FunctionRecord(
      "formatSpeed", .number("metresPerSecond"), .decimals, result: .text,
      doc: "A speed with its unit, by `units`: km/h, or mph. \(decimals)", example: "formatSpeed(10)", measure(.speed)),
  ]

  private static let decimals =
    "Without `decimals` (0 to 20) a number below 10 has one decimal, if it is not 0, others none."

  private static func measure(_ measure: Measure) -> Evaluation {
    .conventions { arguments, conventions in
      guard let value = arguments[0].number, value.isFinite else { return .null }
      guard arguments.count > 1 else { return .text(measure.text(of: value, by: conventions)) }
      guard let decimals = arguments[1].number?.rounded(.towardZero), (0...20).contains(decimals) else { return .null }
      return .text(measure.text(of: value, decimals: Int(decimals), by: conventions))
    }
  }
}
