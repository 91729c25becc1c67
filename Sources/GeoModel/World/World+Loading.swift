// The load lifecycle of a layer: one attempt at a time, a failure that stays until it is retried.

import Geometry
import Query

extension World {
  /// What a load of a layer amounts to.
  public enum LoadDecision: Sendable {
    /// The features are here already.
    case alreadyLoaded
    /// An attempt begins or is under way; read this.
    case read(Layer)
  }

  /// Begins a load, or says why there is none to begin.
  ///
  /// - Parameter retry: whether a stored failure is forgotten.
  public mutating func beginLoad(_ id: LayerID, retry: Bool) throws(ModelError) -> LoadDecision {
    let layer = try layers.require(id)
    let features = try layer.requireFeatures()
    switch features.loadStatus {
    case .loaded: return .alreadyLoaded
    case .loading: return .read(layer)
    case .failed(let failure) where !retry: throw .failed(failure)
    case .notLoaded, .failed:
      guard sources[features.source] != nil else { throw .sourceClosed }
      setLoadStatus(.loading, of: id)
      return .read(try layers.require(id))
    }
  }

  /// Ends a load with the features read.
  ///
  /// - Parameter schema: theirs; nil where it is what the layer has been thought to have.
  /// - Throws: `wrongFieldType` where the features tell that the layer's time is not in the fields that are to say it.
  public mutating func finishLoad(
    _ id: LayerID, store: FeatureStore, schema: SourceLayer? = nil
  ) throws(ModelError) -> Layer {
    try change(id) { (layer) throws(ModelError) in
      let isTable = layer.kind == .table
      if let schema { layer.features?.schema = isTable ? schema.asTable : schema }
      layer.features?.store = store
      if let time = layer.features?.time { try layer.features?.check(time, at: "/layers/\(id.rawValue)/time") }
      layer.features?.countSelected()
      layer.features?.loadStatus = .loaded
    }
    return try layers.require(id)
  }

  /// What of a layer asks for fields that features read for it do not have; nil for nothing.
  public func fault(of id: LayerID, with schema: SourceLayer) -> ModelError? {
    guard var layer = layers[id] else { return nil }
    layer.features?.schema = schema
    return fault(of: layer)
  }

  /// Ends a load without features.
  public mutating func failLoad(_ id: LayerID, _ failure: Failure) { setLoadStatus(.failed(failure), of: id) }

  /// Puts a load under way back to its beginning; elsewhere a no-op.
  public mutating func abandonLoad(_ id: LayerID) {
    if layers[id]?.features?.loadStatus == .loading { setLoadStatus(.notLoaded, of: id) }
  }

  private mutating func setLoadStatus(_ status: LoadStatus, of id: LayerID) {
    changeKnown(id) { $0.features?.loadStatus = status }
  }
}
