// Handlers of `locationDisplay/*`.

import GeoModel
import GeoProtocol
import JSON
import WireCoding

package enum LocationDisplayService: LocationDisplayHandlers {
  package static func create(_ params: Create.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    let owner = try Wire.object(params.owner, "owner", in: world)
    return try world.made(params.id, params.ifExists, matches: { (display: SharedLocationDisplay, _) in
      ["owner": display.owner == owner]
    }) { try $0.createLocationDisplay(id: $1, owner: owner, try Wire.changes(params.members)) }
  }

  package static func update(_ params: Update.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.updateLocationDisplay(ID(params.locationDisplay), try Wire.changes(params.members))
    return { try Wire.object(SharedLocationDisplayID(params.locationDisplay), in: $0) }
  }
}
