// Location sources in documents: each kind is restored by the method that creates it.

import GeoModel
import GeoProtocol
import Handlers
import JSON

extension LocationSource: ListedKind {
  static let required: Set<String> = ["kind", "line", "source", "layer", "entitySource", "track"]

  static func restore(_ id: String, _ json: JSONValue, in world: inout World) throws {
    func create<P: JSONDecodable, R>(
      _ method: (P, inout World) throws -> R, _ name: WritableKeyPath<P, String?>, in world: inout World
    ) throws {
      var params = try P(from: json)
      params[keyPath: name] = id
      _ = try method(params, &world)
    }
    switch try LocationProtocol.LocationSourceKind(from: json["kind"]) {
    case .simulated: try create(LocationService.createSimulated, \LocationProtocol.CreateSimulated.Params.id, in: &world)
    case .external: try create(LocationService.createExternal, \LocationProtocol.CreateExternal.Params.id, in: &world)
    case .nmea: try create(LocationService.createNmea, \LocationProtocol.CreateNmea.Params.id, in: &world)
    case .replay: try create(LocationService.createReplay, \LocationProtocol.CreateReplay.Params.id, in: &world)
    case .filtered: try create(LocationService.createFiltered, \LocationProtocol.CreateFiltered.Params.id, in: &world)
    case .tracked: try create(LocationService.createTracked, \LocationProtocol.CreateTracked.Params.id, in: &world)
    case .snapped: try create(LocationService.createSnapped, \LocationProtocol.CreateSnapped.Params.id, in: &world)
    }
    var changes = LocationProtocol.Update.Params(locationSource: id)
    // Absent is never, where a new source would have a default.
    changes.staleAfter = json["staleAfter"].number
    if changes.staleAfter == nil { changes.clear = ["staleAfter"] }
    _ = try LocationService.update(changes, in: &world)
  }
}
