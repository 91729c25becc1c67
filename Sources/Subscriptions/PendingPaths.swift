// Paths that changed since a subscription last sent, in order and each once.

import GeoModel
import OrderedCollections

/// Recorded operations by path. Recording and dropping take the same time, however many there are.
struct PendingPaths {
  typealias Operation = StateSubscriber.Operation

  struct Entry {
    var operation: Operation
    /// The list at the path as it was last sent.
    var list: SentList?
  }

  /// A dropped entry becomes nil: removing it would move all later entries.
  private var slots: OrderedDictionary<ModelPath, Entry?> = [:]
  private var dropped = 0
  /// Paths below objects, by object. Kept above ``few`` entries.
  private var inside: [ModelPath: [ModelPath]] = [:]
  /// Up to this many entries a linear search is faster than hashing.
  private static let few = 16

  var count: Int { slots.count - dropped }
  var isEmpty: Bool { count == 0 }

  /// In the order in which the paths were recorded.
  var entries: [(path: ModelPath, entry: Entry)] {
    slots.compactMap { path, entry in entry.map { (path, $0) } }
  }

  /// The entry, if there is exactly one.
  var only: (path: ModelPath, entry: Entry)? { count == 1 ? entries.first : nil }

  subscript(path: ModelPath) -> Operation? { slots[path]??.operation }

  mutating func set(_ path: ModelPath, _ operation: Operation, list: SentList? = nil) {
    // A path recorded again after its operations cancelled out moves behind the entries recorded in between.
    if let known = slots[path], known == nil {
      slots[path] = nil
      dropped -= 1
    }
    let isNew = slots.updateValue(Entry(operation: operation, list: list), forKey: path) == nil
    if isNew, slots.count > Self.few { index(path) }
  }

  private mutating func index(_ path: ModelPath) {
    if slots.count == Self.few + 1 {
      inside = [:]
      for path in slots.keys where path.names.count > 2 { inside[path.prefix(2), default: []].append(path) }
    } else if path.names.count > 2 {
      inside[path.prefix(2), default: []].append(path)
    }
  }

  /// Drops a path whose operations have cancelled out.
  mutating func drop(_ path: ModelPath) {
    guard let known = slots[path], known != nil else { return }
    slots.updateValue(nil, forKey: path)
    dropped += 1
    if dropped == slots.count { removeAll() }
  }

  /// Drops the recorded list at a path: the client's list differs from it, so no delta can be built on it.
  mutating func dropList(_ path: ModelPath) {
    guard var entry = slots[path] ?? nil else { return }
    entry.list = nil
    slots.updateValue(entry, forKey: path)
  }

  /// Drops the operations below a removed path.
  mutating func drop(below path: ModelPath) {
    let below = slots.count > Self.few && path.names.count > 1 ? inside[path.prefix(2)] ?? [] : Array(slots.keys)
    for other in below where other.isBelow(path) { drop(other) }
  }

  mutating func removeAll() {
    slots.removeAll(keepingCapacity: slots.count <= 8)
    dropped = 0
    if !inside.isEmpty { inside = [:] }
  }
}
