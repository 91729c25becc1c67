// The load lifecycle of a layer: one attempt at a time; a failure is kept until a retry.

import FeatureStore

extension World {
  /// Outcome of a request to load a layer.
  public enum LoadDecision: Sendable {
    /// The features are loaded.
    case alreadyLoaded
    /// An attempt begins or is in progress: read the features of this layer.
    case read(Layer)
  }

  /// Begins a load unless the layer is loaded.
  ///
  /// - Parameters:
  ///   - retry: whether to try again after a failure.
  ///   - origin: the same origin with other secrets, which the source has from now on.
  /// - Throws: the stored failure, without `retry`.
  public mutating func beginLoad(_ id: LayerID, retry: Bool, from origin: SourceOrigin? = nil) throws(ModelError) -> LoadDecision {
    let layer = try layers.require(id)
    let status = if let raster = layer.raster { raster.loadStatus } else { try layer.requireFeatures().loadStatus }
    switch status {
    case .loaded: return .alreadyLoaded
    case .loading: return .read(layer)
    case .failed(let failure) where !retry: throw .failed(failure)
    case .notLoaded, .failed:
      if layer.raster != nil {
        changeKnown(id) { layer in
          if case .file(let file)? = origin { layer.raster?.origin = file }
          layer.raster?.loadStatus = .loading
        }
        return .read(try layers.require(id))
      }
      let features = try layer.requireFeatures()
      guard let source = sources[features.source], source.number == features.sourceNumber else { throw .sourceClosed }
      if let origin { changeKnown(source.id) { $0.origin = origin } }
      changeKnown(id) { layer in
        // The source may have more features than when the layer was added.
        layer.features?.origin = origin ?? source.origin
        layer.features?.loadStatus = .loading
      }
      return .read(try layers.require(id))
    }
  }

  /// Ends a load with features.
  ///
  /// - Parameter schema: the schema that was read; nil if it equals that of the layer.
  /// - Throws: `wrongFieldType` if the fields of the layer's time have other types.
  public mutating func finishLoad(
    _ id: LayerID, store: FeatureStore, schema: SourceLayer? = nil
  ) throws(ModelError) -> Layer {
    try change(id) { (layer) throws(ModelError) in
      let isTable = layer.kind == .table
      if let schema { layer.features?.schema = isTable ? schema.asTable : schema }
      layer.features?.store = store
      if let time = layer.features?.time { try layer.features?.check(time, at: "/time") }
      layer.features?.countSelected()
      layer.features?.loadStatus = .loaded
    }
    return try layers.require(id)
  }

  /// The first error of a layer's expressions, symbols and time over another schema; nil if there is none.
  public func fault(of id: LayerID, with schema: SourceLayer) -> ModelError? {
    guard var layer = layers[id] else { return nil }
    layer.features?.schema = schema
    return fault(of: layer)
  }

  /// Ends a load with a failure.
  public mutating func failLoad(_ id: LayerID, _ failure: Failure) { setLoadStatus(.failed(failure), of: id) }

  /// Resets a load in progress to `notLoaded`; otherwise does nothing.
  public mutating func abandonLoad(_ id: LayerID) {
    if layers[id]?.ownLoadStatus == .loading { setLoadStatus(.notLoaded, of: id) }
  }

  private mutating func setLoadStatus(_ status: LoadStatus, of id: LayerID) {
    changeKnown(id) { $0.ownLoadStatus = status }
  }
}
