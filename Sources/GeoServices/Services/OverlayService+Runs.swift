// Updates of graphics that stand in a row in a transaction: done as one edit, each answered as if it stood alone.

import GeoModel
import GeoProtocol
import JSON
import Query

extension OverlayService {
  /// Carries out a row of `overlay/updateGraphics`, at the cost of one with all their graphics.
  ///
  /// - Parameter row: the params of each, which name the same overlay.
  /// - Returns: what each of them answers; nil, and nothing is changed, where that cannot be told without doing them one by one:
  ///   one fails or names a revision, a graphic is changed twice, or somebody follows what changes.
  static func updateGraphics(
    inARow row: [JSONValue], in world: inout World
  ) -> [OverlayProtocol.UpdateGraphics.Result]? {
    guard !world.hasDependents() else { return nil }
    var calls: [[JSONOpaque]] = []
    calls.reserveCapacity(row.count)
    for params in row where !params["meta"].isPresent {
      if let graphics = try? OverlayProtocol.UpdateGraphics.Params(from: params).graphics { calls.append(graphics) }
    }
    guard calls.count == row.count, let id = (try? row.first?["overlay"].string()).map({ OverlayID($0) }),
      var reader = try? reader(for: id, in: world)
    else { return nil }
    let edits = reader.readEdits(calls, of: world.overlays[id]?.store)
    let before = world.revision
    guard reader.failureCount == 0, let changed = try? world.updateGraphics(edits, of: id) else { return nil }
    var rest = changed[...]
    var ids = edits.lazy.map(\.id)[...]
    return calls.map { graphics in
      let count = rest.count
      for id in ids.prefix(graphics.count) where rest.first == id { rest.removeFirst() }
      ids = ids.dropFirst(graphics.count)
      return .init(revision: rest.count < changed.count ? world.revision : before, count: count - rest.count)
    }
  }
}
