// What stands at a path of the state tree, as a value of the model.

import GeoModel

package enum PathReading {
  /// Refuses a path that can lead nowhere, whatever happens to the object that it leads to.
  package static func check(_ path: ModelPath, in world: World) throws {
    guard path.names.count > 1, StateTree.node(at: path.prefix(1), in: world) != nil else {
      throw ModelError.flow(.invalidPath(path.description))
    }
    guard let object = path.object else { return }
    guard world.revision(of: object) != nil else { throw ModelError.unknownID(object.collection, object.id) }
    guard path.names.count < 3 || StateTree.node(at: path.prefix(3), in: world) != nil else {
      throw ModelError.flow(.invalidPath(path.description))
    }
  }

  /// The value at a path; nil when nothing stands there, or more graphics of an overlay than a value should hold.
  package static func value(at path: ModelPath, in world: World) -> Value? {
    // The quick way: most paths of links and derived properties lead into view models.
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
