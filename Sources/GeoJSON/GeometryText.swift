// Geometries of features: their positions in one list, written as WKB once it is known whether any has Z.

/// One geometry; its memory is reused for the next one.
public struct GeometryText: Sendable {
  /// The codes of WKB.
  public enum Kind: UInt32, Sendable {
    case point = 1
    case lineString, polygon, multiPoint, multiLineString, multiPolygon, collection
  }

  /// A geometry that is not a collection: ranges of its positions, lists and groups.
  struct Part {
    let kind: Kind
    let positions: Range<Int>
    /// In `listEnds`: the rings of polygons, or the lines.
    let lists: Range<Int>
    /// In `groupEnds`: the polygons.
    let groups: Range<Int>
  }

  /// Nil without a geometry.
  public internal(set) var kind: Kind?
  /// Whether any position has Z; that of the others is then NaN, unknown.
  public internal(set) var hasZ = false
  /// x, y and z of each position.
  public internal(set) var ordinates: [Double] = []
  /// For each list, the number of positions up to its end.
  var listEnds: [Int] = []
  /// For each polygon, the number of lists up to its end.
  var groupEnds: [Int] = []
  var parts: [Part] = []

  init() {}

  mutating func reset() {
    kind = nil
    hasZ = false
    ordinates.removeAll(keepingCapacity: true)
    listEnds.removeAll(keepingCapacity: true)
    groupEnds.removeAll(keepingCapacity: true)
    parts.removeAll(keepingCapacity: true)
  }
}

extension GeometryText {
  /// Reads the geometry that follows; `null` is no geometry.
  mutating func read(_ scanner: inout TextScanner) throws(TextStop) {
    let byte = scanner.next()
    if byte == UInt8(ascii: "n") { return try scanner.literal("null") }
    guard byte == UInt8(ascii: "{") else {
      if byte == 0 { throw scanner.stop(at: scanner.at, "a geometry") }
      throw .odd("a geometry that is no object")
    }
    kind = try readObject(&scanner, isMember: false)
  }

  private mutating func readObject(_ scanner: inout TextScanner, isMember: Bool) throws(TextStop) -> Kind {
    scanner.at += 1
    var kind: Kind?
    var depth: Int?
    var hasMembers = false
    let starts = (ordinates.count / 3, listEnds.count, groupEnds.count)
    repeat {
      let name = try scanner.name()
      switch GeoJSONName(name) {
      case .type where kind == nil: kind = try Self.kind(&scanner)
      case .coordinates where depth == nil && !hasMembers: depth = try readCoordinates(&scanner)
      case .geometries where depth == nil && !hasMembers && !isMember:
        hasMembers = true
        try readMembers(&scanner)
      case .bbox, .other: try scanner.skipValue()
      default: throw .odd("members of a geometry that GDAL reads otherwise")
      }
    } while try scanner.goesOn(UInt8(ascii: "}"))
    guard let kind, kind == .collection ? hasMembers : depth == kind.depth else {
      throw .odd("a geometry without what its type needs")
    }
    if kind != .collection {
      parts.append(
        Part(
          kind: kind, positions: starts.0..<ordinates.count / 3, lists: starts.1..<listEnds.count,
          groups: starts.2..<groupEnds.count))
    }
    return kind
  }

  private static func kind(_ scanner: inout TextScanner) throws(TextStop) -> Kind {
    guard scanner.next() == UInt8(ascii: "\"") else { throw scanner.at >= scanner.end ? .more : .odd("a type") }
    scanner.at += 1
    let name = try scanner.string()
    switch name.count {
    case 5 where name.equals("Point"): return .point
    case 7 where name.equals("Polygon"): return .polygon
    case 10 where name.equals("LineString"): return .lineString
    case 10 where name.equals("MultiPoint"): return .multiPoint
    case 12 where name.equals("MultiPolygon"): return .multiPolygon
    case 15 where name.equals("MultiLineString"): return .multiLineString
    case 18 where name.equals("GeometryCollection"): return .collection
    default: throw .odd("another type of geometry")
    }
  }

  private mutating func readMembers(_ scanner: inout TextScanner) throws(TextStop) {
    guard scanner.next() == UInt8(ascii: "[") else { throw scanner.at >= scanner.end ? .more : .odd("geometries") }
    scanner.at += 1
    repeat {
      guard scanner.next() == UInt8(ascii: "{") else {
        throw scanner.at >= scanner.end ? .more : .odd("a collection without geometries, or with null")
      }
      guard try readObject(&scanner, isMember: true) != .collection else { throw .odd("nested collections") }
    } while try scanner.goesOn(UInt8(ascii: "]"))
  }

  // MARK: Coordinates

  /// Reads coordinates and returns the nesting depth of their positions: 1 for a single position.
  private mutating func readCoordinates(_ scanner: inout TextScanner) throws(TextStop) -> Int {
    guard scanner.next() == UInt8(ascii: "[") else { throw scanner.at >= scanner.end ? .more : .odd("coordinates") }
    return try readList(&scanner, level: 1)
  }

  private mutating func readList(_ scanner: inout TextScanner, level: Int) throws(TextStop) -> Int {
    scanner.at += 1
    guard scanner.next() == UInt8(ascii: "[") else {
      try readPosition(&scanner)
      return 1
    }
    guard level < 4 else { throw .odd("coordinates nested deeply") }
    var depth = 0
    repeat {
      guard scanner.next() == UInt8(ascii: "[") else { throw scanner.at >= scanner.end ? .more : .odd("a position") }
      let inner = try readList(&scanner, level: level + 1)
      guard depth == 0 || depth == inner else { throw .odd("coordinates of several depths") }
      depth = inner
    } while try scanner.goesOn(UInt8(ascii: "]"))
    if depth == 1 { listEnds.append(ordinates.count / 3) }
    if depth == 2 { groupEnds.append(listEnds.count) }
    return depth + 1
  }

  @inline(__always)
  private mutating func readPosition(_ scanner: inout TextScanner) throws(TextStop) {
    let x = try coordinate(&scanner)
    guard try scanner.goesOn(UInt8(ascii: "]")) else { throw .odd("a position of one number") }
    let y = try coordinate(&scanner)
    var z = Double.nan
    if try scanner.goesOn(UInt8(ascii: "]")) {
      z = try coordinate(&scanner)
      hasZ = true
      // GDAL ignores numbers after the third.
      while try scanner.goesOn(UInt8(ascii: "]")) { _ = try coordinate(&scanner) }
    }
    ordinates.append(x)
    ordinates.append(y)
    ordinates.append(z)
  }

  @inline(__always)
  private func coordinate(_ scanner: inout TextScanner) throws(TextStop) -> Double {
    guard TextScanner.beginsNumber(scanner.next()) else {
      throw scanner.at >= scanner.end ? .more : .odd("a coordinate that is no number")
    }
    return try scanner.number().double
  }
}

extension GeometryText.Kind {
  /// The nesting depth of positions in the type's coordinates.
  fileprivate var depth: Int {
    switch self {
    case .point: 1
    case .lineString, .multiPoint: 2
    case .polygon, .multiLineString: 3
    case .multiPolygon: 4
    case .collection: 0
    }
  }

  /// The type's name in GeoJSON.
  public var name: String {
    switch self {
    case .point: "Point"
    case .lineString: "LineString"
    case .polygon: "Polygon"
    case .multiPoint: "MultiPoint"
    case .multiLineString: "MultiLineString"
    case .multiPolygon: "MultiPolygon"
    case .collection: "GeometryCollection"
    }
  }
}
