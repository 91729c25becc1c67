// Long news on their way out: in parts, written while the client reads and gone on with when it has. What is told is as it was
// when the telling began; values share their memory with the model's.

import GeoModel
import JSON
import JSONRPC
import Query

/// A snapshot or a delta on its way.
protocol Telling: AnyObject {
  /// Writes parts while there is room; whether everything has been told. What fits one part is written whatever room there is.
  func goOn(_ session: Session) -> Bool
}

enum Patience {
  /// Below so many unread bytes, deltas are written before a reply however slow the client is.
  private static let bytes = 16 << 20
  /// Further parts of something long only below this: there is room left for what others are told.
  private static let bytesForParts = 8 << 20
  /// Above so many bytes a message is cut into parts.
  static let partBytes = 1 << 20

  /// Whether there is room for news. Where not, the session has been asked and says when it has drained.
  static func hasRoom(_ session: Session) -> Bool { session.unread <= bytes || !session.isCongested }

  /// The same for a further part of something long.
  static func hasRoomForParts(_ session: Session) -> Bool {
    session.unread <= bytesForParts || !session.isCongested
  }
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
    case .leaf: return [.value(path, node.write)]
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

/// `state/snapshotPart` until everything is told.
final class SnapshotTelling: Telling {
  private let subscription: String
  private let revision: Int
  private let pieces: [StatePiece]
  private var place = 0
  private var row = 0
  private var values = JSONWriter(capacity: 1 << 16)

  init(_ subscription: String, revision: Int, _ pieces: [StatePiece]) {
    self.subscription = subscription
    self.revision = revision
    self.pieces = pieces
    values.beginArray()
  }

  func goOn(_ session: Session) -> Bool {
    while place < pieces.count {
      guard Patience.hasRoomForParts(session) else { return false }
      switch pieces[place] {
      case .value(let path, let write):
        value(path, write)
        place += 1
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
        if row == rows.count { (place, row) = (place + 1, 0) }
      }
      if values.count > Patience.partBytes { send(isLast: false, session) }
    }
    send(isLast: true, session)
    return true
  }

  private func value(_ path: [String], _ write: (inout JSONWriter) -> Void) {
    values.beginObject()
    values.key("path")
    values.value(pointer(path))
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

/// `state/changed`, in parts where it grows long.
final class DeltaTelling: Telling {
  enum Entry {
    case remove(String)
    case write(StateSubscriber.Operation, StatePiece)
    /// Changes of graphics in a container, by id.
    case graphics([String], FeatureStore, [(id: Int, operation: StateSubscriber.Operation)])
  }

  private let subscription: String
  private let base: Int
  private let revision: Int
  private let origins: [Origin]
  private let told: [Entry]
  private var place = 0
  private var item = 0
  private var changes = JSONWriter(capacity: 1024)
  private var hasParts = false

  init(_ subscription: String, base: Int, revision: Int, origins: [Origin], _ entries: [Entry]) {
    self.subscription = subscription
    self.base = base
    self.revision = revision
    self.origins = origins
    told = entries
    changes.beginArray()
  }

  func goOn(_ session: Session) -> Bool {
    while place < told.count {
      guard hasRoom(session) else { return false }
      switch told[place] {
      case .remove(let path): entry(.remove, path, session) { _ in }
      case .write(let operation, .value(let path, let write)): entry(operation, pointer(path), session, write)
      case .write(_, .graphics(let path, let store, let rows)):
        let prefix = pointer(path) + "/"
        while item < rows.count {
          guard hasRoom(session) else { return false }
          if let row = store[rows[item]] {
            entry(.add, prefix + String(row.id), session) { FeatureWriter.writeGraphic(row, store.schema, to: &$0) }
          }
          item += 1
        }
      case .graphics(let path, let store, let items):
        let prefix = pointer(path) + "/"
        while item < items.count {
          guard hasRoom(session) else { return false }
          let (id, operation) = items[item]
          let row = operation == .remove ? nil : store.feature(id: id)
          entry(row == nil ? .remove : operation, prefix + String(id), session) { writer in
            if let row { FeatureWriter.writeGraphic(row, store.schema, to: &writer) }
          }
          item += 1
        }
      }
      (place, item) = (place + 1, 0)
    }
    send(isLast: hasParts ? true : nil, session)
    return true
  }

  private func hasRoom(_ session: Session) -> Bool { !hasParts || Patience.hasRoomForParts(session) }

  private func entry(
    _ operation: StateSubscriber.Operation, _ path: String, _ session: Session, _ write: (inout JSONWriter) -> Void
  ) {
    changes.beginObject()
    changes.key("op")
    changes.value(operation.rawValue)
    changes.key("path")
    changes.value(path)
    if operation != .remove {
      changes.key("value")
      write(&changes)
    }
    changes.endObject()
    if changes.count > Patience.partBytes { send(isLast: false, session) }
  }

  private func send(isLast: Bool?, _ session: Session) {
    changes.endArray()
    session.notify("state/changed") { writer in
      writer.key("subscription")
      writer.value(subscription)
      writer.key("base")
      writer.value(base)
      writer.key("revision")
      writer.value(revision)
      writer.key("origins")
      writer.array(origins) { Wire.origin($0).encode(to: &$1) }
      writer.key("changes")
      writer.raw(changes.bytes)
      if let isLast {
        writer.key("isLast")
        writer.value(isLast)
      }
    }
    if isLast == false { hasParts = true }
    changes.reset()
    changes.beginArray()
  }
}
