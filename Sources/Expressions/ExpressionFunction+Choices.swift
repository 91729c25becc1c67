// Functions that choose a value, the function for JSON, and literals in the form of calls.

extension FunctionRecord {
  static let choices: [FunctionRecord] = [
    FunctionRecord(
      "count", .init(name: "list", types: .json), result: .number,
      doc: "The number of elements of an array, or of members of an object.", example: "count(tags)",
      textSize: { _ in 0 }, .values { count($0[0]) }),
    FunctionRecord(
      "coalesce", .init(name: "value", types: .any, occurrence: .repeated), result: nil,
      doc: "The first value that is not null.", example: "coalesce(name, 'unnamed')", .first),
    FunctionRecord(
      "iif", .init(name: "condition", types: .boolean), .any("then"), .any("else"), result: nil,
      doc:
        "`then` where the condition is true, `else` where it is false or unknown. `CASE` has more than one condition.",
      example: "iif(2 > 1, 'more', 'less')", .node(.choice)),
  ]

  static let literals: [FunctionRecord] = [
    FunctionRecord(
      "date", .text("literal"), result: .instant,
      doc: "A day: 'YYYY-MM-DD' in quotes. It is compared as its midnight in UTC.",
      example: "DATE('2000-01-31') < DATE('2000-02-01')", .literal(.date)),
    FunctionRecord(
      "timestamp", .text("literal"), result: .instant, doc: "An instant: 'YYYY-MM-DDThh:mm:ssZ' in quotes.",
      example: "TIMESTAMP('2000-01-31T12:00:00Z') > DATE('2000-01-31')", .literal(.timestamp)),
    FunctionRecord(
      "interval", .init(name: "start", types: [.text, .instant]), .init(name: "end", types: [.text, .instant]),
      result: .interval,
      doc:
        "The time from `start` to `end`, both included: a date or time in quotes, `'..'` for an open end, or an expression. It is null where the end is before the start; of two constants that is refused.",
      example: "T_DURING(INTERVAL('2000-01-01', '2000-01-31'), INTERVAL('1999-12-31', '..'))", .literal(.interval)),
    FunctionRecord(
      "bbox", .number("xMin"), .number("yMin"), .number("xMax"), .number("yMax"), result: .geometry,
      doc:
        "A box, or with six numbers (xMin, yMin, zMin, xMax, yMax, zMax) one with heights, which do not count. An xMin above xMax is a box across the antimeridian.",
      example: "S_INTERSECTS(BBOX(7, 50, 8, 51), POINT(7.5 50.5))", .node(.box)),
    FunctionRecord(
      "envelope", .number("xMin"), .number("yMin"), .number("xMax"), .number("yMax"), result: .geometry,
      doc: "As `bbox`.", example: "S_INTERSECTS(ENVELOPE(7, 50, 8, 51), POINT(7.5 50.5))", .node(.box)),
  ]

  /// The number of elements of an array or members of an object. Counts commas outside of texts and inner values.
  static func count(_ value: Scalar) -> Scalar {
    guard case .json(let text) = value else { return .null }
    var (depth, commas, isInText, isEscaped, isEmpty) = (0, 0, false, false, true)
    for byte in text.utf8 {
      if isInText {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInText = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInText = true
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      case UInt8(ascii: ",") where depth == 1: commas += 1
      case 0x20, 0x09, 0x0A, 0x0D: continue
      default: break
      }
      // Only in an empty value, the closing bracket follows the opening one.
      if depth > 1 || depth == 1 && byte != UInt8(ascii: "[") && byte != UInt8(ascii: "{") || isInText {
        isEmpty = false
      }
    }
    return .integer(isEmpty ? 0 : Int64(commas + 1))
  }
}
