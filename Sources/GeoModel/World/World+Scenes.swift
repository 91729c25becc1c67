// Scenes: created by a task that opened the rasters, closed by a command.

extension World {
  @discardableResult
  public mutating func addScene(
    id: SceneID?, title: String?, elevationSources: [any ElevationSource]
  ) throws(ModelError) -> Scene {
    let id = try claim(id, prefix: "scene")
    insert(Scene(id: id, title: title, elevationSources: elevationSources))
    return try scenes.require(id)
  }

  /// Closes a scene and the views that show it.
  public mutating func closeScene(_ id: SceneID) throws(ModelError) {
    closeViews(showing: try scenes.require(id).reference)
    remove(id)
  }
}
