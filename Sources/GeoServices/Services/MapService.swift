// Maps on the wire.

import GeoModel
import GeoProtocol
import Geometry

enum MapService: MapHandlers {
  typealias Host = GeoServices.Host

  static func create(_ params: MapProtocol.Create.Params, in world: inout World) throws -> MapProtocol.Map {
    if let existing = existing(world.maps, params.id, params.ifExists) { return Wire.map(existing) }
    return Wire.map(
      try world.createMap(
        id: params.id.map { ID($0) }, title: params.title, reference: SpatialReference(params.spatialReference)))
  }

  static func get(_ params: MapProtocol.Get.Params, in world: World) throws -> MapProtocol.Map {
    Wire.map(try world.maps.require(ID(params.map)))
  }

  static func list(_ params: MapProtocol.List.Params, in world: World) throws -> MapProtocol.List.Result {
    .init(revision: world.revision, maps: world.maps.values.map(Wire.map))
  }

  static func update(_ params: MapProtocol.Update.Params, in world: inout World) throws -> MapProtocol.Map {
    try world.updateMap(ID(params.map), title: params.title, clear: params.clear ?? [])
    return Wire.map(try world.maps.require(ID(params.map)))
  }

  static func close(_ params: MapProtocol.Close.Params, in world: inout World) throws -> MapProtocol.Close.Result {
    try world.closeMap(ID(params.map))
    return .init(revision: world.revision)
  }

  static func addLayer(_ params: MapProtocol.AddLayer.Params, in world: inout World) throws
    -> MapProtocol.AddLayer.Result
  {
    if let layer = existing(world.layers, params.id, params.ifExists), layer.map == ID(params.map) {
      return .init(layer: layer.id.rawValue, revision: world.revision)
    }
    let layer = try world.addLayer(
      id: params.id.map { ID($0) }, to: ID(params.map), over: ID(params.source), sourceLayer: params.sourceLayer,
      name: params.name, at: params.index)
    return .init(layer: layer.id.rawValue, revision: world.revision)
  }

  static func removeLayer(
    _ params: MapProtocol.RemoveLayer.Params, in world: inout World
  ) throws -> MapProtocol.RemoveLayer.Result {
    try world.removeLayer(ID(params.layer), from: ID(params.map))
    return .init(revision: world.revision)
  }

  static func moveLayer(
    _ params: MapProtocol.MoveLayer.Params, in world: inout World
  ) throws -> MapProtocol.MoveLayer.Result {
    try world.moveLayer(ID(params.layer), in: ID(params.map), to: params.index)
    return .init(
      revision: world.revision,
      operationalLayers: try world.maps.require(ID(params.map)).operationalLayers.map(\.rawValue))
  }
}

/// The object that a `create` with `ifExists: "reuse"` finds.
func existing<Element>(_ registry: Registry<Element>, _ id: String?, _ ifExists: SessionProtocol.IfExists) -> Element? {
  guard ifExists == .reuse, let id else { return nil }
  return registry[ID(id)]
}
