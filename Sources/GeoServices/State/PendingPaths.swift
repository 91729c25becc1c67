// Places that changed since a subscription last told: in order, each once. Nearly always there is one, so that comes first.

/// What is noted, place by place.
struct PendingPaths {
  typealias Operation = StateSubscriber.Operation

  struct Entry {
    let place: StatePath
    /// nil for what came to nothing.
    var operation: Operation?
    /// The list that was told there.
    var list: SentList?
  }

  private(set) var entries: [Entry] = []
  /// Where each place stands, once they are too many to look through.
  private var index: [StatePath: Int] = [:]
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// The only entry, if there is one and it has always been the only one.
  var only: Entry? { entries.count == 1 ? entries.first : nil }

  private func find(_ place: StatePath) -> Int? {
    guard entries.count > 8 else { return entries.firstIndex { $0.place == place } }
    return index[place]
  }

  subscript(place: StatePath) -> Operation? { find(place).flatMap { entries[$0].operation } }

  mutating func set(_ place: StatePath, _ operation: Operation?, list: SentList? = nil) {
    if let at = find(place) {
      count += (operation == nil ? 0 : 1) - (entries[at].operation == nil ? 0 : 1)
      guard entries[at].operation == nil, operation != nil else {
        entries[at].operation = operation
        entries[at].list = list
        return
      }
      // It starts anew, behind what has come since.
      entries[at] = Entry(place: StatePath("", ""), operation: nil)
      count -= 1
    }
    guard let operation else { return }
    entries.append(Entry(place: place, operation: operation, list: list))
    count += 1
    guard entries.count > 8 else { return }
    if entries.count == 9 {
      for (at, entry) in entries.enumerated() { index[entry.place] = at }
    } else {
      index[place] = entries.count - 1
    }
  }

  /// The list that was told at a place is not to be built on.
  mutating func forgetList(_ place: StatePath) {
    if let at = find(place) { entries[at].list = nil }
  }

  /// Drops what was noted below a place that is gone.
  mutating func forget(below place: StatePath) {
    for at in entries.indices where entries[at].operation != nil && entries[at].place.isBelow(place) {
      entries[at].operation = nil
      count -= 1
    }
  }

  mutating func removeAll() {
    entries.removeAll(keepingCapacity: entries.count <= 8)
    if !index.isEmpty { index = [:] }
    count = 0
  }
}
