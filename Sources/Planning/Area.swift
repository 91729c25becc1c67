// The box of a feature query: as given, for exact tests, and as boxes in the features' reference, for the spatial index.

import FeatureStore
import GeoModel
import Geometry

/// A search box, in the given spatial reference and in that of the features.
package struct Area: Sendable {
  /// The spatial reference of ``boxes``.
  let reference: SpatialReference
  /// The box. Two or more boxes, a world's width apart, if it crosses the antimeridian.
  let boxes: [Envelope]
  /// Boxes in the features' reference that cover at least ``boxes``, for the index; nil if no bound is known.
  package let indexBoxes: [Envelope]?
  /// Of edges that are straight in ``reference`` alone: see `CoordinateTransformer.bend(from:to:)`.
  let bend: Double?
  /// Computes the envelope of a feature in ``reference``; nil if that is the features' own reference.
  private let transformedExtent: ProjectedExtent?

  package init?(
    _ envelope: Envelope?, _ reference: SpatialReference?, for store: FeatureStore,
    in features: SpatialReference, _ world: borrowing World
  ) throws {
    guard var envelope else { return nil }
    guard envelope.yMin <= envelope.yMax else {
      throw QueryError.invalid("yMax is below yMin.", path: "/envelope/yMax", expected: "number not below yMin")
    }
    self.reference = reference ?? features
    let info = try world.transformer.describe(self.reference)
    let isOwn = self.reference == features
    if !isOwn { try Self.checkOperation(from: features, to: self.reference, world.transformer) }
    transformedExtent = isOwn ? nil : try ProjectedExtent(from: features, to: self.reference, world.transformer)
    if !isOwn, let limit = PolarLimit(info, world.transformer) { envelope = limit.clamped(envelope) }
    if let wrap = WorldWrap(info, world.transformer) {
      boxes = wrap.turns(of: envelope, over: isOwn ? store.reach : nil)
    } else if envelope.xMin > envelope.xMax {
      throw QueryError.invalid(
        "Only a box in a reference that goes around the world can cross the antimeridian.", path: "/envelope/xMax",
        expected: "number not below xMin")
    } else {
      boxes = [envelope]
    }
    bend = isOwn ? nil : try world.transformer.bend(from: features, to: self.reference)
    indexBoxes = isOwn ? boxes : Self.indexBoxes(holding: boxes, of: self.reference, for: store, in: features, world.transformer)
  }

  /// Boxes in the features' reference that contain all of `boxes`; nil if no bound is known. Then the exact test examines every
  /// feature.
  static func indexBoxes(
    holding boxes: [Envelope], of reference: SpatialReference, for store: FeatureStore, in features: SpatialReference,
    _ transformer: any CoordinateTransformer
  ) -> [Envelope]? {
    guard let extent = store.reach else { return [] }
    var found: [Envelope] = []
    for box in boxes {
      guard let bounds = transformer.boxes(holding: box, of: reference, in: features, within: extent) else {
        return nil
      }
      found += bounds
    }
    return found
  }

  /// Throws if no position can be transformed: the area would seem to be empty.
  static func checkOperation(
    from source: SpatialReference, to target: SpatialReference, _ transformer: any CoordinateTransformer
  ) throws {
    do throws(TransformError) { _ = try transformer.transform(Point(x: 0, y: 0), from: source, to: target) } catch {
      guard case .outsideDomain = error else { throw error }
    }
  }

  /// Whether the envelope of a feature, in the area's reference, intersects the area.
  ///
  /// In references whose poles are at infinity, both are clamped to the edge of the world.
  ///
  /// - Throws: if the request is cancelled.
  func intersects(_ row: FeatureRow, _ share: WorkShare) throws -> Bool {
    guard var extent = transformedExtent else {
      guard let box = row.envelope else { return false }
      return boxes.contains { $0.intersects(box) }
    }
    var values: [Double] = []
    row.geometry?.forEachPositions { values.append(xy: $0) }
    // Large geometries are transformed in pieces, with a cancellation check between them.
    for start in stride(from: 0, to: values.count, by: 8192) {
      try share.work?.checkCancelled()
      var piece = Array(values[start..<min(start + 8192, values.count)])
      // A position without coordinates in the reference is outside the area.
      do throws(TransformError) { try extent.include(&piece) } catch { return false }
    }
    guard let box = extent.span else { return false }
    return boxes.contains { $0.intersects(box) }
  }
}

extension Area {
  /// The box around the visible area of a view.
  package init?(showing view: View, for store: FeatureStore, in features: SpatialReference, _ world: borrowing World)
    throws
  {
    let box = Geometry.multiPoint(view.visibleArea).envelope
    try self.init(box, view.reference.reference, for: store, in: features, world)
  }
}
