// Handlers of `map/*`.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import WireCoding

package enum MapService: MapHandlers {
  package static func create(_ params: Create.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.made(params.id, params.ifExists, matches: { (map: Map, world) in
      ["spatialReference": try world.canonical(params.spatialReference) == map.reference.reference]
    }) { world, id in
      let map = try world.createMap(id: id, title: nil, reference: SpatialReference(params.spatialReference))
      try world.updateContent(of: .map(map.id), try Wire.changes(params.members))
      return map
    }
  }

  package static func update(_ params: Update.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.updateContent(of: .map(ID(params.map)), try Wire.changes(params.members))
    return { try Wire.object(MapID(params.map), in: $0) }
  }
}
