// Where the features of a tile may be in the spatial index.

import FeatureStore
import GeoModel
import Geometry

/// Boxes in the reference of features that hold boxes of Web Mercator.
package struct TileBoxes: Sendable {
  private let store: FeatureStore
  private let reference: SpatialReference
  private let transformer: any CoordinateTransformer
  private let limit: PolarLimit?
  private let wrap: WorldWrap?
  private let bend: Double?

  /// - Throws: if nothing can be transformed between the references.
  package init(for store: FeatureStore, in features: SpatialReference, _ transformer: any CoordinateTransformer) throws {
    (self.store, reference, self.transformer) = (store, features, transformer)
    let info = try transformer.describe(.webMercator)
    (limit, wrap) = (PolarLimit(info, transformer), WorldWrap(info, transformer))
    bend = try transformer.bend(from: features, to: .webMercator)
    if features != .webMercator { try Area.checkOperation(from: features, to: .webMercator, transformer) }
  }

  /// Whether a feature may be in a box.
  package func mayMeet(_ box: Envelope) -> Bool { boxes(holding: box).map { store.countAtMost(in: $0, bent: bend) > 0 } ?? true }

  /// Nil if no bound is known.
  package func boxes(holding box: Envelope) -> [Envelope]? {
    let isOwn = reference == .webMercator
    let box = isOwn ? box : limit?.clamped(box) ?? box
    let boxes = wrap?.turns(of: box, over: isOwn ? store.reach : nil) ?? [box]
    return isOwn ? boxes : Area.indexBoxes(holding: boxes, of: .webMercator, for: store, in: reference, transformer)
  }
}
