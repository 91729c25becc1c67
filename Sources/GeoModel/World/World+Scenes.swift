// Scenes and their surfaces: rasters come from tasks that opened them.

extension World {
  @discardableResult
  public mutating func addScene(
    id: SceneID?, title: String?, elevationSources: [any ElevationSource]
  ) throws(ModelError) -> Scene {
    let id = try claim(id, prefix: "scene")
    var scene = Scene(id: id, content: MapContent(title: title))
    scene.surface.elevationSources = elevationSources.map {
      SurfaceSource(id: mint("elevation"), path: $0.path, .loaded($0))
    }
    insert(scene)
    return try scenes.require(id)
  }

  /// Closes a scene, its layers and the views that show it.
  public mutating func closeScene(_ id: SceneID) throws(ModelError) {
    _ = try scenes.require(id)
    clear(.scene(id))
    remove(id)
  }

  /// Whether a source of that id and place can be added; to be asked before its raster is opened.
  public func checkElevationSource(_ wanted: String?, in id: SceneID, at index: Int?) throws(ModelError) {
    let sources = try scenes.require(id).surface.elevationSources
    if let wanted { try checkFree(SourceID(wanted)) }
    if let index, index > sources.count { throw .indexOutOfRange(count: sources.count) }
  }

  /// - Parameter index: the place in the order of asking; last when nil.
  /// - Returns: the source's id.
  public mutating func addElevationSource(
    _ raster: SurfaceSource.Raster, path: String, id wanted: String?, to id: SceneID, at index: Int?
  ) throws(ModelError) -> String {
    try checkElevationSource(wanted, in: id, at: index)
    let name = try claim(wanted.map { SourceID($0) }, prefix: "elevation").rawValue
    try change(id) { (scene) throws(ModelError) in
      scene.surface.elevationSources.insert(
        SurfaceSource(id: name, path: path, raster), at: index ?? scene.surface.elevationSources.count)
    }
    return name
  }

  /// Notes how opening the raster of a source once more has ended. No step of history: undo leaves load states alone.
  public mutating func setRaster(
    _ raster: SurfaceSource.Raster, of source: String, in id: SceneID
  ) throws(ModelError) {
    let place = try place(of: source, in: id)
    isStep = false
    try change(id) { (scene) throws(ModelError) in
      scene.surface.elevationSources[place].raster = raster
    }
  }

  /// The elevation source of that id in a scene.
  public func elevationSource(_ source: String, in id: SceneID) throws(ModelError) -> SurfaceSource {
    let place = try place(of: source, in: id)
    return try scenes.require(id).surface.elevationSources[place]
  }

  public mutating func removeElevationSource(_ source: String, from id: SceneID) throws(ModelError) {
    let place = try place(of: source, in: id)
    try change(id) { (scene) throws(ModelError) in scene.surface.elevationSources.remove(at: place) }
  }

  public mutating func moveElevationSource(_ source: String, in id: SceneID, to index: Int) throws(ModelError) {
    let place = try place(of: source, in: id)
    try change(id) { (scene) throws(ModelError) in
      let count = scene.surface.elevationSources.count
      guard index < count else { throw .indexOutOfRange(count: count) }
      scene.surface.elevationSources.insert(scene.surface.elevationSources.remove(at: place), at: index)
    }
  }

  private func place(of source: String, in id: SceneID) throws(ModelError) -> Int {
    guard let place = try scenes.require(id).surface.elevationSources.firstIndex(where: { $0.id == source }) else {
      throw .unknownItem(noun: "elevationSource", id: source)
    }
    return place
  }
}
