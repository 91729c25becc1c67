// Long news on their way out: in parts, one in each turn of the loop while the client reads. What is told is as it was when the
// telling began; values share their memory with the model's.

import GeoModel
import JSON
import JSONRPC
import Query

/// A snapshot or a delta on its way.
protocol Delivery: AnyObject {
  /// Writes what fits one part, whatever room there is; further parts one at a time, while there is room.
  func goOn(_ session: Session) -> DeliveryProgress
  /// The revision that a replica has reached by it, once it is told; nil where nothing was to be said.
  var reached: Int? { get }
}

enum SendLimits {
  /// Below so many unread bytes, deltas are written before a reply however slow the client is.
  private static let bytes = 16 << 20
  /// Above so many bytes a message is cut into parts.
  static let partBytes = 1 << 20
  /// So many bytes are made in one turn of the loop: a millisecond or two.
  static let turnBytes = 256 << 10

  /// Whether there is room for news. Where not, the session has been asked and says when it has drained.
  static func hasRoom(_ session: Session) -> Bool { session.unread <= bytes || !session.isCongested }

  /// The same for a further part of something long: what others are told and answered stands behind little then.
  static func hasRoomForParts(_ session: Session) -> Bool { !session.isCongested }
}

/// A value of the tree in a size that can be sent.
enum StatePiece {
  case value([String], (inout JSONWriter) -> Void)
  /// Graphics of a container, by rows, that is there already.
  case graphics([String], FeatureStore, rows: [UInt32])

  /// A place as pieces: an object without its many graphics, then those.
  static func pieces(_ path: [String], _ node: StateNode) -> [StatePiece] {
    guard node.graphicCount > graphicsInOnePiece else { return [.value(path, node.write)] }
    switch node {
    case .leaf, .list, .ids, .parts: return [.value(path, node.write)]
    case .graphics(let store):
      var rows: [UInt32] = []
      rows.reserveCapacity(store.count)
      store.forEach {
        rows.append($0.row)
        return true
      }
      return [.value(path, writeEmpty), .graphics(path, store, rows: rows)]
    case .branch(let names, let child):
      let large = names.filter { (child($0)?.graphicCount ?? 0) > graphicsInOnePiece }
      let small: (inout JSONWriter) -> Void = { writer in
        writer.beginObject()
        for name in names {
          guard let node = child(name) else { continue }
          writer.key(name)
          if large.contains(name) { writeEmpty(&writer) } else { node.write(to: &writer) }
        }
        writer.endObject()
      }
      return [.value(path, small)] + large.flatMap { name in child(name).map { pieces(path + [name], $0) } ?? [] }
    }
  }
}

private func writeEmpty(_ writer: inout JSONWriter) {
  writer.beginObject()
  writer.endObject()
}
