// The names of the relations between two geometries; `SpatialRelations` and `GeometryEngine` decide whether they hold.

/// A relation of two geometries in the plane, by the definitions of OGC 06-103r4 (Simple Features), section 6.1.15.
///
/// Z and M are ignored. An empty geometry is only `disjoint` from others, and equals another empty one.
public enum SpatialRelation: Hashable, Sendable {
  /// They share a position.
  case intersects
  /// No position of the second is outside of the first, and their interiors share one.
  case contains
  case crosses
  /// The second contains the first.
  case within
  case overlaps
  /// They share positions of their boundaries only.
  case touches
  case disjoint
  /// They have the same positions, in whatever order.
  case equals
  /// Their envelopes share a position.
  case envelopeIntersects
  /// Their intersection matrix matches a pattern.
  case relate(IntersectionPattern)

  /// The relation with exchanged sides: `a` has it to `b` if and only if `b` has the converse to `a`.
  public var converse: SpatialRelation {
    switch self {
    case .contains: .within
    case .within: .contains
    case .relate(let pattern): .relate(pattern.transposed)
    case .intersects, .crosses, .overlaps, .touches, .disjoint, .equals, .envelopeIntersects: self
    }
  }

  /// Whether the relation requires a common position of the envelopes, so that a spatial index finds all candidates. The
  /// exception is an empty geometry, which has no envelope and equals another empty one.
  public var needsCommonPosition: Bool {
    switch self {
    case .disjoint: false
    case .relate(let pattern): pattern.needsCommonPosition
    case .intersects, .contains, .crosses, .within, .overlaps, .touches, .equals, .envelopeIntersects: true
    }
  }
}

/// A pattern of the Dimensionally Extended Nine-Intersection Model: which dimensions the intersections of interiors,
/// boundaries and exteriors have, in the order II IB IE BI BB BE EI EB EE.
public struct IntersectionPattern: Hashable, Sendable {
  /// Nine of `T` (any dimension), `F` (empty), `*` (not examined), `0`, `1`, `2`.
  public let text: String

  /// Nil for a text of another length or with other characters. Lower-case letters are accepted.
  public init?(_ text: String) {
    let text = text.uppercased()
    guard text.utf8.count == 9, text.utf8.allSatisfy("TF*012".utf8.contains) else { return nil }
    self.text = text
  }

  private init(valid text: String) { self.text = text }

  /// The pattern with exchanged sides.
  var transposed: IntersectionPattern {
    let marks = Array(text)
    return IntersectionPattern(valid: String([0, 3, 6, 1, 4, 7, 2, 5, 8].map { marks[$0] }))
  }

  /// Whether geometries without a common position can never match.
  public var needsCommonPosition: Bool {
    let marks = Array(text.utf8)
    return [0, 1, 3, 4].contains { !"F*".utf8.contains(marks[$0]) }
  }
}

extension Geometry {
  /// The members of nested collections that are not collections, in order; the geometry itself if it is no collection.
  public var flattened: [Geometry] {
    guard case .collection(let parts) = self else { return [self] }
    return parts.flatMap(\.flattened)
  }

  /// 0 for points, 1 for lines, 2 for polygons; for a collection the highest of its members. Empty geometries count.
  public var dimension: Int {
    switch self {
    case .point, .multiPoint: 0
    case .lineString, .multiLineString: 1
    case .polygon, .multiPolygon: 2
    case .collection(let parts): parts.lazy.map(\.dimension).max() ?? 0
    }
  }

  /// The members of a collection as one geometry of their dimension; nil if its non-empty members differ in dimension.
  /// Polygons may then overlap.
  public var uniform: Geometry? {
    guard case .collection = self else { return self }
    let parts = flattened.filter { !$0.isEmpty }
    guard let dimension = parts.first?.dimension else { return self }
    guard parts.allSatisfy({ $0.dimension == dimension }) else { return nil }
    switch dimension {
    case 0: return .multiPoint(Positions(parts.flatMap(\.points)))
    case 1: return .multiLineString(parts.flatMap(\.runs))
    default: return .multiPolygon(parts.flatMap(\.polygons))
    }
  }

  private var points: [Point] {
    var points: [Point] = []
    forEachPositions { points += $0.points }
    return points
  }

  private var runs: [Positions] {
    var runs: [Positions] = []
    forEachPositions { runs.append($0) }
    return runs
  }

  package var polygons: [[Positions]] {
    switch self {
    case .polygon(let rings): [rings]
    case .multiPolygon(let polygons): polygons
    case .point, .multiPoint, .lineString, .multiLineString, .collection: []
    }
  }
}

extension SpatialRelation {
  /// Whether two geometries of such dimensions that have an intersection matrix have the relation.
  ///
  /// - Parameter matrix: as GEOS writes it: nine of `F`, `0`, `1`, `2`.
  public func holds(in matrix: String, _ dimension: Int, _ other: Int) -> Bool {
    func matches(_ patterns: String...) -> Bool {
      patterns.contains { pattern in
        zip(pattern.utf8, matrix.utf8).allSatisfy { mark, found in
          mark == UInt8(ascii: "*") || mark == found || mark == UInt8(ascii: "T") && found != UInt8(ascii: "F")
        }
      }
    }
    switch self {
    case .disjoint: return matches("FF*FF****")
    case .intersects, .envelopeIntersects: return !matches("FF*FF****")
    case .contains: return matches("T*****FF*")
    case .within: return matches("T*F**F***")
    case .touches: return matches("FT*******", "F**T*****", "F***T****")
    // Two empty geometries are equal, too.
    case .equals: return matches("T*F**FFF*", "FFFFFFFF*")
    case .crosses:
      if dimension == other { return dimension == 1 && matches("0********") }
      return matches(dimension < other ? "T*T******" : "T*****T**")
    case .overlaps: return dimension == other && matches(dimension == 1 ? "1*T***T**" : "T*T***T**")
    case .relate(let pattern): return matches(pattern.text)
    }
  }
}
