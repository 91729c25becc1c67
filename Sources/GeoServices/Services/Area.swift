// The box that a question is about, as it was given and as the index of the features can be asked for it.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Query

/// A box to search in: in the reference it was given in, and as boxes of the features' own for the index.
struct Area: Sendable {
  let reference: SpatialReference
  /// With the same of it a turn of the world away, where it crosses the antimeridian.
  let given: [Envelope]
  /// Together they hold at least all that the given ones do; nil for everything.
  let own: [Envelope]?
  /// What features' envelopes in the reference are made with; nil where it is their own.
  private let moved: ProjectedExtent?

  init?(
    _ envelope: SessionProtocol.Envelope?, _ reference: String?, for store: FeatureStore,
    in features: SpatialReference, _ world: World
  ) throws {
    guard var envelope = envelope.map(Wire.envelope) else { return nil }
    guard envelope.yMin <= envelope.yMax else {
      throw RPCError(
        .invalidParams, "yMax is below yMin.", path: "/params/envelope/yMax", expected: "number not below yMin")
    }
    self.reference = try world.canonical(reference) ?? features
    let info = try world.transformer.describe(self.reference)
    let isOwn = self.reference == features
    moved = isOwn ? nil : try ProjectedExtent(from: features, to: self.reference, world.transformer)
    if !isOwn, let limit = PolarLimit(info, world.transformer) { envelope = limit.clamped(envelope) }
    if let wrap = WorldWrap(info, world.transformer) {
      given = wrap.turns(of: envelope)
    } else if envelope.xMin > envelope.xMax {
      throw RPCError(
        .invalidParams, "Only a box in a reference that goes around the world can cross the antimeridian.",
        path: "/params/envelope/xMax", expected: "number not below xMin")
    } else {
      given = [envelope]
    }
    guard !isOwn else {
      own = given
      return
    }
    guard let extent = store.extent else {
      own = []
      return
    }
    var boxes: [Envelope] = []
    for part in given {
      // What cannot be told is no error: the exact test that follows looks at every feature then.
      guard let found = world.transformer.boxes(holding: part, of: self.reference, in: features, within: extent)
      else {
        own = nil
        return
      }
      boxes += found
    }
    own = boxes
  }

  /// Whether a feature's own envelope, in the reference of the area, meets it.
  ///
  /// Where poles lie at infinity what lies beyond the edge counts as lying at it, of the area and of the feature.
  /// - Throws: when nobody wants to know any more.
  func isMet(by row: FeatureRow, _ part: WorkShare) throws -> Bool {
    guard var extent = moved else {
      guard let box = row.envelope else { return false }
      return given.contains { $0.intersects(box) }
    }
    var values: [Double] = []
    row.geometry?.forEachPositions { values.append(xy: $0) }
    // Of geometries with very many positions a few thousand at a time.
    for start in stride(from: 0, to: values.count, by: 8192) {
      try part.worker?.checkCancelled()
      var piece = Array(values[start..<min(start + 8192, values.count)])
      // What has no place in the reference is not in the area.
      do throws(TransformError) { try extent.include(&piece) } catch { return false }
    }
    guard let box = extent.span else { return false }
    return given.contains { $0.intersects(box) }
  }
}
