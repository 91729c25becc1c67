// What stands at the paths of a subscription now: in one piece, or in parts when it is long.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import Query

/// The values at some patterns as of one revision.
struct Snapshot {
  /// Above so many bytes it is sent in parts.
  private static let pieceBytes = 1 << 20

  let revision: Int
  private let places: [(path: [String], node: StateNode)]

  init(_ patterns: [StatePattern], in world: World) {
    revision = world.revision
    var seen: Set<String> = []
    places = patterns.flatMap { StateTree.places(of: $0, in: world) }.filter { seen.insert(pointer($0.path)).inserted }
  }

  /// The whole, or nil when it is too long for one piece.
  func inOnePiece() -> [StateProtocol.StateValue]? {
    guard places.count <= graphicsInOnePiece * 4, places.reduce(0, { $0 + $1.node.graphicCount }) <= graphicsInOnePiece * 4
    else { return nil }
    var values: [StateProtocol.StateValue] = []
    var bytes = 0
    for (path, node) in places {
      var writer = JSONWriter(capacity: 256)
      node.write(to: &writer)
      bytes += writer.count
      if bytes > Self.pieceBytes { return nil }
      let text = writer.string
      values.append(.init(path: pointer(path), value: .written { $0.raw(text) }))
    }
    return values
  }

  /// Sends `state/snapshotPart` until everything is told.
  func sendParts(_ subscription: String, to session: Session) {
    var values = JSONWriter(capacity: 1 << 16)
    values.beginArray()
    func send(isLast: Bool) {
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
    for (path, node) in places {
      for (path, write) in pieces(path, node) {
        self.write(pointer(path), &values, write)
        if values.count > Self.pieceBytes { send(isLast: false) }
      }
    }
    send(isLast: true)
  }

  /// Sends `state/resynced`, and parts behind it where it is long.
  func resync(_ subscription: String, to session: Session) {
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
    if whole == nil { sendParts(subscription, to: session) }
  }

  private func write(_ path: String, _ writer: inout JSONWriter, _ value: (inout JSONWriter) -> Void) {
    writer.beginObject()
    writer.key("path")
    writer.value(path)
    writer.key("value")
    value(&writer)
    writer.endObject()
  }

  /// A place as pieces of a size that can be sent: many graphics come in portions of their container.
  private func pieces(_ path: [String], _ node: StateNode) -> [([String], (inout JSONWriter) -> Void)] {
    guard node.graphicCount > graphicsInOnePiece else { return [(path, node.write)] }
    switch node {
    case .leaf: return [(path, node.write)]
    case .graphics(let store):
      return stride(from: 0, to: store.count, by: graphicsInOnePiece).map { start in
        (path, { StateNode.write(store, start..<min(start + graphicsInOnePiece, store.count), to: &$0) })
      }
    case .branch(let names, let child):
      // The object without its large children first, then those.
      let large = names.filter { (child($0)?.graphicCount ?? 0) > graphicsInOnePiece }
      let small: (inout JSONWriter) -> Void = { writer in
        writer.beginObject()
        for name in names {
          guard let node = child(name) else { continue }
          writer.key(name)
          if large.contains(name) {
            writer.beginObject()
            writer.endObject()
          } else {
            node.write(to: &writer)
          }
        }
        writer.endObject()
      }
      return [(path, small)] + large.flatMap { name in child(name).map { pieces(path + [name], $0) } ?? [] }
    }
  }
}
