// Geometries in expressions.

import Geometry

/// A geometry given by its coordinates in an expression.
struct GeometryLiteral: Sendable {
  let geometry: Geometry
  /// The numbers of a box as given: 4, or 6 with heights, which are ignored.
  let box: [Double]?
  /// Distances in x by which copies are moved; see ``SpatialPredicate``.
  var shifts: [Double] = [0]
  var seam: Seam?

  /// Whether a name followed by `next` begins well-known text. In other places these names are not reserved.
  static func begins(with name: String, _ next: ExpressionToken) -> Bool {
    guard name.utf8.count <= 20 else { return false }
    let name = name.uppercased()
    guard let type = types.first(where: { name.hasPrefix($0) }) else { return false }
    switch name.dropFirst(type.count) {
    case "":
      if case .name(let tag) = next { return tags.contains(tag.uppercased()) }
      return next == .symbol(.open)
    case "Z", "M", "ZM":
      if case .name(let tag) = next { return tag.uppercased() == "EMPTY" }
      return next == .symbol(.open)
    default: return false
    }
  }

  private static let types = [
    "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION",
  ]
  private static let tags: Set<String> = ["Z", "M", "ZM", "EMPTY"]
}

extension Geometry {
  /// A box as a polygon; as two polygons if it crosses the antimeridian, or as a line or a point if it has no width or height.
  public init(area box: Envelope) {
    let corner = Point(x: box.xMin, y: box.yMin)
    switch (box.xMin == box.xMax, box.yMin == box.yMax) {
    case (true, true): self = .point(corner)
    case (false, false): self.init(box)
    // A box with width or height only becomes a line, or two if it crosses the antimeridian.
    case (true, false), (false, true):
      let lines = box.split(at: 180).map {
        Positions([Point(x: $0.xMin, y: $0.yMin), Point(x: $0.xMax, y: $0.yMax)])
      }
      self = lines.count == 1 ? .lineString(lines[0]) : .multiLineString(lines)
    }
  }
}

extension ExpressionTree.Parts {
  /// If a node is a name and an operand of a spatial function, the name stands for the geometry.
  mutating func markShape(_ node: Int) {
    if case .property(let number) = nodes[node] { nodes[node] = .shape(number) }
  }
}

extension ExpressionParser {
  /// Parses well-known text after its type.
  mutating func geometry(at start: Int) throws(ExpressionError) -> Int {
    let end = lexer.endOfGeometry(from: start)
    let text = String(decoding: lexer.bytes[start..<end], as: UTF8.self)
    let value: Geometry
    do throws(WKTError) { value = try Geometry(wkt: text) } catch {
      throw self.error(
        .badLiteral, at: start + error.column - 1, expected: "well-known text: \(error.expected)",
        found: error.found.isEmpty ? "the end" : error.found)
    }
    if let fault = value.fault {
      throw error(.badLiteral, at: start, expected: fault.expected, found: lexer.excerpt(start..<end))
    }
    lexer.skip(to: end)
    try advance()
    return addGeometry(GeometryLiteral(geometry: value, box: nil), at: start)
  }

  /// Makes a box from the arguments of `BBOX`.
  mutating func box(_ function: ExpressionFunction, _ arguments: [Int], at start: Int) throws(ExpressionError) -> Int {
    guard arguments.count == 4 || arguments.count == 6 else {
      throw error(
        .argumentCount, at: start, expected: "\(function.record.name) with 4 numbers, or with 6 for heights too",
        found: "\(arguments.count)")
    }
    var numbers: [Double] = []
    for argument in arguments {
      guard case .literal(let number) = parts.nodes[argument], let value = Scalar(parts.literals[number]).number else {
        throw error(.syntax, at: parts.offsets[argument], expected: "a number", found: "another expression")
      }
      numbers.append(value)
    }
    let half = numbers.count / 2
    let box = Envelope(xMin: numbers[0], yMin: numbers[1], xMax: numbers[half], yMax: numbers[half + 1])
    guard box.yMin <= box.yMax else {
      throw error(
        .badLiteral, at: parts.offsets[arguments[half + 1]], expected: "a number not below \(box.yMin)",
        found: "\(box.yMax)")
    }
    return addGeometry(GeometryLiteral(geometry: Geometry(area: box), box: numbers), at: start)
  }

  private mutating func addGeometry(_ literal: GeometryLiteral, at start: Int) -> Int {
    parts.geometries.append(literal)
    return add(.geometry(parts.geometries.count - 1), at: start)
  }
}

extension ExpressionLexer {
  /// The end of the well-known text that starts at an offset: after its closing parenthesis or `EMPTY`.
  fileprivate func endOfGeometry(from start: Int) -> Int {
    var depth = 0
    for index in start..<bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "("): depth += 1
      case UInt8(ascii: ")"):
        depth -= 1
        if depth <= 0 { return index + 1 }
      // Only `EMPTY` contains a Y.
      case UInt8(ascii: "Y"), UInt8(ascii: "y"):
        let word = bytes[start...index].suffix(5)
        if depth == 0, String(decoding: word, as: UTF8.self).uppercased() == "EMPTY" { return index + 1 }
      default: break
      }
    }
    return bytes.count
  }
}
