// Paths that changed since a subscription last sent, in order and each once.

import GeoModel
import OrderedCollections

/// Recorded operations by path.
struct PendingPaths {
  typealias Operation = StateSubscriber.Operation

  struct Entry {
    var operation: Operation
    /// The list at the path as it was last sent.
    var list: SentList?
  }

  private(set) var entries: OrderedDictionary<ModelPath, Entry> = [:]

  var count: Int { entries.count }
  var isEmpty: Bool { entries.isEmpty }

  subscript(path: ModelPath) -> Operation? { entries[path]?.operation }

  mutating func set(_ path: ModelPath, _ operation: Operation, list: SentList? = nil) {
    entries.updateValue(Entry(operation: operation, list: list), forKey: path)
  }

  /// Drops a path whose operations have cancelled out: a later one is sent behind those recorded in between.
  mutating func drop(_ path: ModelPath) { entries[path] = nil }

  /// Drops the sent list at a path: the delta cannot be built upon it.
  mutating func dropList(_ path: ModelPath) { entries[path]?.list = nil }

  /// Drops the operations below a removed path.
  mutating func drop(below path: ModelPath) { entries.removeAll { $0.key.isBelow(path) } }

  mutating func removeAll() { entries.removeAll(keepingCapacity: entries.count <= 8) }
}
