// Data sources: added when a task has read the schema, closed by a command.

import FeatureStore

extension World {
  @discardableResult
  public mutating func addSource(
    id: SourceID?, driver: String, origin: SourceOrigin, layers: [SourceLayer], status: SourceStatus = .open,
    warnings: [String] = []
  ) throws(ModelError) -> Source {
    let id = try claim(id, prefix: "source")
    let number = makeNumber()
    let source = Source(
      id: id, number: number, driver: driver, origin: origin, layers: layers, status: status, warnings: warnings)
    return insert(source, at: number)
  }

  /// Adds features to a source in columns.
  ///
  /// - Parameter type: the simple features type of the batch; nil without geometries.
  /// - Throws: `notInColumns` for other sources.
  public mutating func addFeatures(
    _ batch: FeatureBatch, of type: String?, to id: SourceID
  ) throws(ModelError) -> AddedFeatures {
    guard case .columns(var data) = try sources.require(id).origin else { throw .notInColumns(id) }
    let added: AddedFeatures
    do { added = try data.append(batch, of: type) } catch { throw ModelError(error) }
    guard added.count > 0 else { return added }
    try change(id) { (source) throws(ModelError) in
      source.origin = .columns(data)
      source.layers = [data.layer]
    }
    describeLayers(over: id, as: data.layer)
    return added
  }

  /// Updates the schema of layers that have not read the features of a source yet.
  private mutating func describeLayers(over id: SourceID, as schema: SourceLayer) {
    guard let source = sources[id] else { return }
    for layer in referrers(to: source.reference, of: Layer.self) {
      guard let features = layers[layer]?.features, features.sourceNumber == source.number, features.store == nil,
        features.loadStatus != .loading
      else { continue }
      changeKnown(layer) { $0.features?.schema = features.isTable ? schema.asTable : schema }
    }
  }
}
