// Converts GeoJSON geometries to well-known text, and quotes names and texts.

import Geometry
import JSON

extension JSONExpressionReader {
  mutating func geometry(_ value: JSONValue, at place: Int, depth: Int) throws(ExpressionError) {
    let type = step("type", from: place)
    guard value.kind == .object else { throw wrong(value, place, "a geometry of GeoJSON") }
    guard depth <= Geometry.maximumDepth else {
      throw error(
        .tooDeep, place, expected: "at most \(Geometry.maximumDepth) nested collections", found: "more")
    }
    guard value["type"].kind == .string, let levels = Self.levels[value["type"].text] else {
      throw wrong(value["type"], type, "one of \(Self.levels.keys.sorted().joined(separator: ", "))")
    }
    try require(["type", levels == nil ? "geometries" : "coordinates", "bbox"], of: value, place)
    mark(place)
    append(value["type"].text.uppercased() + (Self.hasZ(value["coordinates"]) ? " Z " : " "))
    if let levels {
      let list = step("coordinates", from: place)
      return try coordinates(value["coordinates"], at: list, levels: levels, isPoint: levels == 0)
    }
    let (parts, list) = (value["geometries"], step("geometries", from: place))
    guard parts.kind == .array else { throw wrong(parts, list, "an array of geometries") }
    if parts.count == 0 { return append("EMPTY") }
    append("(")
    for index in 0..<parts.count {
      if index > 0 { append(", ") }
      try geometry(parts[index], at: step(String(index), from: list), depth: depth + 1)
    }
    append(")")
  }

  /// Depth of positions in the coordinates of each type; nil for a collection.
  private static let levels: [String: Int?] = [
    "Point": 0, "LineString": 1, "Polygon": 2, "MultiPoint": 1, "MultiLineString": 2, "MultiPolygon": 3,
    "GeometryCollection": nil,
  ]

  /// Whether the first position has three numbers.
  private static func hasZ(_ coordinates: JSONValue) -> Bool {
    var value = coordinates
    while value.kind == .array, value[0].kind == .array { value = value[0] }
    return value.kind == .array && value.count > 2 && value[0].number != nil
  }

  private mutating func coordinates(
    _ value: JSONValue, at place: Int, levels: Int, isPoint: Bool = false
  ) throws(ExpressionError) {
    guard value.kind == .array else { throw wrong(value, place, levels == 0 ? "a position: [x, y]" : "an array") }
    mark(place)
    if value.count == 0, levels > 0 || isPoint { return append("EMPTY") }
    if levels == 0 {
      guard value.count >= 2 else { throw wrong(value, place, "a position: [x, y] or [x, y, z]") }
      if isPoint { append("(") }
      for axis in 0..<min(value.count, 3) {
        guard let number = value[axis].number else {
          let place = step(String(axis), from: place)
          throw wrong(value[axis], place, "a number")
        }
        append(axis == 0 ? "\(number)" : " \(number)")
      }
      if isPoint { append(")") }
      return
    }
    append("(")
    for index in 0..<value.count {
      if index > 0 { append(", ") }
      try coordinates(value[index], at: step(String(index), from: place), levels: levels - 1)
    }
    append(")")
  }
}

extension Expression {
  /// A text between quotes, or the name of a property between double ones, as CQL2 text has it.
  package static func quoted(_ text: String, by quote: Unicode.Scalar = "'") -> String {
    let quote = UInt8(ascii: quote)
    var result = [quote]
    for byte in text.utf8 {
      // Backslashes are escapes in texts only.
      if byte == quote || byte == UInt8(ascii: "\\") && quote == UInt8(ascii: "'") { result.append(byte) }
      result.append(byte)
    }
    return String(decoding: result + [quote], as: UTF8.self)
  }
}

extension JSONExpressionReader {
  /// A name, in quotes unless it is a plain word that is not a keyword.
  static func name(_ name: String) -> String {
    let isPlain =
      name.utf8.allSatisfy {
        $0 == UInt8(ascii: "_") || $0 < 0x80 && Character(Unicode.Scalar($0)).isLetter || $0 >= 0x30 && $0 <= 0x39
      }
      && !(name.utf8.first.map { $0 >= 0x30 && $0 <= 0x39 } ?? true)
    if isPlain, !reserved.contains(name.lowercased()) { return name }
    return Expression.quoted(name, by: "\"")
  }

  private static let reserved = Set(
    ExpressionToken.Keyword.allCases.map(\.rawValue) + ["case", "when", "then", "else", "end"])
}
