// Maps on the wire.

import GeoModel
import GeoProtocol
import Geometry

enum MapService: MapHandlers {
  typealias Types = Server

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
}

/// The object that a `create` with `ifExists: "reuse"` finds.
func existing<Element>(_ registry: Registry<Element>, _ id: String?, _ ifExists: SessionProtocol.IfExists) -> Element? {
  guard ifExists == .reuse, let id else { return nil }
  return registry[ID(id)]
}
