// Maps and scenes of a document with their layers and rasters, whose data may have changed or disappeared since it was saved.

import GeoModel
import GeoProtocol
import Geometry
import Handlers
import JSON
import JSONRPC
import Reading
import WireCoding

extension DocumentReader {
  /// The lists of layers of a map or a scene, which are read separately.
  private static let layerLists: [(name: String, role: LayerProtocol.LayerRole?)] = [
    ("operationalLayers", .operational), ("baseLayers", .base), ("referenceLayers", .reference), ("tables", nil),
  ]

  mutating func readMap(_ item: DocumentItem) throws {
    let id = try restore(item, "map", without: Set(Self.layerLists.map(\.name))) { world, json in
      let saved = try DocumentProtocol.SavedMap(from: json)
      _ = try MapService.create(
        .init(id: saved.map, spatialReference: saved.spatialReference, title: saved.title), in: &world)
      try world.updateContent(
        of: .map(ID(saved.map)), try Self.settings(try MapProtocol.Update.Params(from: json).members))
      return MapID(saved.map)
    }
    guard let id else { return }
    objects[ObjectReference(.maps, id.rawValue)] = item.json
    try readLayers(of: .map(id), item)
  }

  private mutating func readLayers(of content: ViewContent, _ item: DocumentItem) throws {
    for (name, role) in Self.layerLists {
      // The layers of a group follow it, so there are several lists.
      var counts: [Text: Int] = [:]
      for layer in try items(name, of: item) {
        let group = Text((try? layer.json["group"].string()) ?? "")
        let index = counts[group, default: 0]
        counts[group] = index + 1
        if layer.json["entitySource"].isPresent {
          entityLayers.append(EntityLayer(item: layer, role: role, container: content, index: index))
        } else {
          try readLayer(layer, role, of: content)
        }
      }
    }
  }

  /// - Parameter index: of a layer whose list has others already; nil for the end.
  mutating func readLayer(
    _ item: DocumentItem, _ role: LayerProtocol.LayerRole?, of container: ViewContent, at index: Int? = nil
  ) throws {
    let (savedLayers, folder, files) = (savedLayers, folder, worker.files)
    // A layer with another source layer would have other data, so these members are required.
    let id = try restore(item, "layer", keeping: ["kind", "source", "sourceLayer", "entitySource", "path"]) { world, json in
      let saved = try DocumentProtocol.SavedLayer(from: json)
      let known = saved.source.flatMap { savedLayers[ID($0)] } ?? []
      if saved.kind == .raster {
        guard let path = saved.path else { throw json["path"].typeError(expected: "string") }
        guard role != nil else { throw json["kind"].error(expected: "a kind of this list") }
        let absolute: String
        do { absolute = try folder.absolute(path, files) } catch { throw Self.placed(error, at: "\(item.path)/path") }
        try world.addRasterLayer(
          id: ID(saved.layer), to: container, LayerRaster(FileOrigin(opening: absolute), table: saved.sourceLayer),
          name: saved.name, at: Wire.position(role, saved.group, nil))
        try world.restoreLayer(ID(saved.layer), try Self.settings(try LayerProtocol.Update.Params(from: json).members))
        return saved.layer
      }
      let failure = try Self.add(saved, json, role, to: container, known, at: index, in: &world)
      try world.restoreLayer(ID(saved.layer), try Self.settings(try LayerProtocol.Update.Params(from: json).members))
      Self.markFailed(saved, failure, in: &world)
      return saved.layer
    }
    if let id { objects[ObjectReference(.layers, id)] = item.json }
  }

  /// Adds a layer that its source may not contain any more.
  ///
  /// - Returns: the reason why it cannot be loaded; nil if none is known.
  private static func add(
    _ saved: DocumentProtocol.SavedLayer, _ json: JSONValue, _ role: LayerProtocol.LayerRole?,
    to container: ViewContent, _ known: [SourceLayer], at index: Int?, in world: inout World
  ) throws -> Failure? {
    var position = Wire.position(role, saved.group, nil)
    if saved.kind == .group {
      _ = try world.addGroupLayer(
        id: ID(saved.layer), to: container, name: saved.name ?? saved.layer, visibilityMode: .independent, at: position)
      return nil
    }
    if let source = saved.entitySource {
      // Layers before it may be missing.
      position.index = try index.map { min($0, try world.layerCount(at: position, in: container)) }
      _ = try world.addLayer(
        id: ID(saved.layer), to: container, over: EntitySourceID(source), name: saved.name, at: position)
      return nil
    }
    guard let source = saved.source else { throw json["source"].typeError(expected: "string") }
    // The list determines what is a table; a contradicting `kind` is refused.
    guard (saved.kind == .table) == (role == nil) else { throw json["kind"].error(expected: "a kind of this list") }
    func add(missing: SourceLayer? = nil) throws(ModelError) {
      _ = try world.addLayer(
        id: ID(saved.layer), to: container, over: ID(source), sourceLayer: saved.sourceLayer, name: saved.name,
        asTable: saved.kind == .table, at: position, missing: missing)
    }
    do throws(ModelError) { try add() } catch {
      guard let missing = missingSchema(error, saved.sourceLayer, of: known) else { throw error }
      try add(missing: missing)
      return RPCError(error).failure
    }
    return nil
  }

  /// Sets the load status of a layer to the error of its data, if there is one.
  ///
  /// - Parameter failure: the error from adding the layer.
  private static func markFailed(_ saved: DocumentProtocol.SavedLayer, _ failure: Failure?, in world: inout World) {
    guard let source = saved.source, let layer = world.layers[ID(saved.layer)] else { return }
    var failure = failure
    if case .failed(let missing)? = world.sources[ID(source)]?.status { failure = missing }
    if failure == nil, let fault = world.fault(of: layer) { failure = RPCError(fault, ofLayer: layer.id).failure }
    if let failure { world.failLoad(layer.id, failure) }
  }

  /// Saved schema of a layer missing from its source; nil if the document has none, or the error is another one.
  private static func missingSchema(_ error: ModelError, _ name: String?, of known: [SourceLayer]) -> SourceLayer? {
    switch error {
    case .unknownSourceLayer, .noGeometry: known.first { $0.name == Text(name) }
    default: nil
    }
  }

  // MARK: Scenes

  mutating func readScene(_ item: DocumentItem) throws {
    let (folder, worker) = (folder, worker)
    // Each raster is opened only once, even if the scene is made several times.
    var rasters: [Text: SurfaceSource.Raster] = [:]
    let id = try restore(item, "scene", without: Set(Self.layerLists.map(\.name))) { world, json in
      let saved = try DocumentProtocol.SavedScene(from: json)
      let scene = SceneID(saved.scene)
      try world.addScene(id: scene, title: saved.title, elevationSources: [])
      for (index, source) in saved.elevationSources.enumerated() {
        do {
          let path = try folder.absolute(source.path, worker.files)
          let raster = try rasters[Text(path)] ?? Self.raster(path, worker)
          rasters[Text(path)] = raster
          _ = try world.addElevationSource(raster, path: path, id: source.id, to: scene, at: nil)
        } catch { throw Self.placed(error, at: "\(item.path)/elevationSources/\(index)") }
      }
      try world.updateContent(of: .scene(scene), try Self.settings(try SceneProtocol.Update.Params(from: json).members))
      return scene
    }
    guard let id else { return }
    objects[ObjectReference(.scenes, id.rawValue)] = item.json
    try readLayers(of: .scene(id), item)
  }

  private static func raster(_ path: String, _ worker: Worker) throws -> SurfaceSource.Raster {
    do { return .loaded(try SceneService.elevationSource(path, worker)) } catch let error as ReadError {
      return .failed(try failure(RPCError(error)))
    }
  }
}
