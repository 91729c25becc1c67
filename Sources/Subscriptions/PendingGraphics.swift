// Coalesced operations on graphics of one overlay since they were last sent.

import GeoModel

struct PendingGraphics {
  typealias Operation = StateSubscriber.Operation

  /// A single edit is kept as it is: recording a bulk edit is O(1).
  private var only: (ids: GraphicIDs, operation: Operation)?
  private var operations: [Int: Operation] = [:]
  private var order: [Int] = []

  var count: Int { only?.ids.count ?? operations.count }

  /// Records an edit.
  ///
  /// - Parameter isObserved: which graphics are observed; nil for all.
  /// - Returns: the number of recorded operations that the edit coalesces.
  mutating func record(_ ids: GraphicIDs, _ operation: Operation, where isObserved: ((Int) -> Bool)?) -> Int {
    if only == nil, order.isEmpty, isObserved == nil, ids.isAscending {
      only = (ids, operation)
      return 0
    }
    if let first = only {
      only = nil
      operations.reserveCapacity(first.ids.count)
      order.reserveCapacity(first.ids.count)
      first.ids.forEach { _ = record($0, first.operation) }
    }
    var coalesced = 0
    ids.forEach { id in
      if isObserved?(id) ?? true { coalesced += record(id, operation) }
    }
    return coalesced
  }

  private mutating func record(_ id: Int, _ operation: Operation) -> Int {
    switch (operations[id], operation) {
    case (nil, _):
      operations[id] = operation
      order.append(id)
      return 0
    case (.add, .remove):
      operations[id] = nil
      compactOrder()
      return 2
    case (.add, _), (.replace, .replace): return 1
    case (.remove, .add): operations[id] = .replace
    case (_, let later): operations[id] = later
    }
    return 1
  }

  /// Drops ids without an operation from the order, once they outnumber the others.
  private mutating func compactOrder() {
    guard order.count > 2 * operations.count + 1000 else { return }
    var seen: Set<Int> = []
    order = order.filter { operations[$0] != nil && seen.insert($0).inserted }
  }

  /// All operations in order, each graphic once.
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
  /// Whether ids ascend, so that none occurs twice.
  fileprivate var isAscending: Bool {
    switch self {
    case .run: true
    case .list(let ids): zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }
    }
  }
}
