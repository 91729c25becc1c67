// Coalesced operations on graphics of one overlay since they were last sent.

import GeoModel
import OrderedCollections

struct PendingGraphics {
  typealias Operation = StateSubscriber.Operation

  /// The edit, if only one is recorded: recording a bulk edit is O(1).
  private var only: (ids: GraphicIDs, operation: Operation)?
  /// Operations by id, in order; nil where they have cancelled out, so that a removal is O(1).
  private var operations: OrderedDictionary<Int, Operation?> = [:]
  private var cancelled = 0

  var count: Int { only?.ids.count ?? operations.count - cancelled }

  /// Records an edit.
  ///
  /// - Parameter isObserved: which graphics are observed; nil for all.
  /// - Returns: the number of recorded operations that the edit coalesces.
  mutating func record(_ ids: GraphicIDs, _ operation: Operation, where isObserved: ((Int) -> Bool)?) -> Int {
    if only == nil, operations.isEmpty, isObserved == nil, ids.isAscending {
      only = (ids, operation)
      return 0
    }
    if let first = only {
      only = nil
      operations.reserveCapacity(first.ids.count)
      first.ids.forEach { operations[$0] = .some(first.operation) }
    }
    var coalesced = 0
    ids.forEach { id in
      if isObserved?(id) ?? true { coalesced += record(id, operation) }
    }
    return coalesced
  }

  private mutating func record(_ id: Int, _ operation: Operation) -> Int {
    guard let earlier = operations[id] else {
      operations[id] = .some(operation)
      return 0
    }
    switch (earlier, operation) {
    case (nil, _):
      operations[id] = .some(operation)
      cancelled -= 1
      return 0
    case (.add?, .remove):
      operations[id] = .some(nil)
      cancelled += 1
      if cancelled > operations.count / 2 + 1000 {
        operations.removeAll { $0.value == nil }
        cancelled = 0
      }
      return 2
    case (.add?, _), (.replace?, .replace): break
    case (.remove?, .add): operations[id] = .replace
    case (_?, let later): operations[id] = later
    }
    return 1
  }

  /// All operations in order, each graphic once.
  func items() -> [(id: Int, operation: Operation)] {
    var items: [(id: Int, operation: Operation)] = []
    items.reserveCapacity(count)
    if let only { only.ids.forEach { items.append((id: $0, operation: only.operation)) } }
    for case (let id, let operation?) in operations { items.append((id: id, operation: operation)) }
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
