// Handlers of `map/*`.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import WireCoding

package enum MapService: MapHandlers {
  package static func create(_ params: Create.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.made(params.id, params.ifExists) { world, id in
      try world.createMap(id: id, title: params.title, reference: SpatialReference(params.spatialReference))
    }
  }

  package static func update(_ params: Update.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.updateContent(of: .map(ID(params.map)), try Wire.changes(params.members))
    return { try Wire.object(MapID(params.map), in: $0) }
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

  /// Answers with the object that `make` makes, or that `ifExists` reuses.
  mutating func made<E: Entity>(
    _ id: String?, _ ifExists: SessionProtocol.IfExists, _ make: (inout World, ID<E>?) throws -> E
  ) throws -> (World) throws -> JSONOpaque {
    let made = try existing(id, ifExists, E.self)?.id ?? make(&self, id.map { ID($0) }).id
    return { try Wire.object(made, in: $0) }
  }

  /// Plans the answer of a task that creates an object, with the object that `ifExists` reuses.
  ///
  /// - Returns: nil if an object is to be made. One to be replaced stays until the task ends.
  /// - Throws: `idExists`.
  mutating func reused<E: Entity>(_ id: ID<E>?, _ ifExists: SessionProtocol.IfExists) throws -> Plan<JSONOpaque>? {
    guard ifExists != .error, let id, let existing = self[keyPath: E.registry][id] else {
      try checkFree(id)
      return nil
    }
    return ifExists == .replace ? nil : TaskPlan { _ in { Wire.object(existing, $0) } }
  }
}
