// Reads WKT from clients. Own code because GEOS 3.11 loses M and reports no position of an error.

/// Why a text is not WKT: what was expected, and where.
public struct WKTError: Error, Hashable, Sendable {
  /// 1-based, in bytes, of the first byte that does not fit.
  public let column: Int
  public let expected: String
  /// At most 20 characters of the input from there; empty at its end.
  public let found: String
}

extension Geometry {
  /// Reads ISO WKT, case-insensitively, with or without parentheses around a multipoint's members.
  ///
  /// Three numbers without a tag are x, y, z and four x, y, z, m. Numbers are finite; Z and M may be `NaN`.
  /// - Parameter keepsEmptyPoints: whether empty members of a multipoint are positions of NaN; otherwise they are dropped.
  /// - Complexity: O(n) in bytes. Collections nest at most ``Geometry/maximumDepth`` deep.
  public init(wkt text: String, keepsEmptyPoints: Bool = false) throws(WKTError) {
    var parser = WKTParser(bytes: Array(text.utf8), keepsEmptyPoints: keepsEmptyPoints)
    self = try parser.geometry(depth: 0)
    try parser.end()
  }
}

private struct WKTParser {
  typealias Layout = WKB.Layout

  let bytes: [UInt8]
  private let keepsEmptyPoints: Bool
  var index = 0
  /// Nil until a tag or the first position determines it; then fixed for the whole geometry, but not for its siblings
  /// in a collection.
  private var layout: Layout?

  init(bytes: [UInt8], keepsEmptyPoints: Bool) { (self.bytes, self.keepsEmptyPoints) = (bytes, keepsEmptyPoints) }

  private func failure(_ expected: String, at offset: Int? = nil) -> WKTError {
    let offset = offset ?? index
    return WKTError(
      column: offset + 1, expected: expected, found: String(decoding: bytes[offset...].prefix(20), as: UTF8.self))
  }

  private mutating func skipSpace() {
    while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
  }

  mutating func end() throws(WKTError) {
    skipSpace()
    guard index == bytes.count else { throw failure("the end") }
  }

  private mutating func take(_ byte: Character) -> Bool {
    skipSpace()
    guard index < bytes.count, bytes[index] == byte.asciiValue else { return false }
    index += 1
    return true
  }

  private mutating func open() throws(WKTError) {
    guard take("(") else { throw failure("'(' or EMPTY") }
  }

  /// Reads letters and returns them in upper case.
  private mutating func word() -> String {
    skipSpace()
    var letters: [UInt8] = []
    while index < bytes.count, case let letter = bytes[index] & 0xDF, (0x41...0x5A).contains(letter) {
      letters.append(letter)
      index += 1
    }
    return String(decoding: letters, as: UTF8.self)
  }

  private mutating func takeEmpty() -> Bool {
    let start = index
    if word() == "EMPTY" { return true }
    index = start
    return false
  }

  private mutating func number(allowNaN: Bool) throws(WKTError) -> Double {
    skipSpace()
    let start = index
    while index < bytes.count, !" \t\r\n,()".utf8.contains(bytes[index]) { index += 1 }
    let token = String(decoding: bytes[start..<index], as: UTF8.self)
    // `Double` reads hexadecimal and "infinity" too; WKT has neither.
    if let value = Double(token), value.isFinite, !token.contains(where: { "xX".contains($0) }) { return value }
    if allowNaN && token.lowercased() == "nan" { return .nan }
    index = start
    throw failure("a number")
  }

  private mutating func position() throws(WKTError) -> Point {
    var numbers = [try number(allowNaN: false), try number(allowNaN: false)]
    skipSpace()
    while numbers.count < 4, index < bytes.count, !",)".utf8.contains(bytes[index]) {
      numbers.append(try number(allowNaN: true))
      skipSpace()
    }
    let known = layout ?? Layout(hasZ: numbers.count > 2, hasM: numbers.count > 3)
    layout = known
    guard numbers.count == known.stride else { throw failure("\(known.stride) numbers a position") }
    return Point(
      x: numbers[0], y: numbers[1], z: known.hasZ ? numbers[2] : nil, m: known.hasM ? numbers[known.stride - 1] : nil)
  }

  /// Reads `EMPTY`, or items between parentheses.
  private mutating func list(_ item: (inout WKTParser) throws(WKTError) -> Void) throws(WKTError) {
    if takeEmpty() { return }
    try open()
    repeat { try item(&self) } while take(",")
    guard take(")") else { throw failure("',' or ')'") }
  }

  /// Reads a list of positions.
  ///
  /// - Parameter item: reads one; nil for an empty one, which is dropped.
  private mutating func positions(
    _ item: (inout WKTParser) throws(WKTError) -> Point?
  ) throws(WKTError) -> Positions {
    var points: [Point] = []
    try list { (parser) throws(WKTError) in
      if let point = try item(&parser) { points.append(point) }
    }
    return points.isEmpty ? Positions(hasZ: layout?.hasZ ?? false, hasM: layout?.hasM ?? false) : Positions(points)
  }

  private mutating func run() throws(WKTError) -> Positions {
    try positions { (parser) throws(WKTError) in try parser.position() }
  }

  private mutating func runs() throws(WKTError) -> [Positions] {
    var result: [Positions] = []
    try list { (parser) throws(WKTError) in result.append(try parser.run()) }
    return result
  }

  /// Reads the members of a multipoint, each with or without parentheses.
  private mutating func points() throws(WKTError) -> Positions {
    try positions { (parser) throws(WKTError) in
      if parser.takeEmpty() { return parser.keepsEmptyPoints ? Point(x: .nan, y: .nan) : nil }
      let isWrapped = parser.take("(")
      let point = try parser.position()
      if isWrapped, !parser.take(")") { throw parser.failure("')'") }
      return point
    }
  }

  /// Reads the type and its tag, separate (`POINT Z`) or in one word (`POINTZ`).
  private mutating func type() throws(WKTError) -> (name: String, layout: Layout?) {
    skipSpace()
    let start = index
    let first = word()
    for name in Self.names where first.hasPrefix(name) {
      var tag = String(first.dropFirst(name.count))
      let behind = index
      if tag.isEmpty {
        tag = word()
        if tag == "EMPTY" || tag.isEmpty { (tag, index) = ("", behind) }
      }
      switch tag {
      case "": return (name, nil)
      case "Z": return (name, Layout(hasZ: true))
      case "M": return (name, Layout(hasM: true))
      case "ZM": return (name, Layout(hasZ: true, hasM: true))
      default: throw failure("Z, M, ZM, EMPTY or '('", at: behind)
      }
    }
    throw failure("one of \(Self.names.joined(separator: ", "))", at: start)
  }

  private static let names = [
    "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION",
  ]

  mutating func geometry(depth: Int) throws(WKTError) -> Geometry {
    let name: String
    (name, layout) = try type()
    switch name {
    case "POINT":
      if takeEmpty() { return .point(nil) }
      try open()
      let point = try position()
      guard take(")") else { throw failure("')'") }
      return .point(point)
    case "LINESTRING": return .lineString(try run())
    case "POLYGON": return .polygon(try runs())
    case "MULTIPOINT": return .multiPoint(try points())
    case "MULTILINESTRING": return .multiLineString(try runs())
    case "MULTIPOLYGON":
      var polygons: [[Positions]] = []
      try list { (parser) throws(WKTError) in polygons.append(try parser.runs()) }
      return .multiPolygon(polygons)
    default:
      guard depth < Geometry.maximumDepth else { throw failure("at most \(Geometry.maximumDepth) nested collections") }
      var parts: [Geometry] = []
      try list { (parser) throws(WKTError) in parts.append(try parser.geometry(depth: depth + 1)) }
      return .collection(parts)
    }
  }
}
