// Sends a snapshot that is too long for one message, in parts.

import GeoModel
import JSON
import JSONRPC
import StateTree

/// `state/snapshotPart` notifications until all values are sent.
final class SnapshotDelivery: Delivery {
  private let subscription: String
  let snapshot: Snapshot
  /// Runs for each match whose value is about to be sent.
  private let willSend: (Snapshot.Match) -> Void
  var revisionReached: Int? { snapshot.revision }
  private var matches: AnyIterator<Snapshot.Match>
  /// The pieces of the current value that are left, and the next item of the first.
  private var pieces: ArraySlice<StatePiece> = []
  private var item = 0
  private var values = JSONWriter(capacity: 1 << 16)
  /// Fixed cost of a value, as bytes that take the same time to encode: an object with many members takes 30 us.
  private static let bytesOfValue = 6144

  init(_ subscription: String, _ snapshot: Snapshot, willSend: @escaping (Snapshot.Match) -> Void) {
    self.subscription = subscription
    self.snapshot = snapshot
    self.willSend = willSend
    matches = snapshot.matches(isSplit: true)
    values.beginArray()
  }

  func resume(_ session: Session) -> DeliveryProgress {
    guard SendLimits.hasRoomForParts(session) else { return .full }
    var work = 0
    while let piece = pieces.first ?? nextValue() {
      let start = values.count
      send(piece)
      if values.count > SendLimits.partBytes {
        send(isLast: false, session)
        return .more
      }
      work += values.count - start + Self.bytesOfValue
      if work > SendLimits.turnBytes { return .more }
    }
    send(isLast: true, session)
    return .done
  }

  /// The first piece of the next value.
  private func nextValue() -> StatePiece? {
    while let match = matches.next() {
      willSend(match)
      guard !match.isRepeated else { continue }
      pieces = StatePiece.pieces(match.path, match.node)[...]
      return pieces.first
    }
    return nil
  }

  /// Writes a piece, or as many of its items as fit.
  private func send(_ piece: StatePiece) {
    switch piece {
    case .value(let path, let write):
      value(path, write)
      pieces.removeFirst()
    case .items(let path, let items):
      let limit = values.count + SendLimits.turnBytes / 4
      value(path) { writer in
        writer.beginObject()
        while item < items.count, writer.count < limit {
          items.forEachMember(of: item) { name, write in
            writer.key(name)
            write(&writer)
          }
          item += 1
        }
        writer.endObject()
      }
      if item == items.count {
        pieces.removeFirst()
        item = 0
      }
    }
  }

  private func value(_ path: ModelPath, _ write: (inout JSONWriter) -> Void) {
    values.beginObject()
    values.member("path", path.description)
    values.key("value")
    write(&values)
    values.endObject()
  }

  private func send(isLast: Bool, _ session: Session) {
    values.endArray()
    session.notify("state/snapshotPart") { writer in
      writer.member("subscription", subscription)
      writer.member("revision", snapshot.revision)
      writer.key("values")
      writer.raw(values.bytes)
      writer.member("isLast", isLast)
    }
    values.reset()
    values.beginArray()
  }
}
