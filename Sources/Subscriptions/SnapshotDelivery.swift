// Sends a snapshot that is too long for one message, in parts.

import GeoModel
import JSON
import JSONRPC
import StateTree
import WireCoding

/// `state/snapshotPart` notifications until all values are sent.
final class SnapshotDelivery: Delivery {
  private let subscription: String
  private let revision: Int
  private let pieces: [StatePiece]
  var revisionReached: Int? { revision }
  /// Index of the next piece, and of the next row in it.
  private var index = 0
  private var row = 0
  private var values = JSONWriter(capacity: 1 << 16)

  init(_ subscription: String, revision: Int, _ pieces: [StatePiece]) {
    self.subscription = subscription
    self.revision = revision
    self.pieces = pieces
    values.beginArray()
  }

  func resume(_ session: Session) -> DeliveryProgress {
    guard SendLimits.hasRoomForParts(session) else { return .full }
    let start = values.count
    while index < pieces.count {
      switch pieces[index] {
      case .value(let path, let write):
        value(path, write)
        index += 1
      case .graphics(let path, let store, let rows):
        let portion = row..<min(row + graphicsInOnePiece, rows.count)
        value(path) { writer in
          writer.beginObject()
          for row in rows[portion] {
            guard let feature = store[row] else { continue }
            writer.key(String(feature.id))
            FeatureWriter.writeGraphic(feature, store.schema, to: &writer)
          }
          writer.endObject()
        }
        row = portion.upperBound
        if row == rows.count { (index, row) = (index + 1, 0) }
      }
      if values.count > SendLimits.partBytes {
        send(isLast: false, session)
      } else if values.count - start <= SendLimits.turnBytes {
        continue
      }
      return .more
    }
    send(isLast: true, session)
    return .done
  }

  private func value(_ path: ModelPath, _ write: (inout JSONWriter) -> Void) {
    values.beginObject()
    values.key("path")
    values.value(path.description)
    values.key("value")
    write(&values)
    values.endObject()
  }

  private func send(isLast: Bool, _ session: Session) {
    values.endArray()
    session.notify("state/snapshotPart") { writer in
      writer.key("subscription")
      writer.value(subscription)
      writer.key("revision")
      writer.value(revision)
      writer.key("values")
      writer.raw(values.bytes)
      writer.key("isLast")
      writer.value(isLast)
    }
    values.reset()
    values.beginArray()
  }
}
