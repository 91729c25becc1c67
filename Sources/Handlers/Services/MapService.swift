// Handlers of `map/*`.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import WireCoding

package enum MapService: MapHandlers {
  package static func create(_ params: Create.Params, in world: inout World) throws -> JSONOpaque {
    if let existing = existing(world.maps, params.id, params.ifExists) { return Wire.object(existing, world) }
    let map = try world.createMap(
      id: params.id.map { ID($0) }, title: params.title, reference: SpatialReference(params.spatialReference))
    return Wire.object(map, world)
  }

  package static func get(_ params: Get.Params, in world: World) throws -> JSONOpaque {
    Wire.object(try world.maps.require(ID(params.map)), world)
  }

  package static func list(_ params: List.Params, in world: World) throws -> List.Result {
    .init(revision: world.revision, maps: world.maps.values.map { Wire.object($0, world) })
  }

  package static func update(_ params: Update.Params, in world: inout World) throws -> JSONOpaque {
    try world.updateContent(of: .map(ID(params.map)), try Wire.changes(params.members))
    try world.propagate()
    return Wire.object(try world.maps.require(ID(params.map)), world)
  }

  package static func close(_ params: Close.Params, in world: inout World) throws -> Close.Result {
    try world.closeMap(ID(params.map))
    return .init(revision: world.revision)
  }
}

/// The object that a `create` with `ifExists: "reuse"` returns instead of a new one.
package func existing<Element>(_ registry: Registry<Element>, _ id: String?, _ ifExists: SessionProtocol.IfExists)
  -> Element?
{
  guard ifExists == .reuse, let id else { return nil }
  return registry[ID(id)]
}
