// Maps on the wire, with their layers and bookmarks.

import GeoModel
import GeoProtocol
import Geometry

enum MapService: MapHandlers {
  typealias Host = GeoServices.Host

  static func create(_ params: MapProtocol.Create.Params, in world: inout World) throws -> MapProtocol.Map {
    if let existing = existing(world.maps, params.id, params.ifExists) { return Wire.map(existing, world) }
    let map = try world.createMap(
      id: params.id.map { ID($0) }, title: params.title, reference: SpatialReference(params.spatialReference))
    return Wire.map(map, world)
  }

  static func get(_ params: MapProtocol.Get.Params, in world: World) throws -> MapProtocol.Map {
    Wire.map(try world.maps.require(ID(params.map)), world)
  }

  static func list(_ params: MapProtocol.List.Params, in world: World) throws -> MapProtocol.List.Result {
    .init(revision: world.revision, maps: world.maps.values.map { Wire.map($0, world) })
  }

  static func update(_ params: MapProtocol.Update.Params, in world: inout World) throws -> MapProtocol.Map {
    try world.updateContent(
      of: .map(ID(params.map)),
      MapContentUpdate(
        title: params.title, basemap: params.basemap.map { BasemapUpdate(name: $0.name) },
        bookmarks: try params.bookmarks.map { try $0.map(Wire.bookmark) },
        initialViewpoint: try params.initialViewpoint.map(Wire.target), referenceScale: params.referenceScale,
        minScale: params.minScale, maxScale: params.maxScale,
        backgroundColor: params.backgroundColor.flatMap { Color($0) }, clear: params.clear ?? []))
    return Wire.map(try world.maps.require(ID(params.map)), world)
  }

  static func close(_ params: MapProtocol.Close.Params, in world: inout World) throws -> MapProtocol.Close.Result {
    try world.closeMap(ID(params.map))
    return .init(revision: world.revision)
  }

  // MARK: Layers

  static func addLayer(
    _ params: MapProtocol.AddLayer.Params, in world: inout World
  ) throws -> MapProtocol.AddLayer.Result {
    let map = ViewContent.map(ID(params.map))
    if let layer = existing(params.id, params.ifExists, in: map, world) {
      return .init(layer: layer, revision: world.revision)
    }
    let layer = try world.addLayer(
      id: params.id.map { ID($0) }, to: map, over: ID(params.source), sourceLayer: params.sourceLayer,
      name: params.name, at: Wire.place(params.role, params.group, params.index))
    return .init(layer: layer.id.rawValue, revision: world.revision)
  }

  static func addGroupLayer(
    _ params: MapProtocol.AddGroupLayer.Params, in world: inout World
  ) throws -> MapProtocol.AddGroupLayer.Result {
    let map = ViewContent.map(ID(params.map))
    if let layer = existing(params.id, params.ifExists, in: map, world) {
      return .init(layer: layer, revision: world.revision)
    }
    let layer = try world.addGroupLayer(
      id: params.id.map { ID($0) }, to: map, name: params.name,
      visibilityMode: Wire.visibilityMode(params.visibilityMode),
      at: Wire.place(params.role, params.group, params.index))
    return .init(layer: layer.id.rawValue, revision: world.revision)
  }

  static func addTable(
    _ params: MapProtocol.AddTable.Params, in world: inout World
  ) throws -> MapProtocol.AddTable.Result {
    let map = ViewContent.map(ID(params.map))
    if let layer = existing(params.id, params.ifExists, in: map, world) {
      return .init(layer: layer, revision: world.revision)
    }
    let layer = try world.addLayer(
      id: params.id.map { ID($0) }, to: map, over: ID(params.source), sourceLayer: params.sourceLayer,
      name: params.name, asTable: true, at: LayerPosition(index: params.index))
    return .init(layer: layer.id.rawValue, revision: world.revision)
  }

  static func removeLayer(
    _ params: MapProtocol.RemoveLayer.Params, in world: inout World
  ) throws -> MapProtocol.RemoveLayer.Result {
    try world.removeLayer(ID(params.layer), from: .map(ID(params.map)))
    return .init(revision: world.revision)
  }

  static func moveLayer(
    _ params: MapProtocol.MoveLayer.Params, in world: inout World
  ) throws -> MapProtocol.MoveLayer.Result {
    try world.moveLayer(
      ID(params.layer), in: .map(ID(params.map)), to: Wire.place(params.role, params.group, params.index))
    return .init(revision: world.revision, layers: world.siblings(of: ID(params.layer)).map(\.rawValue))
  }

  // MARK: Bookmarks

  static func addBookmark(
    _ params: MapProtocol.AddBookmark.Params, in world: inout World
  ) throws -> MapProtocol.AddBookmark.Result {
    let id = try world.addBookmark(
      NewBookmark(id: params.id, name: params.name, viewpoint: try Wire.target(params.viewpoint)),
      to: .map(ID(params.map)), at: params.index)
    return .init(bookmark: id, revision: world.revision)
  }

  static func removeBookmark(
    _ params: MapProtocol.RemoveBookmark.Params, in world: inout World
  ) throws -> MapProtocol.RemoveBookmark.Result {
    try world.removeBookmark(params.bookmark, from: .map(ID(params.map)))
    return .init(revision: world.revision)
  }

  static func moveBookmark(
    _ params: MapProtocol.MoveBookmark.Params, in world: inout World
  ) throws -> MapProtocol.MoveBookmark.Result {
    let map = ViewContent.map(ID(params.map))
    try world.moveBookmark(params.bookmark, in: map, to: params.index)
    return .init(revision: world.revision, bookmarks: try world.content(of: map).bookmarks.map(\.id.string))
  }
}

/// The object that a `create` with `ifExists: "reuse"` finds.
func existing<Element>(_ registry: Registry<Element>, _ id: String?, _ ifExists: SessionProtocol.IfExists) -> Element? {
  guard ifExists == .reuse, let id else { return nil }
  return registry[ID(id)]
}

/// The same for a layer, which has to be in the map or scene meant.
func existing(
  _ id: String?, _ ifExists: SessionProtocol.IfExists, in container: ViewContent, _ world: World
) -> String? {
  existing(world.layers, id, ifExists).flatMap { $0.container == container ? $0.id.rawValue : nil }
}
