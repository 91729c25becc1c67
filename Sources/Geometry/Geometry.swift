// Geometries: GeoJSON's seven types, with Z and M.

/// A geometry in the units of a spatial reference that its container names.
///
/// An empty geometry differs from an absent one: `.point(nil)`, and every other case without positions.
/// Rings are closed: the last position equals the first.
public indirect enum Geometry: Hashable, Sendable {
  case point(Point?)
  case lineString(Positions)
  case polygon([Positions])
  case multiPoint(Positions)
  case multiLineString([Positions])
  case multiPolygon([[Positions]])
  case collection([Geometry])
}

extension Geometry {
  /// The deepest nesting of collections, in every format: all readers are recursive.
  public static let maximumDepth = 32

  /// The name of its type in GeoJSON and the simple features standard.
  public var typeName: String {
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

  /// The names of all types.
  public static let typeNames: Set<String> = [
    "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection",
  ]

  /// Whether it has no positions.
  public var isEmpty: Bool {
    switch self {
    case .point(let point): point == nil
    case .lineString(let positions), .multiPoint(let positions): positions.isEmpty
    case .polygon(let parts), .multiLineString(let parts): parts.allSatisfy(\.isEmpty)
    case .multiPolygon(let polygons): polygons.allSatisfy { $0.allSatisfy(\.isEmpty) }
    case .collection(let parts): parts.allSatisfy(\.isEmpty)
    }
  }

  /// The smallest box around it; nil if empty. O(n) in positions.
  public var envelope: Envelope? {
    var box = Envelope.none
    forEachPositions { positions in
      positions.values.withUnsafeBufferPointer { values in
        for index in Swift.stride(from: 0, to: values.count, by: positions.stride) {
          box.include(x: values[index], y: values[index + 1])
        }
      }
    }
    return box.isNone ? nil : box
  }

  /// Whether any position has an M.
  public var hasM: Bool {
    var result = false
    forEachPositions { if $0.hasM { result = true } }
    return result
  }

  /// Whether a run of several positions has Z for some of them only, which GeoJSON cannot represent. False for single points.
  public var lacksZ: Bool {
    if case .point = self { return false }
    if case .collection(let parts) = self { return parts.contains(where: \.lacksZ) }
    var result = false
    forEachPositions { if $0.lacksZ { result = true } }
    return result
  }

  /// How deep collections nest.
  public var depth: Int {
    guard case .collection(let parts) = self else { return 0 }
    return 1 + (parts.lazy.map(\.depth).max() ?? 0)
  }

  /// Calls `body` with each run of positions; a single point is a run of one.
  public func forEachPositions(_ body: (Positions) -> Void) {
    switch self {
    case .point(let point): if let point { body(Positions([point])) }
    case .lineString(let positions), .multiPoint(let positions): body(positions)
    case .polygon(let parts), .multiLineString(let parts): parts.forEach(body)
    case .multiPolygon(let polygons): for polygon in polygons { polygon.forEach(body) }
    case .collection(let parts): for part in parts { part.forEachPositions(body) }
    }
  }

  /// The same shape, every run of positions replaced by the result of `body`.
  public func mapPositions<E: Error>(_ body: (Positions) throws(E) -> Positions) throws(E) -> Geometry {
    switch self {
    case .point(let point):
      guard let point else { return self }
      return .point(try body(Positions([point]))[0])
    case .lineString(let positions): return .lineString(try body(positions))
    case .multiPoint(let positions): return .multiPoint(try body(positions))
    case .polygon(let parts): return .polygon(try parts.map(body))
    case .multiLineString(let parts): return .multiLineString(try parts.map(body))
    case .multiPolygon(let polygons):
      return .multiPolygon(try polygons.map { (parts) throws(E) in try parts.map(body) })
    case .collection(let parts):
      return .collection(try parts.map { (part) throws(E) in try part.mapPositions(body) })
    }
  }
}
