// Paths that changed since a subscription last sent, in order and each once. One path is by far the commonest case and is the fastest.

import StateTree

/// Recorded operations by path.
struct PendingPaths {
  typealias Operation = StateSubscriber.Operation

  struct Entry {
    let path: StatePath
    /// Nil where operations have cancelled out.
    var operation: Operation?
    /// The list at the path as it was last sent.
    var list: SentList?
  }

  private(set) var entries: [Entry] = []
  /// Index of each path's entry, once there are more than 8.
  private var indexes: [StatePath: Int] = [:]
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// The only entry ever recorded since the last send; nil when there were none or several.
  var only: Entry? { entries.count == 1 ? entries.first : nil }

  private func find(_ path: StatePath) -> Int? {
    guard entries.count > 8 else { return entries.firstIndex { $0.path == path } }
    return indexes[path]
  }

  subscript(path: StatePath) -> Operation? { find(path).flatMap { entries[$0].operation } }

  mutating func set(_ path: StatePath, _ operation: Operation?, list: SentList? = nil) {
    if let at = find(path) {
      count += (operation == nil ? 0 : 1) - (entries[at].operation == nil ? 0 : 1)
      guard entries[at].operation == nil, operation != nil else {
        entries[at].operation = operation
        entries[at].list = list
        return
      }
      // A new operation after cancelled ones is sent behind those recorded in between.
      entries[at] = Entry(path: StatePath("", ""), operation: nil)
      count -= 1
    }
    guard let operation else { return }
    entries.append(Entry(path: path, operation: operation, list: list))
    count += 1
    guard entries.count > 8 else { return }
    if entries.count == 9 {
      for (at, entry) in entries.enumerated() { indexes[entry.path] = at }
    } else {
      indexes[path] = entries.count - 1
    }
  }

  /// Drops the sent list at a path: the delta cannot be built upon it.
  mutating func dropList(_ path: StatePath) {
    if let at = find(path) { entries[at].list = nil }
  }

  /// Drops the operations below a removed path.
  mutating func drop(below path: StatePath) {
    for at in entries.indices where entries[at].operation != nil && entries[at].path.isBelow(path) {
      entries[at].operation = nil
      count -= 1
    }
  }

  mutating func removeAll() {
    entries.removeAll(keepingCapacity: entries.count <= 8)
    if !indexes.isEmpty { indexes = [:] }
    count = 0
  }
}
