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

  package static func addRaster(_ params: AddRaster.Params, in world: inout World) throws -> Plan<AddRaster.Result> {
    let content = try Wire.content(params.map, params.scene)
    _ = try world.content(of: content)
    let id = params.id.map { LayerID($0) }
    try world.checkFree(params.ifExists == .reuse && id.map { world.layers[$0] != nil } == true ? nil : id, params.ifExists)
    let renderer = try params.rasterRenderer.map { given in
      try Wire.within("rasterRenderer") { () throws(SymbologyError) in try Wire.rasterRenderer(given) }
    }
    let document = world.document.number
    // Only on a worker is it known which folder a path begins in.
    return TaskPlan(.edit) { worker in
      let origin = FileOrigin(opening: try worker.files.path(params.path))
      return { world in
        // After another document was opened a map with the same id is another object.
        guard world.document.number == document else {
          throw ModelError.unknownID(content.reference.collection, content.reference.id)
        }
        let container = content.reference.collection.noun
        let existing = try world.existing(params.id, params.ifExists, Layer.self) { layer, _ in
          [
            "id": layer.kind == .raster, container: layer.container == content,
            "path": layer.raster.map { Text($0.origin.path) == Text(origin.path) } ?? false,
            "sourceLayer": layer.raster?.table == Text(params.sourceLayer),
          ]
        }
        let raster = LayerRaster(origin, table: params.sourceLayer, renderer: renderer)
        let layer =
          try existing
          ?? world.addRasterLayer(
            id: id, to: content, raster, name: params.name, at: Wire.position(params.role, params.group, params.index))
        return .init(layer: layer.id.rawValue, revision: world.revision)
      }
    }
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
