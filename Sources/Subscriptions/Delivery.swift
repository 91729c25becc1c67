// Deliveries: snapshots and deltas that may be sent in parts, one per turn of the loop while the client reads. A delivery holds
// the values of the revision at which it began; they share storage with the model.

import GeoModel
import JSON
import JSONRPC
import StateTree

/// A snapshot or a delta that is being sent.
package protocol Delivery: AnyObject {
  /// Sends the first part in any case, and a further part only if the output has room.
  func resume(_ session: Session) -> DeliveryProgress
  /// The revision of a replica after the delivery; nil when nothing was sent.
  var revisionReached: Int? { get }
}

/// Limits on sending to a slow client.
package enum SendLimits {
  /// Up to this many unread bytes, deltas are sent before a reply even to a slow client.
  private static let bytes = 16 << 20
  /// Longer messages are sent in parts.
  package static let partBytes = 1 << 20
  /// Bytes encoded in one turn of the loop: 1 to 2 ms.
  static let turnBytes = 256 << 10

  /// Whether deltas can be sent. If not, `Session.onDrained` is called once the client has read.
  package static func hasRoom(_ session: Session) -> Bool { session.unread <= bytes || !session.isCongested }

  /// Whether a further part can be sent. Stricter, so that replies never queue behind many parts.
  package static func hasRoomForParts(_ session: Session) -> Bool { !session.isCongested }
}

/// A value of the tree, or a piece of one that is too long to send whole.
package enum StatePiece {
  case value(ModelPath, (inout JSONWriter) -> Void)
  /// Members of an object that has been sent without them.
  case items(ModelPath, StateItems)

  /// A short value as one piece; a long one as the object without its long members, followed by the items of these.
  package static func pieces(_ path: ModelPath, _ node: StateNode) -> [StatePiece] {
    guard node.itemCount > itemsInOnePiece else { return [.value(path, node.write)] }
    if let items = node.items { return [.value(path, writeEmpty), .items(path, items)] }
    // Each child is made once: layer states are computed then.
    let children = node.names.compactMap { name in node.child(name).map { (name: name, node: $0) } }
    let small: (inout JSONWriter) -> Void = { writer in
      writer.beginObject()
      for child in children {
        writer.key(child.name)
        if child.node.itemCount > itemsInOnePiece { writeEmpty(&writer) } else { child.node.write(to: &writer) }
      }
      writer.endObject()
    }
    let large = children.filter { $0.node.itemCount > itemsInOnePiece }
    return [.value(path, small)] + large.flatMap { pieces(path.appending($0.name), $0.node) }
  }
}

private func writeEmpty(_ writer: inout JSONWriter) {
  writer.beginObject()
  writer.endObject()
}
