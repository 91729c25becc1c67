// Checks that a geometry is well formed, shared by all readers.

/// What is wrong with a geometry.
public struct GeometryFault: Error, Hashable, Sendable {
  public let expected: String
}

extension Geometry {
  /// The first fault; nil when well formed. O(n) in positions.
  ///
  /// Well formed does not mean valid (a ring may cross itself): numbers are finite, lines have at least two positions,
  /// rings are closed and have at least four.
  public var fault: GeometryFault? {
    var isFinite = true
    forEachPositions { isFinite = isFinite && $0.isFinite }
    guard isFinite else { return GeometryFault(expected: "finite coordinates") }
    switch self {
    case .point, .multiPoint: return nil
    case .lineString(let line): return Self.fault(ofLine: line)
    case .multiLineString(let lines): return lines.lazy.compactMap(Self.fault(ofLine:)).first
    case .polygon(let rings): return Self.fault(ofRings: rings)
    case .multiPolygon(let polygons): return polygons.lazy.compactMap(Self.fault(ofRings:)).first
    case .collection(let parts): return parts.lazy.compactMap(\.fault).first
    }
  }

  private static func fault(ofLine line: Positions) -> GeometryFault? {
    line.count == 1 ? GeometryFault(expected: "at least two positions") : nil
  }

  private static func fault(ofRings rings: [Positions]) -> GeometryFault? {
    if let outer = rings.first, outer.isEmpty, rings.contains(where: { !$0.isEmpty }) {
      return GeometryFault(expected: "no holes without an outer ring")
    }
    return rings.lazy.compactMap(fault(ofRing:)).first
  }

  private static func fault(ofRing ring: Positions) -> GeometryFault? {
    if ring.isEmpty { return nil }
    if ring.count < 4 { return GeometryFault(expected: "a ring of at least four positions") }
    let first = ring[0]
    let last = ring[ring.count - 1]
    return first.x == last.x && first.y == last.y
      ? nil : GeometryFault(expected: "a closed ring: the last position equal to the first")
  }
}
