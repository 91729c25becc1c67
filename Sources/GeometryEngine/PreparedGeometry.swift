// A geometry prepared for tests against many others.

import CGEOS
import Geometry

/// A geometry for many predicates: its edges are indexed once, which does not pay for a single test.
///
/// It owns a context, so it may move to another task, but serves one at a time.
public struct PreparedGeometry: ~Copyable {
  private let context: GEOSContext
  // The prepared geometry of GEOS points into it.
  private let shape: GEOSShape
  private let handle: OpaquePointer

  /// Members of a collection must have the same dimension; they are united first.
  ///
  /// - Parameter isMadeValid: whether an invalid geometry is repaired first, as in ``relates(_:_:)``.
  /// - Complexity: O(n log n) in positions, at the first predicate.
  public init(_ geometry: Geometry, isMadeValid: Bool = false) throws(EngineError) {
    let context = try GEOSContext()
    var shape = try context.united(geometry)
    if isMadeValid { shape = try context.madeValid(shape) }
    let whole = shape.handle
    handle = try context.run("prepare") { context.geos.pointee.GEOSPrepare_r(context.handle, whole) }
    self.context = context
    self.shape = shape
  }

  deinit { context.geos.pointee.GEOSPreparedGeom_destroy_r(context.handle, handle) }

  /// Whether `other` has the relation to this geometry: `relates(.within, other)` is true for an `other` within it.
  ///
  /// If GEOS refuses `other` because rings cross or overlap, it is made valid first: lines are kept, and the area is what an odd
  /// number of rings encloses.
  /// - Precondition: members of a collection have one dimension, and the relation is not `envelopeIntersects`.
  public func relates(_ relation: SpatialRelation, _ other: Geometry) throws(EngineError) -> Bool {
    let shape = try context.united(other)
    do throws(EngineError) { return try test(relation, shape) } catch {
      guard case .failed = error else { throw error }
      return try test(relation, try context.madeValid(shape))
    }
  }

  private func test(_ relation: SpatialRelation, _ other: borrowing GEOSShape) throws(EngineError) -> Bool {
    let (geos, context, first, second, whole) = (context.geos, context.handle, handle, other.handle, shape.handle)
    return try self.context.answer("\(relation)") {
      switch relation {
      case .intersects, .envelopeIntersects: geos.pointee.GEOSPreparedIntersects_r(context, first, second)
      case .disjoint: Self.negated(geos.pointee.GEOSPreparedIntersects_r(context, first, second))
      // GEOS tests the relation of the prepared geometry to the other, which is the converse.
      case .contains: geos.pointee.GEOSPreparedWithin_r(context, first, second)
      case .within: geos.pointee.GEOSPreparedContains_r(context, first, second)
      case .crosses: geos.pointee.GEOSPreparedCrosses_r(context, first, second)
      case .overlaps: geos.pointee.GEOSPreparedOverlaps_r(context, first, second)
      case .touches: geos.pointee.GEOSPreparedTouches_r(context, first, second)
      case .equals: geos.pointee.GEOSEquals_r(context, second, whole)
      case .relate(let pattern): geos.pointee.GEOSRelatePattern_r(context, second, whole, pattern.text)
      }
    }
  }

  /// Exchanges 0 and 1; 2, an exception, stays.
  private static func negated(_ result: CChar) -> CChar { result < 2 ? 1 - result : result }
}

extension GEOSContext {
  /// The geometry; for a collection the union of its members, because most predicates of GEOS refuse collections.
  func united(_ geometry: Geometry) throws(EngineError) -> GEOSShape {
    guard case .collection = geometry else { return try GEOSShape(geometry, in: self) }
    let shape = try GEOSShape(geometry.uniform ?? geometry, in: self)
    return try union(of: shape)
  }

  func union(of shape: borrowing GEOSShape) throws(EngineError) -> GEOSShape {
    let given = shape.handle
    return try GEOSShape(of: "union", in: self) { geos.pointee.GEOSUnaryUnion_r(handle, given) }
  }

  func madeValid(_ shape: borrowing GEOSShape) throws(EngineError) -> GEOSShape {
    let given = shape.handle
    return try GEOSShape(of: "makeValid", in: self) { geos.pointee.GEOSMakeValid_r(handle, given) }
  }
}
