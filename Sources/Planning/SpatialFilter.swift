// The geometry of a feature query and its relation to the features, for any two spatial references.

import Expressions
import FeatureStore
import Filtering
import GeoModel
import Geometry
import GeometryEngine
import SpatialRelations
import Synchronization

/// Finds the features to which a geometry has a relation.
///
/// Relations are tested in the reference of the geometry, to which features of another reference are transformed. Throws
/// `SpatialError`.
struct SpatialFilter: Sendable {
  /// Boxes in the features' reference that contain all features with the relation, for the index; nil if features anywhere may have it.
  let indexBoxes: [Envelope]?
  /// As of ``Area``.
  let bend: Double?
  /// The estimated cost of testing a point or another geometry, in units of `FeatureQuery.effort`.
  let cost: (ofPoint: Int, ofOther: Int)
  /// The estimated cost of checking and preparing the geometry, in the same unit: about a microsecond per position.
  let preparationCost: Int
  /// Transforms features to the reference of the geometry; nil if they have the same reference.
  private let projector: GeometryProjector?
  private let predicate: LazyPredicate
  /// The edge of the geometry's reference.
  private let seam: Seam?

  init?(_ question: FeatureQuestion, _ world: borrowing World) throws {
    guard let shape = question.geometry else { return nil }
    let (store, features) = (question.source.store, question.source.reference)
    let reference = question.reference ?? features
    let wrap = WorldWrap(try world.transformer.describe(reference), world.transformer)
    let geometry = try Self.geometry(shape, wrap)
    seam = wrap?.seam
    let isOwn = reference == features
    let shifts = geometry.envelope.map { wrap?.shifts(of: $0, over: isOwn ? store.reach : nil) ?? [0] } ?? [0]
    bend = isOwn ? nil : try world.transformer.bend(from: features, to: reference)
    projector = isOwn ? nil : try GeometryProjector(from: features, to: reference, world.transformer)
    if !isOwn { try Area.checkOperation(from: features, to: reference, world.transformer) }
    // The predicate tests the relation of a feature to the geometry, which is the converse of the question's.
    predicate = LazyPredicate(question.relation.converse, geometry, shifts, wrap?.seam)
    var positions = 0
    geometry.forEachPositions { positions += $0.count }
    preparationCost = 20 * positions * shifts.count
    let constantCost = geometry.dimension == 2 ? 2 : 40
    cost = (
      shifts.count * constantCost + (isOwn ? 0 : FeatureQuery.transformCost),
      shifts.count * 100 + (isOwn ? 0 : FeatureQuery.transformCost)
    )
    guard question.relation.needsCommonPosition, let box = geometry.envelope else {
      indexBoxes = nil
      return
    }
    let boxes = shifts.map { box.moved(byX: $0) }
    indexBoxes =
      isOwn ? boxes : Area.indexBoxes(holding: boxes, of: reference, for: store, in: features, world.transformer)
  }

  /// A box as one polygon, even if it crosses the edge of a world that wraps; as a line or a point if it has no width or height.
  private static func geometry(_ shape: FeatureQuestion.Shape, _ wrap: WorldWrap?) throws -> Geometry {
    switch shape {
    case .geometry(let geometry): return geometry
    case .box(let box):
      guard box.xMin > box.xMax else { return Geometry(area: box) }
      guard let wrap else {
        throw QueryError.invalid(
          "Only a box in a reference that goes around the world can cross the antimeridian.", .geometry,
          path: "/geometry/xMax", expected: "number not below xMin")
      }
      return Geometry(area: box.unrolled(around: wrap.width))
    }
  }

  /// The rows of the features with the relation, in the given order.
  func filter(_ rows: [UInt32], of store: FeatureStore, _ share: WorkShare) throws -> [UInt32] {
    let predicate = try predicate.value()
    guard let projector else {
      return try predicate.filter(rows, of: store, checking: share.checkpoint)
    }
    var kept: [UInt32] = []
    for (index, row) in rows.enumerated() {
      if index.isMultiple(of: 256) { try share.checkpoint(index, of: rows.count) }
      guard let feature = store[row], let geometry = feature.geometry else { continue }
      let moved: Geometry
      do {
        moved = try projector.project(geometry, checking: { try share.work?.checkCancelled() })
      } catch is TransformError {
        continue
      }
      do throws(SpatialError) {
        if try predicate.holds(for: valid(moved)) == true { kept.append(row) }
      } catch { throw error.of(feature.id) }
    }
    return kept
  }

  /// Around the world only what is cut at its edge is valid where holes reach beyond the shell.
  private func valid(_ moved: Geometry) throws(SpatialError) -> Geometry {
    guard let seam, moved.hasHolesBeyond(seam) else { return moved }
    do throws(EngineError) { return try moved.cut(at: seam) } catch { throw SpatialError(error) }
  }
}

/// A predicate made on first use: checking and preparing a large geometry takes seconds, so it has to run on a worker.
private final class LazyPredicate: Sendable {
  private let made = Mutex<SpatialPredicate?>(nil)
  private let relation: SpatialRelation
  private let geometry: Geometry
  private let shifts: [Double]
  private let seam: Seam?

  init(_ relation: SpatialRelation, _ geometry: Geometry, _ shifts: [Double], _ seam: Seam?) {
    (self.relation, self.geometry, self.shifts, self.seam) = (relation, geometry, shifts, seam)
  }

  func value() throws -> SpatialPredicate {
    try made.withLock { made in
      if let made { return made }
      let predicate = try SpatialPredicate(relation, geometry, shifts: shifts, seam: seam)
      made = predicate
      return predicate
    }
  }
}
