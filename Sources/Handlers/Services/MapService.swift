// Handlers of `map/*`.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import WireCoding

package enum MapService: MapHandlers {
  package static func create(_ params: Create.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    let existing = try world.existing(params.id, params.ifExists, Map.self) { map, world in
      ["spatialReference": try world.canonical(params.spatialReference) == map.reference.reference]
    }
    if let existing { return { try Wire.object(existing.id, in: $0) } }
    let map = try world.createMap(
      id: params.id.map { ID($0) }, title: nil, reference: SpatialReference(params.spatialReference))
    try world.updateContent(of: .map(map.id), try Wire.changes(params.members))
    return { try Wire.object(map.id, in: $0) }
  }

  package static func get(_ params: Get.Params, in world: World) throws -> JSONOpaque {
    try Wire.object(MapID(params.map), in: world)
  }

  package static func list(_ params: List.Params, in world: World) throws -> List.Result {
    .init(revision: world.revision, maps: world.maps.values.map { Wire.object($0, world) })
  }

  package static func update(_ params: Update.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.updateContent(of: .map(ID(params.map)), try Wire.changes(params.members))
    return { try Wire.object(MapID(params.map), in: $0) }
  }

  package static func close(_ params: Close.Params, in world: inout World) throws -> Answer<Close.Result> {
    try world.closeMap(ID(params.map))
    return { .init(revision: $0.revision) }
  }
}
