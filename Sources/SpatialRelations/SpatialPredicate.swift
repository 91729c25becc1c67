// A spatial relation to a constant geometry, tested on many features.

import Geometry
import GeometryEngine

/// A constant geometry, prepared once a query, and the relation that features have to have to it.
///
/// Tests are planar, on x and y, and equal GEOS's: points in polygons are decided here, exactly, and what an envelope decides;
/// all else is GEOS's. Several threads may share one; those that need GEOS then wait for one another.
///
/// The constant is valid by the Simple Features rules; one that is not is refused with the place of its fault. Features are taken as they
/// are: where GEOS refuses one, it is made valid first.
///
/// ```swift
/// let predicate = try SpatialPredicate(.within, country)
/// let rows = try predicate.filter(store.rows(in: predicate.indexBoxes ?? []), of: store) { _ in }
/// ```
public final class SpatialPredicate: Sendable {
  /// The relation of a feature to the constant.
  public let relation: SpatialRelation
  /// Members of a collection, and copies whole turns around the world away: a feature with the relation to one has it to all of them,
  /// except that it is disjoint only from all.
  private let constants: [ConstantGeometry]
  private let isNegated: Bool
  /// What is asked of each constant.
  private let tested: SpatialRelation
  /// The constant in a map that goes around the world, for relations of which the answers for its copies do not make the one for all.
  private let world: WorldConstant?

  /// - Parameters:
  ///   - relation: of a feature to `geometry`; ``SpatialRelation/converse`` for the other order.
  ///   - geometry: in the features' coordinates.
  ///   - shifts: by which copies of the geometry are moved in x, for references that go around the world, where one place may be
  ///     written with several x.
  ///   - seam: the edge of such a reference, at which geometries may be cut.
  /// - Throws: ``SpatialError``.
  /// - Complexity: O(n log n) in positions.
  public convenience init(
    _ relation: SpatialRelation, _ geometry: Geometry, shifts: [Double] = [0], seam: Seam? = nil
  ) throws(SpatialError) {
    let geometry = geometry.withoutLengthlessLines
    if relation != .envelopeIntersects { try Self.check(geometry) }
    try self.init(unchecked: relation, geometry, shifts: shifts, seam: seam)
  }

  /// The same for a feature's geometry, which is taken as it is.
  package init(
    unchecked relation: SpatialRelation, _ geometry: Geometry, shifts: [Double] = [0], seam: Seam? = nil
  ) throws(SpatialError) {
    self.relation = relation
    isNegated = relation == .disjoint
    let tested = relation == .disjoint ? SpatialRelation.intersects : relation
    self.tested = tested
    var members = [geometry]
    if case .collection = geometry {
      if tested == .intersects || tested == .envelopeIntersects {
        members = tested == .intersects ? geometry.flattened.filter { !$0.isEmpty } : members
      } else if geometry.uniform == nil {
        throw .mixedCollection
      }
    }
    constants = shifts.flatMap { shift in members.map { ConstantGeometry($0.shifted(by: shift)) } }
    world = seam.flatMap { WorldConstant(tested, geometry, copies: shifts.count, $0) }
  }

  /// Throws for an invalid geometry.
  private static func check(_ geometry: Geometry) throws(SpatialError) {
    switch geometry {
    case .point, .multiPoint: return
    case .collection(let parts): for part in parts { try check(part) }
    default:
      let validity: Validity
      do throws(EngineError) { validity = try GeometryEngine.validity(of: geometry) } catch {
        throw SpatialError(error)
      }
      if case .invalid(let reason, let place) = validity { throw .invalid(reason: reason, at: place) }
    }
  }

  /// Boxes that hold all features with the relation, for ``FeatureStore/rows(in:checking:)``; nil where any feature may have it.
  public var indexBoxes: [Envelope]? {
    guard relation.needsCommonPosition, constants.contains(where: { $0.envelope != nil }) else { return nil }
    return constants.compactMap(\.envelope)
  }

  /// The estimated cost of testing one feature, in units of a plain test (about 50 ns): for points, then for other geometries,
  /// where GEOS may have to decide.
  public var cost: (ofPoint: Int, ofOther: Int) {
    let point = constants.reduce(0) { $0 + ($1.edges.map { 1 + $0.meanEdges / 16 } ?? ($1.point == nil ? 40 : 1)) }
    return (max(point, 1), 100 * max(constants.count, 1))
  }

  /// Whether a geometry has the relation; nil if it is not defined for it.
  public func holds(for geometry: Geometry) throws(SpatialError) -> Bool? {
    try holds(for: geometry, in: geometry.envelope)
  }

  /// Whether a position has the relation.
  @inline(__always)
  public func holds(x: Double, y: Double) throws(SpatialError) -> Bool {
    let position = SIMD2(x, y)
    if let world, world.isForEdge(x) { return try world.relates(tested, .point(Point(x: x, y: y))) }
    for constant in constants {
      let holds: Bool
      if let quick = constant.relates(tested, position) {
        holds = quick
      } else {
        holds = try other(.point(Point(x: x, y: y)), Envelope(xMin: x, yMin: y, xMax: x, yMax: y), constant)
      }
      if holds { return !isNegated }
    }
    return isNegated
  }

  package func holds(for geometry: Geometry, in box: Envelope?) throws(SpatialError) -> Bool? {
    if case .point(let point?) = geometry { return try holds(x: point.x, y: point.y) }
    guard isDefined(for: geometry) else { return nil }
    if let world, let box,
      world.isFor(box, copies: { constants.count { $0.envelope?.intersects(box) == true } })
    {
      return try world.relates(tested, geometry)
    }
    for constant in constants where try holds(for: geometry, box, constant) { return !isNegated }
    return isNegated
  }

  private func isDefined(for geometry: Geometry) -> Bool {
    guard case .collection = geometry, tested != .intersects, tested != .envelopeIntersects else { return true }
    return geometry.uniform != nil
  }

  private func holds(
    for geometry: Geometry, _ box: Envelope?, _ constant: ConstantGeometry
  ) throws(SpatialError) -> Bool {
    guard case .collection = geometry, tested == .intersects else { return try other(geometry, box, constant) }
    for part in geometry.flattened where try other(part, part.envelope, constant) { return true }
    return false
  }

  /// A geometry that is no collection of several dimensions.
  private func other(
    _ geometry: Geometry, _ box: Envelope?, _ constant: ConstantGeometry
  ) throws(SpatialError) -> Bool {
    if tested == .envelopeIntersects {
      guard let box, let envelope = constant.envelope else { return false }
      return box.intersects(envelope)
    }
    if let quick = constant.quick(tested, geometry, box) { return quick }
    return try constant.relates(tested, geometry)
  }
}

extension Geometry {
  /// Points for lines whose positions are all the same, which GEOS calls invalid.
  fileprivate var withoutLengthlessLines: Geometry {
    func point(_ line: Positions) -> Point? {
      guard line.count > 1, let first = line.points.first else { return nil }
      return line.points.allSatisfy { $0.x == first.x && $0.y == first.y } ? first : nil
    }
    switch self {
    case .lineString(let line): return point(line).map { .point($0) } ?? self
    case .multiLineString(let lines):
      let points = lines.compactMap(point)
      return points.count == lines.count && !lines.isEmpty ? .multiPoint(Positions(points)) : self
    case .collection(let parts): return .collection(parts.map(\.withoutLengthlessLines))
    case .point, .multiPoint, .polygon, .multiPolygon: return self
    }
  }

  /// The geometry moved in x.
  package func shifted(by shift: Double) -> Geometry { shift == 0 ? self : mapX { $0 + shift } }
}
