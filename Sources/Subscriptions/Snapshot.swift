// The current values at a subscription's patterns: in one message, or in parts when they are long.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import StateTree

/// The values at some patterns as of one revision.
package struct Snapshot {
  package let revision: Int
  private let values: [(path: ModelPath, node: StateNode)]

  package init(_ patterns: [StatePattern], in world: World) {
    revision = world.revision
    var seen: Set<ModelPath> = []
    values = patterns.flatMap { StateTree.matches(of: $0, in: world) }.filter { seen.insert($0.path).inserted }
  }

  /// All values, or nil when they are too long for one message.
  package func encoded() -> [StateProtocol.StateValue]? {
    guard values.count <= graphicsInOnePiece * 4,
      values.reduce(0, { $0 + $1.node.graphicCount }) <= graphicsInOnePiece * 4
    else { return nil }
    var encoded: [StateProtocol.StateValue] = []
    var bytes = 0
    for (path, node) in values {
      var writer = JSONWriter(capacity: 256)
      node.write(to: &writer)
      bytes += writer.count
      if bytes > SendLimits.partBytes { return nil }
      let text = writer.string
      encoded.append(.init(path: path.description, value: .written { $0.raw(text) }))
    }
    return encoded
  }

  /// A delivery of all values in parts.
  package func delivery(_ subscription: String) -> any Delivery {
    SnapshotDelivery(subscription, revision: revision, values.flatMap { StatePiece.pieces($0.path, $0.node) })
  }

  /// Sends `state/resynced`.
  ///
  /// - Returns: false when the values have to follow in parts.
  package func resync(_ subscription: String, to session: Session) -> Bool {
    let whole = encoded()
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
