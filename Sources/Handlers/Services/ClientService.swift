// Handlers of `client/*`.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import WireCoding

package enum ClientService: ClientHandlers {
  package static func update(_ params: Update.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    var presence = Presence()
    presence.view = params.view.map { ViewID($0) }
    if let cursor = params.cursor {
      let bounds = [(cursor[0], 180.0), (cursor[1], 90.0)]
      for (index, (number, bound)) in bounds.enumerated() where !(abs(number) <= bound) {
        throw ModelError.outOfRange(number, expected: "a number in -\(Int(bound))...\(Int(bound))", path: "/cursor/\(index)")
      }
      presence.cursor = Point(x: cursor[0], y: cursor[1])
    }
    for name in params.clear ?? [] {
      switch name {
      case "view" where params.view == nil: presence.clearsView = true
      case "cursor" where params.cursor == nil: presence.clearsCursor = true
      default: throw ModelError.unknownMember(name, allowed: ["view", "cursor"])
      }
    }
    let client = try world.present(presence)
    return { try Wire.object(client, in: $0) }
  }
}
