// What has happened to graphics of one overlay since it was last told, net.

import GeoModel

struct PendingGraphics {
  typealias Operation = StateSubscriber.Operation

  /// One edit alone is kept as it came: noting a bulk edit takes no time.
  private var only: (ids: GraphicIDs, operation: Operation)?
  private var operations: [Int: Operation] = [:]
  private var order: [Int] = []

  var count: Int { only?.ids.count ?? operations.count }

  /// Notes an edit; answers how many earlier changes it made superfluous.
  mutating func note(_ ids: GraphicIDs, _ operation: Operation, where isFollowed: ((Int) -> Bool)?) -> Int {
    if only == nil, order.isEmpty, isFollowed == nil, ids.isAscending {
      only = (ids, operation)
      return 0
    }
    if let first = only {
      only = nil
      operations.reserveCapacity(first.ids.count)
      order.reserveCapacity(first.ids.count)
      first.ids.forEach { _ = note($0, first.operation) }
    }
    var superfluous = 0
    ids.forEach { id in
      if isFollowed?(id) ?? true { superfluous += note(id, operation) }
    }
    return superfluous
  }

  private mutating func note(_ id: Int, _ operation: Operation) -> Int {
    switch (operations[id], operation) {
    case (nil, _):
      operations[id] = operation
      order.append(id)
      return 0
    case (.add, .remove):
      operations[id] = nil
      forgetGone()
      return 2
    case (.add, _), (.replace, .replace): return 1
    case (.remove, .add): operations[id] = .replace
    case (_, let later): operations[id] = later
    }
    return 1
  }

  /// Drops places in the order that stand for nothing any more, once they are many.
  private mutating func forgetGone() {
    guard order.count > 2 * operations.count + 1000 else { return }
    var seen: Set<Int> = []
    order = order.filter { operations[$0] != nil && seen.insert($0).inserted }
  }

  /// All of it, each graphic once.
  func items() -> [(id: Int, operation: Operation)] {
    var items: [(id: Int, operation: Operation)] = []
    items.reserveCapacity(count)
    if let only {
      only.ids.forEach { items.append((id: $0, operation: only.operation)) }
      return items
    }
    var left = operations
    for id in order {
      if let operation = left.removeValue(forKey: id) { items.append((id: id, operation: operation)) }
    }
    return items
  }
}

extension GraphicIDs {
  /// Whether no id comes twice, as far as can be seen at a glance.
  fileprivate var isAscending: Bool {
    switch self {
    case .run: true
    case .list(let ids): zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }
    }
  }
}
