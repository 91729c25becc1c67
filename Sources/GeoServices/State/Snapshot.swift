// What stands at the paths of a subscription now: in one piece, or in parts when it is long.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Query

/// The values at some patterns as of one revision.
struct Snapshot {
  let revision: Int
  private let places: [(path: [String], node: StateNode)]

  init(_ patterns: [StatePattern], in world: World) {
    revision = world.revision
    var seen: Set<Text> = []
    places = patterns.flatMap { StateTree.places(of: $0, in: world) }.filter {
      seen.insert(Text(pointer($0.path))).inserted
    }
  }

  /// The whole, or nil when it is too long for one piece.
  func inOnePiece() -> [StateProtocol.StateValue]? {
    guard places.count <= graphicsInOnePiece * 4,
      places.reduce(0, { $0 + $1.node.graphicCount }) <= graphicsInOnePiece * 4
    else { return nil }
    var values: [StateProtocol.StateValue] = []
    var bytes = 0
    for (path, node) in places {
      var writer = JSONWriter(capacity: 256)
      node.write(to: &writer)
      bytes += writer.count
      if bytes > SendLimits.partBytes { return nil }
      let text = writer.string
      values.append(.init(path: pointer(path), value: .written { $0.raw(text) }))
    }
    return values
  }

  /// The whole in parts.
  func telling(_ subscription: String) -> any Delivery {
    SnapshotDelivery(subscription, revision: revision, places.flatMap { StatePiece.pieces($0.path, $0.node) })
  }

  /// Sends `state/resynced`; false when parts have to follow.
  func resync(_ subscription: String, to session: Session) -> Bool {
    let whole = inOnePiece()
    session.notify("state/resynced") { writer in
      writer.key("subscription")
      writer.value(subscription)
      writer.key("revision")
      writer.value(revision)
      if let whole {
        writer.key("snapshot")
        writer.array(whole) { $0.encode(to: &$1) }
      }
    }
    return whole != nil
  }
}
