// Questions for features as plain values, independent of the request or other code that makes them.

import Expressions
import FeatureStore
import GeoModel
import Geometry

/// The features of a layer, an overlay or an entity source at one moment.
package struct FeatureSet: Sendable {
  package let store: FeatureStore
  package let reference: SpatialReference
  /// The layer's features with its filters and time; nil for others.
  package let layer: LayerFeatures?
  /// The id of the object, for errors.
  package let id: String

  /// - Throws: `notLoaded` for a layer whose features are not loaded.
  package init(_ id: LayerID, in world: borrowing World) throws(ModelError) {
    let layer = world.live(try world.layers.require(id))
    let features = try layer.requireFeatures()
    guard let store = features.store else { throw .notLoaded(id.rawValue) }
    (self.store, reference, self.layer, self.id) = (store, layer.reference, features, id.rawValue)
  }

  package init(_ id: OverlayID, in world: borrowing World) throws(ModelError) {
    let overlay = try world.overlays.require(id)
    (store, reference, layer, self.id) = (overlay.store, overlay.reference, nil, id.rawValue)
  }

  /// - Parameter ids: of tracks, which are made for the query; nil for all.
  /// - Throws: also for tracks of too many observations.
  package init(
    _ id: EntitySourceID, _ kind: EntityFeatures, ids: [Int]?, in world: borrowing World
  ) throws {
    let source = try world.entitySources.require(id)
    (reference, layer, self.id) = (source.schema.reference, nil, id.rawValue)
    switch kind {
    case .entities: store = source.contents.entities
    case .observations: store = source.contents.observations
    case .tracks:
      guard let tracks = source.contents.lines(of: ids, at: Self.maxInlineObservations, checking: {}) else {
        throw QueryError.invalid(
          "The tracks have too many observations.", path: "/ids",
          expected: "entities with at most \(Self.maxInlineObservations) observations together")
      }
      store = tracks
    }
  }

  /// Maximum number of observations of tracks that are made on the loop: a few milliseconds.
  private static let maxInlineObservations = 20_000

  /// The fields that hold the time of a feature.
  package func requireTime() throws(ModelError) -> LayerTime {
    guard let time = layer?.time else { throw .noTime(id) }
    return time
  }
}

/// Conditions on features; without any, all features match. ``FeatureQuery`` plans the search.
///
/// ```swift
/// var question = FeatureQuestion(try FeatureSet(LayerID("roads"), in: world))
/// question.condition = try Expression("lanes > 2")
/// let rows = try FeatureQuery(question, in: world).rows(WorkShare(nil))
/// ```
package struct FeatureQuestion: Sendable {
  package let source: FeatureSet
  package var ids: [Int]?
  package var condition: Expression?
  /// JSON Pointer of the condition, for errors.
  package var conditionPath = "/whereClause"
  package var timeExtent: TimeExtent?
  /// A box that the envelope of features has to intersect; with `xMin > xMax` it crosses the edge of the world.
  package var envelope: Envelope?
  package var geometry: Shape?
  /// The relation of ``geometry`` to the features.
  package var relation = SpatialRelation.intersects
  /// The reference of the box, the geometry and literals in the condition; nil for that of the features.
  package var reference: SpatialReference?
  package var isSelected: Bool?
  /// Attributes that are computed for the features found, by expressions over the others and over those before.
  package var computed: [(name: String, expression: Expression)] = []

  package init(_ source: FeatureSet) { self.source = source }

  package enum Shape: Sendable {
    /// With `xMin > xMax` it crosses the edge of the world.
    case box(Envelope)
    case geometry(Geometry)
  }
}

/// A field by which features or groups are ordered.
package struct FeatureOrder: Sendable {
  package let field: String
  package let isDescending: Bool

  package init(_ field: String, isDescending: Bool) { (self.field, self.isDescending) = (field, isDescending) }
}
