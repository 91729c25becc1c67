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
      try world.updateContent(
        of: .map(ID(saved.map)), try Self.settings(try MapProtocol.Update.Params(from: json).members))
    }
    try readLayers(
      of: .map(ID(saved.map)), json, saved.operationalLayers, saved.baseLayers, saved.referenceLayers, saved.tables)
  }

  private mutating func readLayers(
    of content: ViewContent, _ json: JSONValue, _ lists: [DocumentProtocol.SavedLayer]...
  ) throws {
    let names: [(StaticString, LayerProtocol.LayerRole?)] = [
      ("operationalLayers", .operational), ("baseLayers", .base), ("referenceLayers", .reference), ("tables", nil),
    ]
    for ((name, role), layers) in zip(names, lists) {
      for (index, layer) in layers.enumerated() { try read(layer, role, of: content, json[name][index]) }
    }
  }

  private mutating func read(
    _ saved: DocumentProtocol.SavedLayer, _ role: LayerProtocol.LayerRole?, of container: ViewContent, _ json: JSONValue
  ) throws {
    let known = saved.source.flatMap { savedLayers[ID($0)] } ?? []
    var failure: Failure?
    try make(json, "layer") { world in
      let position = Wire.position(role, saved.group, nil)
      if saved.kind == .group {
        _ = try world.addGroupLayer(
          id: ID(saved.layer), to: container, name: saved.name ?? saved.layer, visibilityMode: .independent,
          at: position)
      } else {
        guard let source = saved.source else { throw json["source"].typeError(expected: "string") }
        // The list says what is a table; what else says so is refused.
        guard (saved.kind == .table) == (role == nil) else { throw json["kind"].error(expected: "a kind of this list") }
        func add(missing: SourceLayer? = nil) throws(ModelError) {
          _ = try world.addLayer(
            id: ID(saved.layer), to: container, over: ID(source), sourceLayer: saved.sourceLayer, name: saved.name,
            asTable: saved.kind == .table, at: position, missing: missing)
        }
        do throws(ModelError) { try add() } catch {
          guard let missing = Self.missingSchema(error, saved.sourceLayer, of: known) else { throw error }
          try add(missing: missing)
          failure = RPCError(error).failure
        }
      }
      try world.restoreLayer(ID(saved.layer), try Self.settings(try LayerProtocol.Update.Params(from: json).members))
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
      try world.updateContent(of: .scene(scene), try Self.settings(try SceneProtocol.Update.Params(from: json).members))
    }
    try readLayers(
      of: .scene(scene), json, saved.operationalLayers, saved.baseLayers, saved.referenceLayers, saved.tables)
  }

  /// The members that are set. A document has no `clear`; an unknown member may have the name.
  static func settings(_ members: [(name: String, value: MemberPayload?)]) throws -> [MemberChange] {
    try Wire.changes(members.filter { $0.value != nil })
  }

  private func raster(_ path: String) throws -> (path: String, SurfaceSource.Raster) {
    do { return (path, .loaded(try SceneService.elevationSource(path, worker))) } catch let error as ReadError {
      return (path, .failed(try Self.failure(RPCError(error))))
    }
  }
}
