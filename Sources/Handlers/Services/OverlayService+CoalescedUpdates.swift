// Coalesces consecutive updates of graphics in a transaction: makes one edit, with the same results as separate updates.

import FeatureStore
import GeoModel
import GeoProtocol
import JSON

extension OverlayService {
  /// Runs several `overlay/updateGraphics` as one edit, at the cost of one call with all their graphics.
  ///
  /// - Parameter updates: the params of each update, all for the same overlay.
  /// - Returns: the result of each. Nil, with nothing changed, if they have to run separately: if one is invalid or has `meta`, a
  ///   graphic is updated twice, or there are links or derived properties that depend on objects.
  package static func updateGraphics(
    coalescing updates: [JSONValue], in world: inout World
  ) -> [UpdateGraphics.Result]? {
    guard !world.hasDependents() else { return nil }
    var calls: [[JSONOpaque]] = []
    calls.reserveCapacity(updates.count)
    for params in updates where !params["meta"].isPresent {
      if let graphics = try? UpdateGraphics.Params(from: params).graphics { calls.append(graphics) }
    }
    guard calls.count == updates.count, let id = (try? updates.first?["overlay"].string()).map({ OverlayID($0) }),
      var reader = try? reader(for: id, in: world)
    else { return nil }
    let edits = reader.readEdits(calls, of: world.overlays[id]?.store)
    let before = world.revision
    guard reader.failureCount == 0, let changed = try? world.updateGraphics(edits, of: id) else { return nil }
    var remaining = changed[...]
    var ids = edits.lazy.map(\.id)[...]
    return calls.map { graphics in
      let count = remaining.count
      for id in ids.prefix(graphics.count) where remaining.first == id { remaining.removeFirst() }
      ids = ids.dropFirst(graphics.count)
      return .init(revision: remaining.count < changed.count ? world.revision : before, count: count - remaining.count)
    }
  }
}
