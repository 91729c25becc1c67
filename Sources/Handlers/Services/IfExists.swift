// `ifExists`: what methods that create an object do when its id is in use.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import WireCoding

extension World {
  /// Applies `ifExists` to the object of the kind that already has the id of a new one: `replace` closes it.
  ///
  /// - Parameter matches: by param, whether the object has what the param asks for: its owner, its type, and whatever else no
  ///   command changes. Values that commands change do not matter.
  /// - Returns: for `reuse`, the object to answer with instead of a new one.
  /// - Throws: for `reuse`, `idExists` with the path of the first param that asks for another object.
  package mutating func existing<E: Entity>(
    _ id: String?, _ ifExists: SessionProtocol.IfExists, _ kind: E.Type,
    _ matches: (E, World) throws -> KeyValuePairs<String, Bool>
  ) throws -> E? {
    guard let id, let existing = self[keyPath: E.registry][ID(id)] else { return nil }
    switch ifExists {
    case .error: return nil
    case .reuse:
      try checkReuse(of: existing, try matches(existing, self))
      return existing
    case .replace:
      try close(existing.id)
      return nil
    }
  }

  /// Throws `idExists` if an object cannot be reused.
  package func checkReuse<E: Entity>(of existing: E, _ matches: KeyValuePairs<String, Bool>) throws {
    guard let (param, _) = matches.first(where: { !$0.value }) else { return }
    let (noun, id) = (E.collection.noun, existing.id.rawValue)
    throw RPCError(
      .idExists, "The \(noun) \"\(id)\" exists with another `\(param)`.", path: "/params/\(param)",
      expected: "the `\(param)` of the existing \(noun), or `ifExists`: \"replace\""
    ).with("id", id).with("holder", noun)
  }

  /// Answers with the object that `make` makes, or that `ifExists` reuses.
  mutating func made<E: Entity>(
    _ id: String?, _ ifExists: SessionProtocol.IfExists, matches: (E, World) throws -> KeyValuePairs<String, Bool>,
    _ make: (inout World, ID<E>?) throws -> E
  ) throws -> (World) throws -> JSONOpaque {
    let made = try existing(id, ifExists, E.self, matches)?.id ?? make(&self, id.map { ID($0) }).id
    return { try Wire.object(made, in: $0) }
  }

  /// Throws `idExists` before a task that creates an object begins. An object to be replaced stays until the task ends.
  mutating func checkFree<E: Entity>(_ id: ID<E>?, _ ifExists: SessionProtocol.IfExists) throws {
    if ifExists == .replace, let id, self[keyPath: E.registry][id] != nil { return }
    try checkFree(id)
  }
}
