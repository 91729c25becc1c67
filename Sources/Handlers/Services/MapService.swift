// Handlers of `map/*`.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import WireCoding

package enum MapService: MapHandlers {
  package static func create(_ params: Create.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    if let existing = try world.existing(params.id, params.ifExists, Map.self) {
      return { try Wire.object(existing.id, in: $0) }
    }
    let map = try world.createMap(
      id: params.id.map { ID($0) }, title: params.title, reference: SpatialReference(params.spatialReference))
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

extension World {
  /// Applies `ifExists` to the object of the kind that already has the id of a new one: `replace` closes it.
  ///
  /// - Returns: for `reuse`, the object to answer with instead of a new one.
  package mutating func existing<E: Entity>(
    _ id: String?, _ ifExists: SessionProtocol.IfExists, _ kind: E.Type
  ) throws -> E? {
    guard let id, let existing = self[keyPath: E.registry][ID(id)] else { return nil }
    switch ifExists {
    case .error: return nil
    case .reuse: return existing
    case .replace:
      try close(existing.id)
      return nil
    }
  }

  /// Throws `idExists` before a task that creates an object begins. An object to be replaced stays until the task ends.
  mutating func checkFree<E: Entity>(_ id: ID<E>?, _ ifExists: SessionProtocol.IfExists) throws {
    if ifExists == .replace, let id, self[keyPath: E.registry][id] != nil { return }
    try checkFree(id)
  }
}
