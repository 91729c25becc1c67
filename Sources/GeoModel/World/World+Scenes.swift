// Scenes: created by a task that opened the rasters, closed by a command.

extension World {
  @discardableResult
  public mutating func addScene(
    id: SceneID?, title: String?, elevationSources: [any ElevationSource]
  ) throws(ModelError) -> Scene {
    let id = try claim(id, prefix: "scene")
    scenes.insert(Scene(id: id, title: title, elevationSources: elevationSources))
    record(.created(ObjectReference(.scenes, id.rawValue)))
    touch(id)
    return try scenes.require(id)
  }

  /// Closes a scene and the views that show it.
  public mutating func closeScene(_ id: SceneID) throws(ModelError) {
    _ = try scenes.require(id)
    for view in views.values where view.content == .scene(id) { try closeView(view.id) }
    scenes.remove(id)
    record(.closed(ObjectReference(.scenes, id.rawValue)))
  }
}
