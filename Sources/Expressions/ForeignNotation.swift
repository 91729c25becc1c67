// What SQL and other languages write otherwise, with the CQL2 that is meant, for errors.

/// Symbols, words and functions that are not CQL2.
enum ForeignNotation {
  /// The CQL2 for a symbol or a word, or for the name of a function followed by `(`; nil if none is known.
  static func meant(by notation: String) -> String? { notation.utf8.count <= 20 ? table[notation.lowercased()] : nil }

  private static let table = Dictionary(
    ofOthers + ofRelations.map { ($0.0.lowercased(), $0.1) }, uniquingKeysWith: { first, _ in first })

  private static let condition = "the condition alone, and names in the param `properties`"
  private static let figures = "the param `statistics` of feature/queryStatistics"
  private static let pattern = "LIKE, with % for any text and _ for one character"

  private static let ofOthers: [(String, String)] = [
    ("==", "="), ("===", "="), ("=>", ">="), ("=<", "<="), ("!=", "<>"), ("!==", "<>"), ("**", "^"), ("//", "DIV"),
    ("&&", "AND"), ("&", "AND"), ("||", "OR (texts are joined by concat)"), ("|", "OR"), ("!", "NOT"), ("~", pattern),
    ("`", "double quotes around the name of a property"), ("[", "( ) around a list, or double quotes around the name of a property"),
    ("{", "CQL2 JSON as an object, not as a text"), ("≠", "<>"), ("≤", "<="), ("≥", ">="),
    ("ilike", "CASEI(x) LIKE CASEI(y)"), ("regexp", pattern), ("rlike", pattern), ("similar", pattern),
    ("matches", pattern), ("glob", pattern), ("startswith", "x LIKE 'text%'"), ("endswith", "x LIKE '%text'"),
    ("eq", "="), ("ne", "<>"), ("neq", "<>"), ("lt", "<"), ("le", "<="), ("lte", "<="), ("gt", ">"), ("ge", ">="),
    ("gte", ">="), ("mod", "%"), ("xor", "<> between two truth values"), ("select", condition), ("from", condition),
    ("where", condition), ("order", "the param `orderBy`"), ("limit", "the param `limit`"),
    ("offset", "the param `offset`"), ("group", "the param `groupBy` of feature/queryStatistics"),
    ("having", "the param `having` of feature/queryStatistics"), ("join", "feature/join"),
    ("sum(", figures), ("avg(", figures), ("mean(", figures), ("stddev(", figures), ("variance(", figures),
    ("median(", figures), ("if(", "iif"), ("ifnull(", "coalesce"), ("nvl(", "coalesce"),
    ("isnull(", "x IS NULL, or coalesce"), ("len(", "length"), ("char_length(", "length"), ("substr(", "substring"),
    ("ucase(", "upper"), ("lcase(", "lower"), ("ltrim(", "trim"), ("rtrim(", "trim"), ("ceiling(", "ceil"),
    ("mod(", "x % y"), ("power(", "x ^ y"), ("pow(", "x ^ y"), ("greatest(", "max"), ("least(", "min"),
    ("cast(", "toNumber or toText"), ("to_number(", "toNumber"), ("to_char(", "format or formatDate"),
    ("date_format(", "formatDate"), ("to_date(", "DATE('YYYY-MM-DD')"), ("to_timestamp(", "TIMESTAMP('...Z')"),
    ("startswith(", "x LIKE 'text%'"), ("endswith(", "x LIKE '%text'"), ("regexp_like(", pattern),
    ("st_dwithin(", "S_DISTANCE(x, y) <= metres"), ("dwithin(", "S_DISTANCE(x, y) <= metres"),
    ("st_makeenvelope(", "BBOX"), ("st_geomfromtext(", "the well-known text without quotes"),
    ("st_point(", "POINT(x y)"), ("st_makepoint(", "POINT(x y)"),
  ]

  /// `ST_Within(` and `WITHIN(` for `S_WITHIN`; `during` and `during(` for `T_DURING`.
  private static var ofRelations: [(String, String)] {
    ExpressionFunction.all.map(\.record).flatMap { function -> [(String, String)] in
      let base = String(function.name.dropFirst(2))
      if function.name.hasPrefix("S_") { return [("st_\(base)(", function.name), ("\(base)(", function.name)] }
      return function.name.hasPrefix("T_") ? [(base, "\(function.name)(x, y)"), ("\(base)(", function.name)] : []
    }
  }
}
