// What the reference and `session/describe` say of each function.

extension ExpressionFunction {
  /// One or more sentences.
  var doc: String {
    switch self {
    case .casei:
      "The text without difference of case, on both sides of a comparison, or around the pattern of LIKE too: full case folding of Unicode, by which `ß` and `SS` match."
    case .accenti:
      "The text without accents that Unicode's canonical decomposition separates from a letter; to be used as CASEI. It separates none from `ø` or `ł`, which are letters of their own and stay."
    case .upper: "The text in upper case."
    case .lower: "The text in lower case."
    case .trim: "The text without white space at both ends."
    case .length: "The number of code points."
    case .substring:
      "From the code point numbered `start`, the first being 1, to the end or as many as `count`. As in SQL, a start before the first reduces the count."
    case .replace: "The text with each `old`, from the left, replaced by `new`."
    case .concat: "All values as one text."
    case .toText: "The value as text; of an object or array its JSON."
    case .toNumber: "The number that a text says in decimal digits; null for other texts."
    case .abs: "The number without its sign."
    case .ceil: "The nearest whole number that is not less."
    case .floor: "The nearest whole number that is not greater."
    case .round: "The number rounded to `decimals`, without them to a whole one; halves away from zero."
    case .sqrt: "The square root; null of a negative number."
    case .min: "The least value; null where one is null, or two do not compare."
    case .max: "The greatest value; null where one is null, or two do not compare."
    case .count: "The number of elements of an array, or of members of an object."
    case .coalesce: "The first value that is not null."
    case .iif:
      "`then` where the condition is true, `else` where it is false or unknown. `CASE` has more than one condition."
    case .date: "A day: 'YYYY-MM-DD' in quotes. It is compared as its midnight in UTC."
    case .timestamp: "An instant: 'YYYY-MM-DDThh:mm:ssZ' in quotes."
    case .interval:
      "The time from `start` to `end`, both included: a date or time in quotes, `'..'` for an open end, or an expression. It is null where the end is before the start; of two constants that is refused."
    case .bbox:
      "A box, or with six numbers (xMin, yMin, zMin, xMax, yMax, zMax) one with heights, which do not count. An xMin above xMax is a box across the antimeridian."
    case .envelope: "As `bbox`."
    case .format:
      """
      Numbers and texts by a pattern in quotes, as printf: `%[-+ 0,][width][.precision]` and one of `d f e g E G s`; the flag `,` \
      groups digits. The separators and the grouping are those of `locale`. Digits are always 0 to 9. With one value the pattern may \
      also come last.
      """
    case .formatDate:
      """
      A date or time of RFC 3339 by a pattern in quotes, as strftime. The conversions are `%Y %y %m %d %e %j` (year, year in two \
      digits, month, day, day padded with a space, day of the year), `%H %I %M %S %p` (hours of 24 and of 12, minutes, seconds, AM or \
      PM), `%A %a %B %b` (weekday and month, whole and short), `%F` (`%Y-%m-%d`), `%T` (`%H:%M:%S`), `%z %Z` (`+0100`, the zone's \
      name) and `%%`; `%-d`, and likewise `m e j H I M S`, without padding. A time is converted to `timeZone`; a date without a time \
      is not. Names are in `language`, or in the language of `locale` where that is null: in de, fr, it, es, pt, nl, da, sv, nb, fi, \
      pl, cs, ru, tr, ja, zh, otherwise in English.
      """
    case .formatLength:
      """
      A length with its unit, by `units`. Metric: m, km from 1 km. Imperial: ft, mi from half a mile. \(Self.decimals) A foot is \
      0.3048 m, a mile 1609.344 m, both exact (the international foot and its multiples).
      """
    case .formatArea:
      """
      An area with its unit, by `units`. Metric: m², ha from 1 ha, km² from 1 km². Imperial: ft², ac from 1 acre, mi² from 1 mi². \
      \(Self.decimals) An acre is 4046.8564224 m².
      """
    case .formatSpeed: "A speed with its unit, by `units`: km/h, or mph. \(Self.decimals)"
    default: docOfRelation
    }
  }

  private static let decimals =
    "Without `decimals` (0 to 20) a number below 10 has one decimal, if it is not 0, others none."

  /// An expression without properties that calls it.
  var example: String {
    switch self {
    case .casei: "CASEI('Bern') = CASEI('BERN')"
    case .accenti: "ACCENTI('Zürich') LIKE ACCENTI('Zur%')"
    case .upper: "upper('Bern')"
    case .lower: "lower('Bern')"
    case .trim: "trim(' Bern ')"
    case .length: "length('Bern')"
    case .substring: "substring('Bern', 2, 2)"
    case .replace: "replace('Bern', 'e', 'o')"
    case .concat: "concat('B', 12)"
    case .toText: "toText(12)"
    case .toNumber: "toNumber('12.5')"
    case .abs: "abs(-2)"
    case .ceil: "ceil(1.2)"
    case .floor: "floor(1.8)"
    case .round: "round(1.25, 1)"
    case .sqrt: "sqrt(16)"
    case .min: "min(3, 1, 2)"
    case .max: "max(3, 1, 2)"
    case .count: "count(tags)"
    case .coalesce: "coalesce(name, 'unnamed')"
    case .iif: "iif(2 > 1, 'more', 'less')"
    case .date: "DATE('2000-01-31') < DATE('2000-02-01')"
    case .timestamp: "TIMESTAMP('2000-01-31T12:00:00Z') > DATE('2000-01-31')"
    case .interval: "T_DURING(INTERVAL('2000-01-01', '2000-01-31'), INTERVAL('1999-12-31', '..'))"
    case .bbox: "S_INTERSECTS(BBOX(7, 50, 8, 51), POINT(7.5 50.5))"
    case .envelope: "S_INTERSECTS(ENVELOPE(7, 50, 8, 51), POINT(7.5 50.5))"
    case .format: "format('%.1f of %d', 2.5, 10)"
    case .formatDate: "formatDate('2000-01-31', '%-d %B %Y')"
    case .formatLength: "formatLength(1500)"
    case .formatArea: "formatArea(20000, 1)"
    case .formatSpeed: "formatSpeed(10)"
    default: exampleOfRelation
    }
  }
}
