// The load lifecycle of a layer: one attempt at a time; a failure is kept until a retry. What is loaded stays while it is read again.

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
  ///   - again: whether to read what is loaded, too. Its status stays, as its features do until ``finishLoad(_:store:schema:)``.
  ///   - origin: the same origin with other secrets, which the source has from now on.
  /// - Throws: the stored failure, without `retry`.
  public mutating func beginLoad(
    _ id: LayerID, retry: Bool, again: Bool = false, from origin: SourceOrigin? = nil
  ) throws(ModelError) -> LoadDecision {
    let layer = try layers.require(id)
    let status = if let raster = layer.raster { raster.loadStatus } else { try layer.requireFeatures().loadStatus }
    switch status {
    // Inline data and entities have nothing to read again.
    case .loaded where !again || layer.features?.origin.isInline == true: return .alreadyLoaded
    case .loading: return .read(layer)
    case .failed(let failure) where !retry: throw .failed(failure)
    case .notLoaded, .failed, .loaded:
      let begun = status == .loaded ? status : .loading
      if layer.raster != nil {
        changeKnown(id) { layer in
          if case .file(let file)? = origin { layer.raster?.origin = file }
          layer.raster?.loadStatus = begun
        }
        return .read(try layers.require(id))
      }
      let features = try layer.requireFeatures()
      guard let source = sources[features.source], source.number == features.sourceNumber else { throw .sourceClosed }
      if let origin { changeKnown(source.id) { $0.origin = origin } }
      changeKnown(id) { layer in
        // The source may have more features than when the layer was added.
        layer.features?.origin = origin ?? source.origin
        layer.features?.loadStatus = begun
      }
      return .read(try layers.require(id))
    }
  }

  /// Ends a load with features. Of those that were selected, the ones whose ids are still there stay so.
  ///
  /// - Parameter schema: the schema that was read; nil if it equals that of the layer.
  /// - Throws: `wrongFieldType` if the fields of the layer's time have other types.
  public mutating func finishLoad(
    _ id: LayerID, store: FeatureStore, schema: SourceLayer? = nil
  ) throws(ModelError) -> Layer {
    try finishLoad(id) { (layer) throws(ModelError) in
      let isTable = layer.kind == .table
      if let schema { layer.features?.schema = isTable ? schema.asTable : schema }
      let selected = layer.store?.selectedIDs ?? []
      layer.features?.store = store
      layer.features?.store?.toggleSelected(store.rows(of: selected))
      if let time = layer.features?.time { try layer.features?.check(time, at: "/time") }
      layer.features?.countSelected()
    }
  }

  /// Ends a load with what `body` sets.
  mutating func finishLoad(_ id: LayerID, _ body: (inout Layer) throws(ModelError) -> Void) throws(ModelError) -> Layer {
    let before = layers[id]?.ownLoadStatus
    try change(id) { (layer) throws(ModelError) in
      try body(&layer)
      layer.ownLoadStatus = .loaded
    }
    if before == .loaded {
      // Other features may have the same count and extent.
      record(.changed(ObjectReference(.layers, id.rawValue), .loadStatus))
      touch(id)
    }
    return try layers.require(id)
  }

  /// The first error of a layer's expressions, symbols and time over another schema; nil if there is none.
  public func fault(of id: LayerID, with schema: SourceLayer) -> ModelError? {
    guard var layer = layers[id] else { return nil }
    layer.features?.schema = schema
    // The columns of features that it has are others.
    layer.features?.store = nil
    return fault(of: layer)
  }

  /// Ends a load with a failure. What is loaded stays as it is.
  public mutating func failLoad(_ id: LayerID, _ failure: Failure) {
    if layers[id]?.ownLoadStatus != .loaded { setLoadStatus(.failed(failure), of: id) }
  }

  /// Resets a load in progress to `notLoaded`; otherwise does nothing.
  public mutating func abandonLoad(_ id: LayerID) {
    if layers[id]?.ownLoadStatus == .loading { setLoadStatus(.notLoaded, of: id) }
  }

  private mutating func setLoadStatus(_ status: LoadStatus, of id: LayerID) {
    changeKnown(id) { $0.ownLoadStatus = status }
  }
}
