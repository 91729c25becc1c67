// Reads the value at a path of the state tree.

import GeoModel

package enum PathReading {
  /// Checks that the object and the member of a path exist, and the fields of structs. A value below the member may appear later.
  package static func check(_ path: ModelPath, in world: World) throws {
    guard path.names.count > 1, StateTree.node(at: path.prefix(1), in: world) != nil else {
      throw ModelError.flow(.invalidPath(path.description))
    }
    guard let object = path.object else { return }
    guard world.revision(of: object) != nil else { throw ModelError.unknownID(object.collection, object.id) }
    guard path.names.count < 3 || StateTree.node(at: path.prefix(3), in: world) != nil else {
      throw ModelError.flow(.invalidPath(path.description))
    }
    if object.collection == .viewModels, path.names.count > 3, let model = world.viewModels[ViewModelID(object.id)] {
      _ = try (try? model.property(path.names[2].string))?.part(at: path.names.dropFirst(3))
    }
  }

  /// The value at a path; nil when there is none, or when an overlay has more graphics than ``itemsInOnePiece``.
  package static func value(at path: ModelPath, in world: World) -> Value? {
    let path = path.names.count > 3 ? world.resolved(path) : path
    // Fast path: most paths of links and derived properties lead into view models.
    if let object = path.object, object.collection == .viewModels, path.names.count > 2 {
      return world.viewModels[ViewModelID(object.id)]?.value(of: path.names[2].string)?
        .part(at: path.names.dropFirst(3))
    }
    guard path.names.count > 1, let node = StateTree.node(at: path, in: world),
      path.object?.collection != .overlays || node.itemCount <= itemsInOnePiece
    else { return nil }
    return Value(json: node.text)
  }
}
