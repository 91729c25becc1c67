// Where the entities of a layer have been, as layers of their own below it.

import FeatureStore
import GeoModel
import Sorting

extension DrawnLayer {
  /// What the features are of a layer over an entity source; nil for another layer.
  package func entityFeatures(in world: World) -> EntityFeatures? {
    world.layers[LayerID(object.id)]?.features?.entitySource == nil || stratum == .overlay ? nil : .entities
  }

  /// What a layer over an entity source draws below its entities, topmost first: observations before them, then lines of tracks.
  ///
  /// - Parameter check: called every few milliseconds; throws to cancel.
  /// - Complexity: O(observations that are shown) with track lines.
  package func tracks(in world: World, checking check: () throws -> Void) rethrows -> [(kind: EntityFeatures, layer: DrawnLayer)] {
    guard entityFeatures(in: world) != nil, let layer = world.layers[LayerID(object.id)], let id = layer.features?.entitySource,
      let display = layer.features?.trackDisplay, let contents = world.entitySources[id]?.contents
    else { return [] }
    let limit = display.maximumObservations
    var drawn: [(kind: EntityFeatures, layer: DrawnLayer)] = []
    if display.showsPreviousObservations {
      let isShown = { @Sendable [features, store] (row: FeatureRow) -> Bool in
        let entity = contents.entity(of: row)
        guard let last = contents.track(of: entity)?.observations.suffix(limit).dropLast(), last.contains(where: { $0.id == row.id }),
          let head = store.row(of: entity)
        else { return false }
        return !(features?.shown([head]) ?? [head]).isEmpty
      }
      drawn.append((.observations, part(contents.observations, display.previousObservationRenderer ?? portrayal.renderer, isShown)))
    }
    if display.showsTrackLines, limit > 1 {
      let heads = features.flatMap { $0.isUnfiltered ? nil : $0.shown(store.rowsInDrawingOrder()).map(store.id(ofPresent:)) }
      if let lines = try contents.lines(of: heads, at: .max, last: limit, checking: check) {
        drawn.append((.tracks, part(lines, display.trackLineRenderer)))
      }
    }
    return drawn
  }

  private func part(
    _ store: FeatureStore, _ renderer: Renderer?, _ isDrawn: (@Sendable (FeatureRow) -> Bool)? = nil
  ) -> DrawnLayer {
    var part = self
    (part.store, part.isDrawn, part.features, part.clustering) = (store, isDrawn, nil, nil)
    part.symbols = BoundSymbols(renderer, fallback: .plain, schema: store.schema)
    // A name stands once, at the entity.
    part.labels = BoundLabels([], scale: nil, schema: store.schema, by: conventions)
    return part
  }
}
