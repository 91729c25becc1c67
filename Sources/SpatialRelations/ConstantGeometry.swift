// One geometry without collections, with all that makes tests against it quick.

import Geometry
import GeometryEngine
import Synchronization

/// A constant geometry: its edges are indexed here, for points and boxes; GEOS's prepared form is made when it is first needed.
final class ConstantGeometry: Sendable {
  let geometry: Geometry
  let envelope: Envelope?
  /// Of a valid polygon.
  let edges: EdgeIndex?
  /// Of a single point.
  let point: SIMD2<Double>?
  /// Exclusive while it is used: a context of GEOS serves one thread at a time.
  private let related: Mutex<RelatedGeometry>

  init(_ geometry: Geometry) {
    self.geometry = geometry
    related = Mutex(RelatedGeometry(geometry))
    envelope = geometry.envelope
    edges = EdgeIndex(geometry)
    if case .point(let point?) = geometry { self.point = SIMD2(point.x, point.y) } else { point = nil }
  }

  /// Whether `other` has the relation to this geometry, by GEOS.
  func relates(_ relation: SpatialRelation, _ other: Geometry) throws(SpatialError) -> Bool {
    try related.relates(relation, other)
  }

  /// Whether a position has the relation to this geometry; nil where that is left to GEOS.
  @inline(__always)
  func relates(_ relation: SpatialRelation, _ position: SIMD2<Double>) -> Bool? {
    if let edges { return edges.location(of: position).holds(relation) }
    if let point { return Self.relates(relation, equal: position == point) }
    return nil
  }

  /// Two positions.
  private static func relates(_ relation: SpatialRelation, equal: Bool) -> Bool? {
    switch relation {
    case .intersects, .contains, .within, .equals, .envelopeIntersects: equal
    case .disjoint: !equal
    case .crosses, .overlaps, .touches: false
    case .relate: nil
    }
  }

  /// Whether a geometry that is no point has the relation, by its envelope alone or by where this point lies in it; nil where that
  /// does not decide it.
  func quick(_ relation: SpatialRelation, _ other: Geometry, _ box: Envelope?) -> Bool? {
    guard let box, let envelope else { return nil }
    if !box.intersects(envelope) { return Self.apart(relation) }
    if let point, other.isPolygonal { return other.location(of: point).holds(relation.converse) }
    guard let edges, let location = edges.location(of: box) else { return nil }
    if location == .exterior { return Self.apart(relation) }
    // All of it is in the interior.
    switch relation {
    case .intersects, .within: return true
    case .relate, .envelopeIntersects: return nil
    case .disjoint, .touches, .contains, .crosses, .overlaps, .equals: return false
    }
  }

  /// The relation of two geometries, neither empty, that share no position; nil for a pattern.
  private static func apart(_ relation: SpatialRelation) -> Bool? {
    switch relation {
    case .disjoint: true
    case .relate(let pattern): pattern.needsCommonPosition ? false : nil
    case .intersects, .contains, .crosses, .within, .overlaps, .touches, .equals, .envelopeIntersects: false
    }
  }
}

/// A constant geometry in a map that goes around the world.
final class WorldConstant: Sendable {
  private let seam: Seam
  private let reaches: Bool
  private let exceeds: Bool
  /// Whether copies whole turns away would answer for themselves: a pattern may hold for what is far from the geometry.
  private let isPattern: Bool
  /// The x at which a geometry ends that goes around the world.
  private let end: Double?
  private let related: Mutex<RelatedGeometry>

  /// Nil if the relation holds where it holds for one of the copies.
  init?(_ relation: SpatialRelation, _ geometry: Geometry, copies: Int, _ seam: Seam) {
    switch relation {
    case .intersects, .disjoint, .envelopeIntersects: return nil
    case .relate: isPattern = copies > 1 || geometry.envelope.map(seam.reaches) == true
    case .contains, .crosses, .within, .overlaps, .touches, .equals: isPattern = false
    }
    guard let box = geometry.envelope else { return nil }
    self.seam = seam
    (reaches, exceeds) = (seam.reaches(box), seam.exceeds(box))
    end = seam.isGirdled(by: box) ? box.xMin : nil
    related = Mutex(RelatedGeometry(geometry, across: seam))
  }

  /// Whether a position there may lie on the edge of a piece that goes on beyond it.
  @inline(__always)
  func isForEdge(_ x: Double) -> Bool { isPattern || reaches && (seam.isOn(x) || end.map { seam.isSame($0, x) } == true) }

  /// Whether a geometry with this box may continue beyond the edge of the world in another place than this one.
  ///
  /// - Parameter copies: how many copies of this geometry the box meets.
  func isFor(_ box: Envelope, copies: () -> Int) -> Bool {
    isPattern || reaches && seam.reaches(box) || (exceeds || seam.exceeds(box)) && copies() > 1
  }

  func relates(_ relation: SpatialRelation, _ other: Geometry) throws(SpatialError) -> Bool {
    try related.relates(relation, other)
  }
}

extension Mutex<RelatedGeometry> {
  fileprivate borrowing func relates(_ relation: SpatialRelation, _ other: Geometry) throws(SpatialError) -> Bool {
    let result = withLock { related in
      Result { () throws(EngineError) in try related.relates(relation, other) }
    }
    do { return try result.get() } catch { throw SpatialError(error) }
  }
}

extension AreaLocation {
  /// Whether a position here has the relation to the area; nil for a pattern.
  @inline(__always)
  func holds(_ relation: SpatialRelation) -> Bool? {
    switch relation {
    case .intersects: self != .exterior
    case .disjoint: self == .exterior
    case .within: self == .interior
    case .touches: self == .boundary
    // The area has more dimensions than the position.
    case .contains, .crosses, .overlaps, .equals: false
    case .envelopeIntersects, .relate: nil
    }
  }
}
