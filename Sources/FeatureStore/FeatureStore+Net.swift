// Net effect of edits: whether moved features are back in place, and added ones removed.

import Geometry

extension FeatureStore {
  /// Reverts edits if together they made no difference to any feature.
  ///
  /// - Parameter undoRecords: of consecutive edits up to now, in order.
  /// - Returns: Records that revert the reversal, in order, if there was no difference: the store is then as before the
  ///   edits, except selection and the next minted id, and the given records are void. Otherwise nil, and the store is
  ///   unchanged.
  /// - Complexity: O(changes of the edits), and O(1) if the first change made a difference.
  public mutating func forget(_ undoRecords: [StoreUndoRecord]) -> [StoreUndoRecord]? {
    // The records do not include live edits made in between.
    guard undoRecords.allSatisfy({ $0.mark.liveEdits == liveEdits }), comesToNothing(undoRecords) else { return nil }
    // Rows that were added and removed left gaps and fields, which the records of earlier edits do not know.
    return undoRecords.reversed().map { revert($0).0 }
  }

  /// The given features that are as they were before the edits, including selection; their place in the drawing order is not
  /// compared.
  ///
  /// - Parameter undoRecords: of consecutive edits up to now, in order.
  /// - Complexity: that of the edits.
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
      case .replaced, .several: return false
      case .removed(let removed): balance -= removed.count
      case .added(let rows):
        guard rows.allSatisfy({ $0.allSatisfy { self[$0] == nil } }) else { return false }
        balance += rows.reduce(0) { $0 + $1.count }
      }
    }
    // All added features have been removed. If no others were removed, there is no difference.
    guard balance == 0 else { return false }
    var seen = Seen()
    return undoRecords.allSatisfy { undoRecord in
      if case .changed(let values) = undoRecord.step { isAsBefore(values, &seen) } else { true }
    }
  }

  /// The values compared so far: of several changes of one value, the first has the original.
  private struct Seen {
    var geometries: Set<UInt32> = []
    /// Keys of cells.
    var cells: Set<UInt64> = []
  }

  private func isAsBefore(_ values: OldValues, _ seen: inout Seen) -> Bool {
    for (index, row) in values.geometryRows.enumerated() where seen.geometries.insert(row).inserted {
      if let now = self[row], now.geometry != values.geometries[index] { return false }
    }
    for cell in values.cells where cell.member != .isSelected && seen.cells.insert(cell.key).inserted {
      guard let now = self[cell.row] else { continue }
      if now.chunk.value(cell.member, Int(cell.column), at: now.index) != cell.value { return false }
    }
    return true
  }
}
