// Maps and their layers.

import Geometry
import Query

extension World {
  @discardableResult
  public mutating func createMap(id: MapID?, title: String?, reference: SpatialReference) throws(ModelError) -> Map {
    try checkFree(id)
    let info = try describe(reference)
    guard info.kind == .projected || info.kind == .geographic else {
      throw .transform(
        .unknownReference(reference.definition, reason: "a map is projected or geographic, this is \(info.kind)"))
    }
    let id = try claim(id, prefix: "map")
    insert(Map(id: id, title: title, reference: info))
    return try maps.require(id)
  }

  public mutating func updateMap(_ id: MapID, title: String?, clear: [String]) throws(ModelError) {
    try check(clear, allowed: ["title"])
    try change(id) { (map) throws(ModelError) in
      if let title { map.title = title }
      if clear.contains("title") { map.title = nil }
    }
  }

  /// Closes a map, its layers and the views that show it.
  public mutating func closeMap(_ id: MapID) throws(ModelError) {
    let map = try maps.require(id)
    closeViews(showing: map.reference)
    for layer in map.operationalLayers { remove(layer) }
    remove(id)
  }

  // MARK: Layers

  /// - Parameters:
  ///   - sourceLayer: the source's only one when nil.
  ///   - index: the place in the drawing order; on top when nil.
  @discardableResult
  public mutating func addLayer(
    id: LayerID?, to map: MapID, over source: SourceID, sourceLayer: String?, name: String?, at index: Int?
  ) throws(ModelError) -> Layer {
    let count = try maps.require(map).operationalLayers.count
    let data = try sources.require(source)
    let names = data.layers.map(\.name)
    guard
      let schema = sourceLayer == nil && names.count == 1
        ? data.layers[0] : data.layers.first(where: { $0.name == sourceLayer })
    else { throw .unknownSourceLayer(name: sourceLayer, available: names) }
    if let index, index > count { throw .indexOutOfRange(count: count) }
    let id = try claim(id, prefix: "layer")
    insert(
      Layer(
        id: id, map: map, source: source, schema: schema, origin: data.origin, name: name ?? schema.name))
    changeKnown(map) { $0.operationalLayers.insert(id, at: index ?? count) }
    return try layers.require(id)
  }

  public mutating func removeLayer(_ layer: LayerID, from map: MapID) throws(ModelError) {
    let place = try place(of: layer, in: map)
    remove(layer)
    changeKnown(map) { _ = $0.operationalLayers.remove(at: place) }
  }

  public mutating func moveLayer(_ layer: LayerID, in map: MapID, to index: Int) throws(ModelError) {
    let place = try place(of: layer, in: map)
    let count = try maps.require(map).operationalLayers.count
    guard index < count else { throw .indexOutOfRange(count: count) }
    changeKnown(map) {
      $0.operationalLayers.remove(at: place)
      $0.operationalLayers.insert(layer, at: index)
    }
  }

  private func place(of layer: LayerID, in map: MapID) throws(ModelError) -> Int {
    guard let place = try maps.require(map).operationalLayers.firstIndex(of: layer) else {
      throw .unknownID(.layers, layer.rawValue)
    }
    return place
  }

  public mutating func updateLayer(
    _ id: LayerID, _ update: AppearanceUpdate, _ portrayal: PortrayalUpdate = PortrayalUpdate()
  ) throws(ModelError) {
    try check(update.clear, allowed: ["minScale", "maxScale"] + Portrayal.clearable)
    try change(id) { (layer) throws(ModelError) in
      // A layer's fields are known before its features are.
      let schema = FeatureStore(fields: layer.schema.fields).schema
      do throws(SymbologyError) { try portrayal.check(for: schema) } catch { throw .symbology(error) }
      layer.appearance = try layer.appearance.applying(update)
      layer.portrayal = layer.portrayal.applying(portrayal, clear: update.clear)
      if let name = update.name { layer.name = name }
    }
  }

  // MARK: Helpers of all commands

  func describe(_ reference: SpatialReference) throws(ModelError) -> SpatialReferenceInfo {
    do { return try transformer.describe(reference) } catch { throw .transform(error) }
  }

  func check(_ clear: [String], allowed: [String]) throws(ModelError) {
    for name in clear where !allowed.contains(name) { throw .unknownMember(name, allowed: allowed) }
  }
}

extension Appearance {
  func applying(_ update: AppearanceUpdate) throws(ModelError) -> Appearance {
    var new = self
    if let isVisible = update.isVisible { new.isVisible = isVisible }
    if let opacity = update.opacity { new.opacity = opacity }
    if let minScale = update.minScale { new.minScale = minScale }
    if let maxScale = update.maxScale { new.maxScale = maxScale }
    if update.clear.contains("minScale") { new.minScale = nil }
    if update.clear.contains("maxScale") { new.maxScale = nil }
    if let far = new.minScale, let near = new.maxScale, far <= near { throw .invalidScaleRange }
    return new
  }
}
