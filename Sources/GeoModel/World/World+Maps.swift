// Maps and their layers.

import Geometry

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
    maps.insert(Map(id: id, title: title, reference: info))
    record(.created(ObjectReference(.maps, id.rawValue)))
    touch(id)
    return try maps.require(id)
  }

  public mutating func updateMap(_ id: MapID, title: String?, clear: [String]) throws(ModelError) {
    let map = try maps.require(id)
    try check(clear, allowed: ["title"])
    let newTitle = clear.contains("title") ? nil : title ?? map.title
    guard newTitle != map.title else { return }
    maps.modify(id) { $0.title = newTitle }
    record(.changed(ObjectReference(.maps, id.rawValue), .title))
    touch(id)
  }

  /// Closes a map, its layers and the views that show it.
  public mutating func closeMap(_ id: MapID) throws(ModelError) {
    let map = try maps.require(id)
    for view in views.values where view.content == .map(id) { try closeView(view.id) }
    for layer in map.operationalLayers {
      layers.remove(layer)
      record(.closed(ObjectReference(.layers, layer.rawValue)))
    }
    maps.remove(id)
    record(.closed(ObjectReference(.maps, id.rawValue)))
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
    layers.insert(
      Layer(
        id: id, map: map, source: source, schema: schema, origin: data.origin, name: name ?? schema.name))
    maps.modify(map) { $0.operationalLayers.insert(id, at: index ?? count) }
    record(.created(ObjectReference(.layers, id.rawValue)))
    record(.changed(ObjectReference(.maps, map.rawValue), .operationalLayers))
    touch(id)
    return try layers.require(id)
  }

  public mutating func removeLayer(_ layer: LayerID, from map: MapID) throws(ModelError) {
    let place = try place(of: layer, in: map)
    maps.modify(map) { _ = $0.operationalLayers.remove(at: place) }
    layers.remove(layer)
    record(.closed(ObjectReference(.layers, layer.rawValue)))
    record(.changed(ObjectReference(.maps, map.rawValue), .operationalLayers))
    touch(map)
  }

  public mutating func moveLayer(_ layer: LayerID, in map: MapID, to index: Int) throws(ModelError) {
    let place = try place(of: layer, in: map)
    let count = try maps.require(map).operationalLayers.count
    guard index < count else { throw .indexOutOfRange(count: count) }
    guard index != place else { return }
    maps.modify(map) {
      $0.operationalLayers.remove(at: place)
      $0.operationalLayers.insert(layer, at: index)
    }
    record(.changed(ObjectReference(.maps, map.rawValue), .operationalLayers))
    touch(map)
  }

  private func place(of layer: LayerID, in map: MapID) throws(ModelError) -> Int {
    guard let place = try maps.require(map).operationalLayers.firstIndex(of: layer) else {
      throw .unknownID(.layers, layer.rawValue)
    }
    return place
  }

  public mutating func updateLayer(_ id: LayerID, _ update: AppearanceUpdate) throws(ModelError) {
    let layer = try layers.require(id)
    try check(update.clear, allowed: ["minScale", "maxScale"])
    let new = try layer.appearance.applying(update)
    let name = update.name ?? layer.name
    let changed = layer.appearance.differences(to: new) + (name == layer.name ? [] : [.name])
    guard !changed.isEmpty else { return }
    layers.modify(id) {
      $0.appearance = new
      $0.name = name
    }
    for property in changed { record(.changed(ObjectReference(.layers, id.rawValue), property)) }
    touch(id)
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

  func differences(to new: Appearance) -> [Property] {
    var result: [Property] = []
    if isVisible != new.isVisible { result.append(.isVisible) }
    if opacity != new.opacity { result.append(.opacity) }
    if minScale != new.minScale { result.append(.minScale) }
    if maxScale != new.maxScale { result.append(.maxScale) }
    return result
  }
}
