// Handlers of `bookmark/*`, for maps and scenes.

import GeoModel
import GeoProtocol
import WireCoding

package enum BookmarkService: BookmarkHandlers {
  package static func add(_ params: Add.Params, in world: inout World) throws -> Answer<Add.Result> {
    let id = try world.addBookmark(
      NewBookmark(id: params.id, name: params.name, viewpoint: try Wire.target(params.viewpoint)),
      to: try Wire.content(params.map, params.scene), at: params.index)
    return { .init(bookmark: id, revision: $0.revision) }
  }

  package static func remove(_ params: Remove.Params, in world: inout World) throws {
    try world.removeBookmark(params.bookmark, from: try Wire.content(params.map, params.scene))
  }

  package static func move(_ params: Move.Params, in world: inout World) throws -> Answer<Move.Result> {
    let content = try Wire.content(params.map, params.scene)
    try world.moveBookmark(params.bookmark, in: content, to: params.index)
    return { .init(revision: $0.revision, bookmarks: try $0.content(of: content).bookmarks.map(\.id.string)) }
  }
}
