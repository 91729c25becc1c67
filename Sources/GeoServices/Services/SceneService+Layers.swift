// The layers and bookmarks of scenes on the wire: what maps have too.

import GeoModel
import GeoProtocol

extension SceneService {
  // MARK: Layers

  static func addLayer(
    _ params: SceneProtocol.AddLayer.Params, in world: inout World
  ) throws -> SceneProtocol.AddLayer.Result {
    let scene = ViewContent.scene(ID(params.scene))
    if let layer = existing(params.id, params.ifExists, in: scene, world) {
      return .init(layer: layer, revision: world.revision)
    }
    let layer = try world.addLayer(
      id: params.id.map { ID($0) }, to: scene, over: ID(params.source), sourceLayer: params.sourceLayer,
      name: params.name, at: Wire.place(params.role, params.group, params.index))
    return .init(layer: layer.id.rawValue, revision: world.revision)
  }

  static func addGroupLayer(
    _ params: SceneProtocol.AddGroupLayer.Params, in world: inout World
  ) throws -> SceneProtocol.AddGroupLayer.Result {
    let scene = ViewContent.scene(ID(params.scene))
    if let layer = existing(params.id, params.ifExists, in: scene, world) {
      return .init(layer: layer, revision: world.revision)
    }
    let layer = try world.addGroupLayer(
      id: params.id.map { ID($0) }, to: scene, name: params.name,
      visibilityMode: Wire.visibilityMode(params.visibilityMode),
      at: Wire.place(params.role, params.group, params.index))
    return .init(layer: layer.id.rawValue, revision: world.revision)
  }

  static func addTable(
    _ params: SceneProtocol.AddTable.Params, in world: inout World
  ) throws -> SceneProtocol.AddTable.Result {
    let scene = ViewContent.scene(ID(params.scene))
    if let layer = existing(params.id, params.ifExists, in: scene, world) {
      return .init(layer: layer, revision: world.revision)
    }
    let layer = try world.addLayer(
      id: params.id.map { ID($0) }, to: scene, over: ID(params.source), sourceLayer: params.sourceLayer,
      name: params.name, asTable: true, at: LayerPosition(index: params.index))
    return .init(layer: layer.id.rawValue, revision: world.revision)
  }

  static func removeLayer(
    _ params: SceneProtocol.RemoveLayer.Params, in world: inout World
  ) throws -> SceneProtocol.RemoveLayer.Result {
    try world.removeLayer(ID(params.layer), from: .scene(ID(params.scene)))
    return .init(revision: world.revision)
  }

  static func moveLayer(
    _ params: SceneProtocol.MoveLayer.Params, in world: inout World
  ) throws -> SceneProtocol.MoveLayer.Result {
    try world.moveLayer(
      ID(params.layer), in: .scene(ID(params.scene)), to: Wire.place(params.role, params.group, params.index))
    return .init(revision: world.revision, layers: world.siblings(of: ID(params.layer)).map(\.rawValue))
  }

  // MARK: Bookmarks

  static func addBookmark(
    _ params: SceneProtocol.AddBookmark.Params, in world: inout World
  ) throws -> SceneProtocol.AddBookmark.Result {
    let id = try world.addBookmark(
      NewBookmark(id: params.id, name: params.name, viewpoint: try Wire.target(params.viewpoint)),
      to: .scene(ID(params.scene)), at: params.index)
    return .init(bookmark: id, revision: world.revision)
  }

  static func removeBookmark(
    _ params: SceneProtocol.RemoveBookmark.Params, in world: inout World
  ) throws -> SceneProtocol.RemoveBookmark.Result {
    try world.removeBookmark(params.bookmark, from: .scene(ID(params.scene)))
    return .init(revision: world.revision)
  }

  static func moveBookmark(
    _ params: SceneProtocol.MoveBookmark.Params, in world: inout World
  ) throws -> SceneProtocol.MoveBookmark.Result {
    let scene = ViewContent.scene(ID(params.scene))
    try world.moveBookmark(params.bookmark, in: scene, to: params.index)
    return .init(revision: world.revision, bookmarks: try world.content(of: scene).bookmarks.map(\.id.string))
  }
}
