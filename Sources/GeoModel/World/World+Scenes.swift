// Scenes and their surfaces. Tasks open the rasters of elevation sources.

import Geometry

extension World {
  @discardableResult
  public mutating func addScene(
    id: SceneID?, title: String?, elevationSources: [any ElevationSource]
  ) throws(ModelError) -> Scene {
    let id = try claim(id, prefix: "scene")
    var scene = Scene(id: id, content: MapContent(title: title))
    scene.surface.elevationSources = elevationSources.map {
      SurfaceSource(id: mint("elevation"), path: Text($0.path), raster: .loaded($0))
    }
    return insert(scene)
  }

  /// Throws if an elevation source cannot have this id and index. Called before its raster is opened.
  public mutating func checkElevationSource(_ wanted: String?, in id: SceneID, at index: Int?) throws(ModelError) {
    let sources = try scenes.require(id).surface.elevationSources
    if let wanted { try checkFree(SourceID(wanted)) }
    if let index, index > sources.count { throw .indexOutOfRange(count: sources.count) }
  }

  /// - Parameter index: index in the order of sampling; last when nil.
  /// - Returns: the id of the source.
  public mutating func addElevationSource(
    _ raster: SurfaceSource.Raster, path: String, id wanted: String?, to id: SceneID, at index: Int?
  ) throws(ModelError) -> String {
    try checkElevationSource(wanted, in: id, at: index)
    let name = try claim(wanted.map { SourceID($0) }, prefix: "elevation").rawValue
    try change(id) { (scene) throws(ModelError) in
      scene.surface.elevationSources.insert(
        SurfaceSource(id: name, path: Text(path), raster: raster), at: index ?? scene.surface.elevationSources.count)
    }
    return name
  }

  /// Records the outcome of reopening the raster of a source. This is not a step of history, since undo leaves load states alone.
  public mutating func setRaster(
    _ raster: SurfaceSource.Raster, of source: String, in id: SceneID
  ) throws(ModelError) {
    let index = try elevationIndex(of: source, in: id)
    isStep = false
    try change(id) { (scene) throws(ModelError) in
      scene.surface.elevationSources[index].raster = raster
    }
  }

  /// Finds an elevation source of a scene by its id.
  public func elevationSource(_ source: String, in id: SceneID) throws(ModelError) -> SurfaceSource {
    let index = try elevationIndex(of: source, in: id)
    return try scenes.require(id).surface.elevationSources[index]
  }

  public mutating func removeElevationSource(_ source: String, from id: SceneID) throws(ModelError) {
    let index = try elevationIndex(of: source, in: id)
    try change(id) { (scene) throws(ModelError) in scene.surface.elevationSources.remove(at: index) }
  }

  public mutating func moveElevationSource(_ source: String, in id: SceneID, to index: Int) throws(ModelError) {
    let current = try elevationIndex(of: source, in: id)
    try change(id) { (scene) throws(ModelError) in
      let count = scene.surface.elevationSources.count
      guard index < count else { throw .indexOutOfRange(count: count) }
      scene.surface.elevationSources.insert(scene.surface.elevationSources.remove(at: current), at: index)
    }
  }

  private func elevationIndex(of source: String, in id: SceneID) throws(ModelError) -> Int {
    guard let index = try scenes.require(id).surface.elevationSources.firstIndex(where: { $0.id == source }) else {
      throw .unknownItem(noun: "elevationSource", id: source)
    }
    return index
  }
}
