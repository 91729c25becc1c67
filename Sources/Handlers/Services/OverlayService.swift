// Handlers of `overlay/*`: overlays and their graphics.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import WireCoding

package enum OverlayService: OverlayHandlers {
  package static func create(_ params: Create.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.made(params.id, params.ifExists, matches: { (overlay: Overlay, world) in
      [
        "view": overlay.view == ID(params.view),
        "spatialReference": try world.canonical(params.spatialReference) == overlay.reference,
      ]
    }) { world, id in
      try world.createOverlay(
        id: id, on: ID(params.view), reference: SpatialReference(params.spatialReference),
        try Wire.changes(params.members))
    }
  }

  package static func list(_ params: List.Params, in world: World) throws -> List.Result {
    let views = try params.view.map { [try world.views.require(ID($0))] } ?? Array(world.views.values)
    return .init(
      revision: world.revision,
      overlays: views.flatMap(\.overlays).compactMap { world.overlays[$0] }.map { Wire.object($0, world) })
  }

  package static func update(_ params: Update.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.updateOverlay(ID(params.overlay), try Wire.changes(params.members))
    return { try Wire.object(OverlayID(params.overlay), in: $0) }
  }

  package static func move(_ params: Move.Params, in world: inout World) throws -> Answer<Move.Result> {
    try world.moveOverlay(ID(params.overlay), to: params.index)
    let view = try world.overlays.require(ID(params.overlay)).view
    return { .init(revision: $0.revision, overlays: try $0.views.require(view).overlays.map(\.rawValue)) }
  }

  // MARK: Graphics as objects

  package static func addGraphics(_ params: AddGraphics.Params, in world: inout World) throws -> Answer<
    AddGraphics.Result
  > {
    let id = OverlayID(params.overlay)
    let batch = try read(for: id, in: world) { $0.readBatch(params.graphics, beside: world.overlays[id]?.store) }
    let added = try world.addGraphics(batch, to: id)
    return { .init(revision: $0.revision, firstId: added.firstID, count: added.count) }
  }

  package static func updateGraphics(
    _ params: UpdateGraphics.Params, in world: inout World
  ) throws -> Answer<UpdateGraphics.Result> {
    let id = OverlayID(params.overlay)
    let edits = try read(for: id, in: world) { $0.readEdits([params.graphics], of: world.overlays[id]?.store) }
    let changed = try world.updateGraphics(edits, of: id)
    return { .init(revision: $0.revision, count: changed.count) }
  }

  package static func replaceGraphics(
    _ params: ReplaceGraphics.Params, in world: inout World
  ) throws -> Answer<ReplaceGraphics.Result> {
    let id = OverlayID(params.overlay)
    let batch = try read(for: id, in: world) { $0.readBatch(params.graphics, beside: nil) }
    let replaced = try world.replaceGraphics(batch, of: id)
    return {
      .init(
        revision: $0.revision, firstId: replaced.batch.firstID, count: replaced.batch.count,
        added: replaced.changes.added.count, updated: replaced.changes.updated.count,
        removed: replaced.changes.removed.count)
    }
  }

  static func reader(for id: OverlayID, in world: World) throws -> GraphicReader {
    let reference = try world.overlays.require(id).reference
    let transformer = world.transformer
    return GraphicReader { geometry, name in
      try transformer.transform(geometry, from: SpatialReference(name), to: reference)
    }
  }

  /// Reads graphics for an overlay.
  private static func read<R>(for id: OverlayID, in world: World, _ body: (inout GraphicReader) -> R) throws -> R {
    var reader = try reader(for: id, in: world)
    let result = body(&reader)
    try check(reader)
    return result
  }

  /// Throws one error for all invalid items, with the index of each.
  static func check(_ reader: GraphicReader) throws {
    guard reader.failureCount > 0 else { return }
    let items = reader.failures.map { index, error, item in
      ItemError(index: index, .failure((RPCError(error, in: item, at: "") ?? .internalError("\(error)")).failure))
    }
    throw ModelError.items(items, count: reader.failureCount)
  }

  // MARK: Graphics as columns

  package static func addColumns(_ params: AddColumns.Params, in world: inout World) throws -> Answer<AddColumns.Result>
  {
    let id = OverlayID(params.overlay)
    let reference = try world.overlays.require(id).reference
    let columns = OverlayProtocol.FeatureColumns(
      x: params.x, y: params.y, z: params.z, geometry: params.geometry, ids: params.ids, attributes: params.attributes)
    guard var geometry = try ColumnReader.geometry(columns) else {
      throw ModelError.oneOf(["geometry", "x"])
    }
    if let given = try world.canonical(params.spatialReference), given != reference {
      geometry = try geometry.transformed(by: world.transformer, from: given, to: reference)
    }
    let batch = try ColumnReader.batch(columns, geometry)
    let added = try world.addGraphics(batch, to: id)
    return { .init(revision: $0.revision, firstId: added.firstID, count: added.count) }
  }

  package static func updateColumns(
    _ params: UpdateColumns.Params, in world: inout World
  ) throws -> Answer<UpdateColumns.Result> {
    let id = OverlayID(params.overlay)
    _ = try world.overlays.require(id)
    let ids = try ColumnReader.ids(params.ids)
    for (name, column, other) in [("x", params.x, params.y ?? params.z), ("y", params.y, params.x ?? params.z)]
    where column == nil && other != nil {
      throw RPCError(
        .invalidParams, "x and y are required together, and z with both.", path: "/params/\(name)", expected: "a column"
      )
    }
    var columns: [(String, Column)] = []
    for (name, column) in try ColumnReader.named(params.attributes) {
      let values = try ColumnReader.attribute(column, named: name)
      try equal("attributes/\(jsonPointerEscaped(name))", ids.count, values.count)
      columns.append((name, values))
    }
    let position = try position(params, count: ids.count)
    if columns.isEmpty, let position {
      let count = try world.moveGraphics(ids, x: position.x, y: position.y, z: position.z, of: id)
      return { .init(revision: $0.revision, count: count) }
    }
    let edits = ids.indices.map { index in
      var edit = FeatureEdit(id: ids[index])
      if let position {
        edit.geometry = .set(.point(Point(x: position.x[index], y: position.y[index], z: position.z?[index])))
      }
      edit.attributes = columns.map { ($0.0, ColumnReader.value($0.1, at: index)) }
      return edit
    }
    let changed = try world.updateGraphics(edits, of: id)
    return { .init(revision: $0.revision, count: changed.count) }
  }

  private static func position(
    _ params: UpdateColumns.Params, count: Int
  ) throws -> (x: [Double], y: [Double], z: [Double]?)? {
    guard let x = try params.x.map({ try ColumnReader.numbers($0) }), let y = try params.y.map({ try ColumnReader.numbers($0) })
    else { return nil }
    let z = try params.z.map { try ColumnReader.numbers($0) }
    try equal("x", count, x.count)
    try equal("y", count, y.count)
    if let z { try equal("z", count, z.count) }
    return (x, y, z)
  }

  private static func equal(_ column: String, _ expected: Int, _ found: Int) throws {
    guard found == expected else { throw ModelError.columnLengths(expected: expected, found: found, column: column) }
  }

  package static func removeGraphics(
    _ params: RemoveGraphics.Params, in world: inout World
  ) throws -> Answer<RemoveGraphics.Result> {
    _ = try world.overlays.require(ID(params.overlay))
    guard (params.ids == nil) == params.all else { throw ModelError.oneOf(["ids", "all"]) }
    let count = try world.removeGraphics(try params.ids.map(ColumnReader.ids), from: ID(params.overlay))
    return { .init(revision: $0.revision, count: count) }
  }

  package static func select(_ params: Select.Params, in world: inout World) throws -> Answer<Select.Result> {
    let count = try world.selectGraphics(
      try ColumnReader.ids(params.ids), .init(params.mode), of: ID(params.overlay))
    return { .init(revision: $0.revision, selectedCount: count) }
  }
}
