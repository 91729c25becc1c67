// Handlers of `layer/*` that add, move and remove layers in the lists of maps, scenes and groups.

import GeoModel
import GeoProtocol
import Geometry
import WireCoding

extension LayerService {
  package static func add(_ params: Add.Params, in world: inout World) throws -> Answer<Add.Result> {
    let content = try Wire.content(params.map, params.scene)
    let position = Wire.position(params.role, params.group, params.index)
    let id = params.id.map { LayerID($0) }
    let layer: Layer
    switch (params.source, params.entitySource) {
    case (let source?, nil):
      layer =
        try reused(params.id, params.ifExists, .feature, in: content, source, params.sourceLayer, &world)
        ?? world.addLayer(
          id: id, to: content, over: ID(source), sourceLayer: params.sourceLayer, name: params.name, at: position)
    case (nil, let source?):
      layer =
        try reused(params.id, params.ifExists, .feature, in: content, source, nil, &world)
        ?? world.addLayer(id: id, to: content, over: EntitySourceID(source), name: params.name, at: position)
    default: throw ModelError.oneOf(["source", "entitySource"])
    }
    return { .init(layer: layer.id.rawValue, revision: $0.revision) }
  }

  package static func addGroup(_ params: AddGroup.Params, in world: inout World) throws -> Answer<AddGroup.Result> {
    let content = try Wire.content(params.map, params.scene)
    let layer =
      try reused(params.id, params.ifExists, .group, in: content, nil, nil, &world)
      ?? world.addGroupLayer(
        id: params.id.map { ID($0) }, to: content, name: params.name,
        visibilityMode: .init(params.visibilityMode),
        at: Wire.position(params.role, params.group, params.index))
    return { .init(layer: layer.id.rawValue, revision: $0.revision) }
  }

  package static func addTable(_ params: AddTable.Params, in world: inout World) throws -> Answer<AddTable.Result> {
    let content = try Wire.content(params.map, params.scene)
    let layer =
      try reused(params.id, params.ifExists, .table, in: content, params.source, params.sourceLayer, &world)
      ?? world.addLayer(
        id: params.id.map { ID($0) }, to: content, over: ID(params.source), sourceLayer: params.sourceLayer,
        name: params.name, asTable: true, at: LayerPosition(index: params.index))
    return { .init(layer: layer.id.rawValue, revision: $0.revision) }
  }

  package static func remove(_ params: Remove.Params, in world: inout World) throws {
    try world.removeLayer(ID(params.layer))
  }

  package static func move(_ params: Move.Params, in world: inout World) throws -> Answer<Move.Result> {
    try world.moveLayer(ID(params.layer), to: Wire.position(params.role, params.group, params.index))
    return { .init(revision: $0.revision, layers: $0.siblings(of: ID(params.layer)).map(\.rawValue)) }
  }

  /// The layer that `ifExists: "reuse"` finds.
  private static func reused(
    _ id: String?, _ ifExists: SessionProtocol.IfExists, _ kind: Layer.Kind, in content: ViewContent,
    _ source: String?, _ sourceLayer: String?, _ world: inout World
  ) throws -> Layer? {
    let container = content.reference.collection.noun
    return try world.existing(id, ifExists, Layer.self) { layer, _ in
      [
        // Layers of another kind are made by another method, not with other params.
        "id": layer.kind == kind, container: layer.container == content,
        "source": layer.features?.source.rawValue == source,
        "sourceLayer": sourceLayer == nil || Text(sourceLayer) == layer.features?.schema.name,
      ]
    }
  }
}
