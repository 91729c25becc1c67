// Sends a delta, in one message or in parts.

import FeatureStore
import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import WireCoding

/// `state/changed`, in parts of ``SendLimits/partBytes``.
package final class DeltaDelivery: Delivery {
  package enum Entry {
    case remove(String)
    case write(StateSubscriber.Operation, StatePiece)
    /// Steps of a list, by its pointer.
    case list(String, [ListDelta.Step])
    /// Operations on graphics of a container, by id; with `before`, only those that differ from it.
    case graphics(
      ModelPath, FeatureStore, [(id: Int, operation: StateSubscriber.Operation)], before: FeatureStore?)
  }

  private let subscription: String
  private let base: Int
  private let revision: Int
  private let origins: [Origin]
  private let entries: [Entry]
  /// Index of the next entry, and of the next item in it.
  private var index = 0
  private var item = 0
  private var changes = JSONWriter(capacity: 1024)
  private var old = JSONWriter(capacity: 64)
  /// Bytes encoded in this turn and dropped because the value equals the one sent before.
  private var droppedBytes = 0
  /// Bytes encoded before this turn.
  private var turnStart = 0
  private var hasParts = false
  package private(set) var revisionReached: Int?

  package init(_ subscription: String, base: Int, revision: Int, origins: [Origin], _ entries: [Entry]) {
    self.subscription = subscription
    self.base = base
    self.revision = revision
    self.origins = origins
    self.entries = entries
    changes.beginArray()
  }

  package func resume(_ session: Session) -> DeliveryProgress {
    if hasParts, !SendLimits.hasRoomForParts(session) { return .full }
    droppedBytes = 0
    turnStart = changes.count
    while index < entries.count {
      guard writeNextEntry() else {
        if changes.count > SendLimits.partBytes - SendLimits.turnBytes { send(isLast: false, session) }
        return .more
      }
      index += 1
      item = 0
    }
    // A delta without operations is not sent.
    if changes.count > 1 || hasParts { send(isLast: hasParts ? true : nil, session) }
    return .done
  }

  private var isFull: Bool { changes.count - turnStart + droppedBytes > SendLimits.turnBytes }

  /// Writes the next entry, or as much of it as fits the part.
  ///
  /// - Returns: whether the entry is complete.
  private func writeNextEntry() -> Bool {
    guard !isFull else { return false }
    switch entries[index] {
    case .remove(let path): entry(.remove, path) { _ in }
    case .write(let operation, .value(let path, let write)): entry(operation, path.description, write)
    case .write(_, .items(let path, let items)):
      while item < items.count {
        guard !isFull else { return false }
        items.forEachMember(of: item) { name, write in entry(.add, path.appending(name).description, write) }
        item += 1
      }
    case .list(let path, let steps):
      while item < steps.count {
        guard !isFull else { return false }
        step(steps[item], path)
        item += 1
      }
    case .graphics(let path, let store, let items, let before): return graphics(path, store, items, before)
    }
    return true
  }

  /// The text of an operation on a graphic, up to its id.
  private static func start(_ operation: StateSubscriber.Operation, _ container: ModelPath) -> String {
    #"{"op":"\#(operation.wire.rawValue)","path":"\#(container)/"#
  }

  private func open(_ start: String, _ id: Int) {
    changes.raw(start)
    var digits = String(id)
    digits.withUTF8 { changes.append(UnsafeRawBufferPointer($0)) }
    changes.append(byte: UInt8(ascii: "\""))
  }

  private func graphics(
    _ path: ModelPath, _ store: FeatureStore, _ items: [(id: Int, operation: StateSubscriber.Operation)],
    _ before: FeatureStore?
  ) -> Bool {
    let starts = (add: Self.start(.add, path), replace: Self.start(.replace, path), remove: Self.start(.remove, path))
    while item < items.count {
      guard !isFull else { return false }
      let (id, operation) = items[item]
      item += 1
      guard operation != .remove, let row = store.feature(id: id) else {
        open(starts.remove, id)
        changes.endObject()
        continue
      }
      let mark = changes.count
      open(operation == .add ? starts.add : starts.replace, id)
      changes.key("value")
      let value = changes.count
      FeatureWriter.writeGraphic(row, store.schema, to: &changes)
      if operation == .replace, let before, let old = before.feature(id: id) {
        self.old.truncate(to: 0)
        FeatureWriter.writeGraphic(old, before.schema, to: &self.old)
        if self.old.bytes.elementsEqual(UnsafeRawBufferPointer(rebasing: changes.bytes[value...])) {
          droppedBytes += self.old.count
          changes.truncate(to: mark)
          continue
        }
      }
      changes.endObject()
    }
    return true
  }

  private func step(_ step: ListDelta.Step, _ list: String) {
    switch step {
    case .remove(let index, let id): entry(.remove, "\(list)/\(index)", id: id) { _ in }
    case .add(let index, let element):
      entry(.add, "\(list)/\(index)", id: element.id.string) { $0.raw(element.text.string) }
    case .replace(let index, let element):
      entry(.replace, "\(list)/\(index)", id: element.id.string) { $0.raw(element.text.string) }
    case .move(let from, let to, let id):
      changes.beginObject()
      changes.member("op", StateProtocol.PatchOperation.move)
      changes.member("from", "\(list)/\(from)")
      changes.member("path", "\(list)/\(to)")
      changes.member("id", id)
      changes.endObject()
    }
  }

  private func entry(
    _ operation: StateSubscriber.Operation, _ path: String, id: String? = nil, _ write: (inout JSONWriter) -> Void
  ) {
    changes.beginObject()
    changes.member("op", operation.wire)
    changes.member("path", path)
    if operation != .remove {
      changes.key("value")
      write(&changes)
    }
    changes.member("id", id)
    changes.endObject()
  }

  /// Writes the members of `state/changed` before its changes.
  package static func open(
    _ subscription: String, base: Int, revision: Int, _ origins: [Origin], _ writer: inout JSONWriter
  ) {
    writer.member("subscription", subscription)
    writer.member("base", base)
    writer.member("revision", revision)
    writer.member("origins", origins.map(Wire.origin))
    writer.key("changes")
  }

  private func send(isLast: Bool?, _ session: Session) {
    session.notify("state/changed") { writer in
      Self.open(subscription, base: base, revision: revision, origins, &writer)
      writer.raw(changes.bytes)
      writer.endArray()
      writer.member("isLast", isLast)
    }
    if isLast == false { hasParts = true }
    revisionReached = revision
    changes.reset()
    changes.beginArray()
  }
}
