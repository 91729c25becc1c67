// Whether edits have come to nothing: what was moved stands where it stood, what came has gone.

import Geometry

extension FeatureStore {
  /// Takes edits back where all of them together made no difference to any feature.
  ///
  /// - Parameter reversals: of edits that followed one another up to now, in their order.
  /// - Returns: What takes the taking back back, in its order, when they made none: the store is then what it was before them,
  ///   selection and ids to be minted aside, and their reversals are void. Otherwise nil, and the store stays as it is.
  /// - Complexity: O(changes of the edits), and O(1) where the first of them made a difference.
  public mutating func forget(_ undoRecords: [StoreUndoRecord]) -> [StoreUndoRecord]? {
    guard comesToNothing(undoRecords) else { return nil }
    // Rows that came and went have left gaps, and fields, which reversals of earlier edits know nothing of.
    return undoRecords.reversed().map { revert($0).0 }
  }

  /// Whether an edit, whatever has followed it, has left something other than what was before it.
  ///
  /// - Parameter reversal: of the first of several edits; of others it tells nothing.
  /// - Complexity: O(1) where the first thing that it changed is another.
  public func isOther(since undoRecord: StoreUndoRecord) -> Bool {
    switch undoRecord.step {
    case .removed, .replaced: return true
    case .added(let rows): return rows.contains { $0.contains { self[$0] != nil } }
    case .changed(let values):
      var seen = Seen()
      return !isAsBefore(values, &seen)
    }
  }

  /// Those of some features that are what they were before edits, selection included; their place in the order does not count.
  ///
  /// - Parameter reversals: of edits that followed one another up to now, in their order.
  /// - Complexity: as the edits.
  public func equal(_ ids: [Int], since undoRecords: [StoreUndoRecord]) -> Set<Int> {
    var before = self
    for undoRecord in undoRecords.reversed() { before.rollBack(undoRecord) }
    return Set(
      ids.filter { id in
        guard let old = before.feature(id: id), let now = feature(id: id) else { return false }
        return now.isSame(as: old)
      })
  }

  private func comesToNothing(_ undoRecords: [StoreUndoRecord]) -> Bool {
    var balance = 0
    for undoRecord in undoRecords {
      switch undoRecord.step {
      case .changed: break
      case .replaced: return false
      case .removed(let removed): balance -= removed.count
      case .added(let rows):
        guard rows.allSatisfy({ $0.allSatisfy { self[$0] == nil } }) else { return false }
        balance += undoRecord.count
      }
    }
    // All that came has gone. Where no more has gone, that was all.
    guard balance == 0 else { return false }
    var seen = Seen()
    return undoRecords.allSatisfy { undoRecord in
      if case .changed(let values) = undoRecord.step { isAsBefore(values, &seen) } else { true }
    }
  }

  /// What has been compared: of several changes of one thing the first says what it was.
  private struct Seen {
    var attributes: Set<UInt64> = []
    var symbols: Set<UInt32> = []
    var geometries: Set<UInt32> = []
    var zIndexes: Set<UInt32> = []
    var hidden: Set<UInt32> = []
  }

  private func isAsBefore(_ values: OldValues, _ seen: inout Seen) -> Bool {
    for (index, row) in values.geometryRows.enumerated() where seen.geometries.insert(row).inserted {
      if let now = self[row], now.geometry != values.geometries[index] { return false }
    }
    for cell in values.attributes {
      guard seen.attributes.insert(UInt64(cell.row) << 16 | UInt64(cell.column)).inserted else { continue }
      if let now = self[cell.row], now.value(Int(cell.column)) != cell.value { return false }
    }
    for cell in values.symbols where seen.symbols.insert(cell.row).inserted {
      if let now = self[cell.row], now.chunk.symbols[now.place] != cell.value { return false }
    }
    for (row, value) in values.zIndexes where seen.zIndexes.insert(row).inserted {
      if let now = self[row], now.zIndex != value { return false }
    }
    for (row, value) in values.hidden where seen.hidden.insert(row).inserted {
      if let now = self[row], now.isVisible == value { return false }
    }
    return true
  }
}
