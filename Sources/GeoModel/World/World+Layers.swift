// Layers in the lists of maps, scenes and groups: adding, moving, removing.

import Geometry

extension World {
  /// Maximum nesting of groups.
  static let groupDepthLimit = 64

  // MARK: Adding

  /// Adds a layer with features, or a table.
  ///
  /// - Parameters:
  ///   - sourceLayer: name of the source's layer; nil for the only one.
  ///   - asTable: whether to drop geometries and add to the tables.
  ///   - missing: saved schema of a layer missing from its source.
  /// - Throws: `noGeometry` for a feature layer over data without geometry.
  @discardableResult
  public mutating func addLayer(
    id: LayerID?, to container: ViewContent, over source: SourceID, sourceLayer: String?, name: String?,
    asTable: Bool = false, at position: LayerPosition = LayerPosition(), missing: SourceLayer? = nil
  ) throws(ModelError) -> Layer {
    let list = asTable ? .tables : try list(for: position, in: container)
    let features = try features(of: source, sourceLayer: sourceLayer, asTable: asTable, missing: missing)
    return try add(id, to: container, in: list, at: position) { id in
      Layer(
        id: id, container: container, group: position.group,
        name: name ?? features.schema.name.string.shortened(to: Layer.nameLimit), features: features)
    }
  }

  /// The features of a source's layer, to be loaded; see ``addLayer(id:to:over:sourceLayer:name:asTable:at:missing:)``.
  public func features(
    of source: SourceID, sourceLayer: String?, asTable: Bool = false, missing: SourceLayer? = nil
  ) throws(ModelError) -> LayerFeatures {
    let data = try sources.require(source)
    let names = data.layers.map(\.name.string)
    guard
      var schema = missing
        ?? (sourceLayer == nil && names.count == 1
          ? data.layers[0] : data.layers.first(where: { $0.name == Text(sourceLayer) }))
    else { throw .unknownSourceLayer(name: sourceLayer, available: names) }
    if asTable { schema = schema.asTable }
    guard asTable || schema.geometryType != nil else {
      throw .noGeometry(schema.name.string, columns: data.driver == "CSV" ? schema.fields.map(\.name.string) : [])
    }
    return LayerFeatures(
      source: source, sourceNumber: data.number, schema: schema, origin: data.origin, driver: data.driver, isTable: asTable)
  }

  /// Adds an empty group.
  @discardableResult
  public mutating func addGroupLayer(
    id: LayerID?, to container: ViewContent, name: String, visibilityMode: GroupVisibilityMode,
    at position: LayerPosition
  ) throws(ModelError) -> Layer {
    let list = try list(for: position, in: container)
    if let outer = position.group, groups(around: outer).count >= Self.groupDepthLimit {
      throw .tooDeeplyNested(limit: Self.groupDepthLimit)
    }
    return try add(id, to: container, in: list, at: position) { id in
      Layer(
        id: id, container: container, group: position.group, name: name,
        grouping: LayerGrouping(layers: [], visibilityMode: visibilityMode))
    }
  }

  mutating func add(
    _ wanted: LayerID?, to container: ViewContent, in list: LayerList, at position: LayerPosition,
    _ make: (LayerID) -> Layer
  ) throws(ModelError) -> Layer {
    let count = try layers(in: list, of: container).count
    if let index = position.index, index > count { throw .indexOutOfRange(count: count) }
    let id = try claim(wanted, prefix: "layer")
    insert(make(id))
    changeLayers(in: list, of: container) { $0.insert(id, at: position.index ?? count) }
    return try layers.require(id)
  }

  /// The number of layers in the list of a position.
  public func layerCount(at position: LayerPosition, in container: ViewContent) throws(ModelError) -> Int {
    try layers(in: list(for: position, in: container), of: container).count
  }

  // MARK: Moving and removing

  /// Removes a layer and its subtree.
  public mutating func removeLayer(_ id: LayerID) throws(ModelError) {
    let layer = try layers.require(id)
    let list = list(of: layer)
    removeTree(id)
    changeLayers(in: list, of: layer.container) { $0.remove(id) }
  }

  /// Removes a layer and its subtree without changing the list that contains it.
  mutating func removeTree(_ id: LayerID) {
    for layer in layers[id]?.grouping?.layers ?? [] { removeTree(layer) }
    remove(id)
  }

  /// Moves a layer within its list, into a group, or to the top level if the position names no group.
  ///
  /// - Throws: `cycle` if a group would contain itself.
  public mutating func moveLayer(_ id: LayerID, to position: LayerPosition) throws(ModelError) {
    let layer = try layers.require(id)
    let container = layer.container
    let old = list(of: layer)
    let new: LayerList
    if layer.kind == .table {
      guard position.group == nil, position.role == nil else {
        throw .wrongKind(id.rawValue, .table, expected: [.feature, .group])
      }
      new = old
    } else {
      var position = position
      if position.role == nil { position.role = role(of: layer) }
      new = try list(for: position, in: container)
    }
    if let group = position.group { try checkNesting(of: layer, in: group) }
    let count = try layers(in: new, of: container).count - (old == new ? 1 : 0)
    let index = position.index ?? count
    guard index <= count else { throw .indexOutOfRange(count: count + (old == new ? 1 : 0)) }
    if old == new {
      changeLayers(in: old, of: container) { list in
        list.remove(id)
        list.insert(id, at: index)
      }
    } else {
      changeLayers(in: old, of: container) { $0.remove(id) }
      changeKnown(id) { $0.group = position.group }
      changeLayers(in: new, of: container) { $0.insert(id, at: index) }
    }
  }

  private func checkNesting(of layer: Layer, in group: LayerID) throws(ModelError) {
    let outer = groups(around: group)
    if let index = outer.firstIndex(of: layer.id) {
      throw .cycle([layer.id.rawValue] + outer[...index].reversed().dropFirst().map(\.rawValue) + [layer.id.rawValue])
    }
    guard layer.kind == .group else { return }
    guard outer.count + height(of: layer.id) <= Self.groupDepthLimit else {
      throw .tooDeeplyNested(limit: Self.groupDepthLimit)
    }
  }

  /// A group and its enclosing groups, innermost first.
  func groups(around group: LayerID) -> [LayerID] {
    var result = [group]
    while let outer = result.last.flatMap({ layers[$0]?.group }) { result.append(outer) }
    return result
  }

  /// Nesting depth of the groups from this one down, itself included.
  private func height(of id: LayerID) -> Int {
    guard let grouping = layers[id]?.grouping else { return 0 }
    return 1 + (grouping.layers.map(height).max() ?? 0)
  }

  // MARK: Lists

  func require(_ id: LayerID, in container: ViewContent) throws(ModelError) -> Layer {
    _ = try content(of: container)
    let layer = try layers.require(id)
    guard layer.container == container else { throw .unknownID(.layers, id.rawValue) }
    return layer
  }

  func list(for position: LayerPosition, in container: ViewContent) throws(ModelError) -> LayerList {
    guard let id = position.group else {
      _ = try content(of: container)
      return .role(position.role ?? .operational)
    }
    let group = try require(id, in: container)
    guard group.kind == .group else { throw .wrongKind(id.rawValue, group.kind, expected: [.group]) }
    return .group(id)
  }

  private func list(of layer: Layer) -> LayerList {
    if let group = layer.group { return .group(group) }
    return layer.kind == .table ? .tables : .role(role(of: layer))
  }

  /// The role of a layer at the top level, or of its enclosing top-level group.
  func role(of layer: Layer) -> LayerRole {
    let top = layer.group.flatMap { groups(around: $0).last } ?? layer.id
    guard let basemap = (try? content(of: layer.container))?.basemap else { return .operational }
    if basemap.baseLayers.contains(top) { return .base }
    return basemap.referenceLayers.contains(top) ? .reference : .operational
  }

  private func layers(in list: LayerList, of container: ViewContent) throws(ModelError) -> IDList<Layer> {
    guard case .group(let id) = list else { return try content(of: container)[list] }
    return try layers.require(id).grouping?.layers ?? []
  }

  private mutating func changeLayers(
    in list: LayerList, of container: ViewContent, _ body: (inout IDList<Layer>) -> Void
  ) {
    guard case .group(let id) = list else {
      try? changeContent(of: container) { (content) throws(ModelError) in body(&content[list]) }
      return
    }
    changeKnown(id) { layer in
      guard var grouping = layer.grouping else { return }
      body(&grouping.layers)
      layer.grouping = grouping
    }
  }

  /// The list that contains a layer, including the layer; empty if there is no such layer.
  public func siblings(of id: LayerID) -> IDList<Layer> {
    guard let layer = layers[id] else { return [] }
    return (try? layers(in: list(of: layer), of: layer.container)) ?? []
  }

  /// All layers of a map or a scene in drawing order, a group before its layers, then all tables.
  ///
  /// - Complexity: O(n).
  public func allLayers(of container: ViewContent) -> [Layer] {
    guard let content = try? content(of: container) else { return [] }
    return layers(from: content.directLayers)
  }

  /// The given layers with their subtrees, a group before its layers.
  ///
  /// - Complexity: O(n).
  public func layers(from ids: some Sequence<LayerID>) -> [Layer] {
    var result: [Layer] = []
    func add(_ ids: some Sequence<LayerID>) {
      for layer in ids.lazy.compactMap({ layers[$0] }) {
        result.append(layer)
        if let grouping = layer.grouping { add(grouping.layers) }
      }
    }
    add(ids)
    return result
  }
}
