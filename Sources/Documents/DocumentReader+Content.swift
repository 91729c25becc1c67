// Maps and scenes of a document with their layers and rasters, whose data may be other or gone by now.

import GeoModel
import GeoProtocol
import Geometry
import Handlers
import JSON
import JSONRPC
import Reading
import WireCoding

extension DocumentReader {
  mutating func read(_ saved: DocumentProtocol.SavedMap, _ json: JSONValue) throws {
    try make(json, "map") { world in
      _ = try MapService.create(
        .init(id: saved.map, title: saved.title, spatialReference: saved.spatialReference), in: &world)
      var rest = try MapProtocol.Update.Params(from: json)
      rest.clear = nil
      _ = try MapService.update(rest, in: &world)
    }
    let lists: [(StaticString, LayerProtocol.LayerRole?, [DocumentProtocol.SavedLayer])] = [
      ("operationalLayers", .operational, saved.operationalLayers), ("baseLayers", .base, saved.baseLayers),
      ("referenceLayers", .reference, saved.referenceLayers), ("tables", nil, saved.tables),
    ]
    for (name, role, layers) in lists {
      for (index, layer) in layers.enumerated() { try read(layer, role, of: .map(ID(saved.map)), json[name][index]) }
    }
  }

  private mutating func read(
    _ saved: DocumentProtocol.SavedLayer, _ role: LayerProtocol.LayerRole?, of container: ViewContent, _ json: JSONValue
  ) throws {
    let known = saved.source.flatMap { savedLayers[ID($0)] } ?? []
    var failure: Failure?
    try make(json, "layer") { world in
      let place = Wire.place(role, saved.group, nil)
      if saved.kind == .group {
        _ = try world.addGroupLayer(
          id: ID(saved.layer), to: container, name: saved.name ?? saved.layer, visibilityMode: .independent, at: place)
      } else {
        guard let source = saved.source else { throw json["source"].typeError(expected: "string") }
        // The list says what is a table; what else says so is refused.
        guard (saved.kind == .table) == (role == nil) else { throw json["kind"].error(expected: "a kind of this list") }
        func add(missing: SourceLayer? = nil) throws(ModelError) {
          _ = try world.addLayer(
            id: ID(saved.layer), to: container, over: ID(source), sourceLayer: saved.sourceLayer, name: saved.name,
            asTable: saved.kind == .table, at: place, missing: missing)
        }
        do throws(ModelError) { try add() } catch {
          guard let missing = Self.missingSchema(error, saved.sourceLayer, of: known) else { throw error }
          try add(missing: missing)
          failure = RPCError(error).failure
        }
      }
      var rest = try LayerProtocol.Update.Params(from: json)
      rest.clear = nil
      try world.restoreLayer(ID(saved.layer), try Wire.changes(rest.members))
      guard let source = saved.source, let layer = world.layers[ID(saved.layer)] else { return }
      if case .failed(let missing)? = world.sources[ID(source)]?.status { failure = missing }
      if failure == nil, let fault = world.fault(of: layer) { failure = RPCError(fault, ofLayer: layer.id).failure }
      if let failure { world.failLoad(layer.id, failure) }
    }
  }

  /// What a layer was that its source no longer has, by the document; nil where the document does not say, or the error is another.
  private static func missingSchema(_ error: ModelError, _ name: String?, of known: [SourceLayer]) -> SourceLayer? {
    switch error {
    case .unknownSourceLayer, .noGeometry: known.first { $0.name == Text(name) }
    default: nil
    }
  }

  mutating func read(_ saved: DocumentProtocol.SavedScene, _ json: JSONValue) throws {
    let sources = json["elevationSources"]
    let rasters = try saved.elevationSources.enumerated().map { index, source in
      try at(sources[index], "elevationSource") { try raster(try folder.absolute(source.path, worker.files)) }
    }
    let scene = SceneID(saved.scene)
    try make(json, "scene") { world in
      try world.addScene(id: scene, title: saved.title, elevationSources: [])
      for (source, (path, raster)) in zip(saved.elevationSources, rasters) {
        _ = try world.addElevationSource(raster, path: path, id: source.id, to: scene, at: nil)
      }
      var rest = try SceneProtocol.Update.Params(from: json)
      rest.clear = nil
      _ = try SceneService.update(rest, in: &world)
    }
    let lists: [(StaticString, LayerProtocol.LayerRole?, [DocumentProtocol.SavedLayer])] = [
      ("operationalLayers", .operational, saved.operationalLayers), ("baseLayers", .base, saved.baseLayers),
      ("referenceLayers", .reference, saved.referenceLayers), ("tables", nil, saved.tables),
    ]
    for (name, role, layers) in lists {
      for (index, layer) in layers.enumerated() { try read(layer, role, of: .scene(scene), json[name][index]) }
    }
  }

  private func raster(_ path: String) throws -> (path: String, SurfaceSource.Raster) {
    do { return (path, .loaded(try SceneService.elevationSource(path, worker))) } catch let error as ReadError {
      return (path, .failed(try Self.failure(RPCError(error))))
    }
  }
}
