// Where the features of a tile may be in the spatial index.

import FeatureStore
import GeoModel
import Geometry

extension Area {
  /// Boxes in the features' reference that hold a box of Web Mercator; nil if no bound is known.
  ///
  /// - Throws: if nothing can be transformed between the references.
  package static func boxes(
    holding envelope: Envelope, for store: FeatureStore, in features: SpatialReference, _ transformer: any CoordinateTransformer
  ) throws -> [Envelope]? {
    let info = try transformer.describe(.webMercator)
    let isOwn = features == .webMercator
    var box = envelope
    if !isOwn, let limit = PolarLimit(info, transformer) { box = limit.clamped(box) }
    let boxes = WorldWrap(info, transformer)?.turns(of: box, over: isOwn ? store.reach : nil) ?? [box]
    return isOwn ? boxes : indexBoxes(holding: boxes, of: .webMercator, for: store, in: features, transformer)
  }

  /// Throws if nothing of the reference can be drawn in Web Mercator.
  package static func checkTiles(of features: SpatialReference, _ transformer: any CoordinateTransformer) throws {
    if features != .webMercator { try checkOperation(from: features, to: .webMercator, transformer) }
  }
}
