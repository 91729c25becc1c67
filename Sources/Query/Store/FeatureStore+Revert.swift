// Reversal of edits: exactly (rollback), or as undo and redo do it.

import Geometry

extension FeatureStore {
  /// Restores the store from before the edit, including selection, fields and the next id to be minted. For a change
  /// that fails half way.
  ///
  /// - Complexity: as the edit.
  public mutating func rollBack(_ undoRecord: consuming StoreUndoRecord) {
    switch undoRecord.step {
    case .added(let rows): _ = removeRows(liveRows(in: rows))
    case .removed(let removed): _ = restoreRows(removed)
    case .changed(let values): _ = restore(values, selection: true)
    case .replaced(let store):
      self = store
      return
    }
    truncate(to: undoRecord.mark.nextRow)
    nextID = undoRecord.mark.nextID
    _ = schema.go(to: undoRecord.mark.schema)
  }

  /// Reverts an edit as undo does: ids are not minted again, and remaining features keep their selection.
  ///
  /// - Returns: The record that reverts this in turn, and the affected features.
  /// - Complexity: as the edit.
  public mutating func revert(_ undoRecord: consuming StoreUndoRecord) -> (StoreUndoRecord, ChangedFeatures) {
    var changes = ChangedFeatures()
    let (id, row) = (nextID, nextRow)
    let step: StoreUndoRecord.Step
    switch undoRecord.step {
    case .added(let ranges):
      let rows = liveRows(in: ranges)
      changes.removed = ids(of: rows) { _ in }
      step = .removed(removeRows(rows))
    case .removed(let removed):
      let rows = restoreRows(removed)
      changes.added = ids(of: rows) { _ in }
      step = .added(rows.runs)
    case .changed(let values):
      changes.updated = ids(of: values.rows) { _ in }
      step = .changed(restore(values, selection: false))
    case .replaced(let store):
      let before = self
      self = store
      nextID = before.nextID
      nextRow = before.nextRow
      keepSelection(of: before)
      changes = differences(from: before)
      return (StoreUndoRecord(to: before.mark, .replaced(before)), changes)
    }
    let schema = schema.go(to: undoRecord.mark.schema)
    return (StoreUndoRecord(to: StoreMark(nextID: id, nextRow: row, schema: schema), step), changes)
  }

  private func liveRows(in ranges: [Range<UInt32>]) -> [UInt32] {
    var rows: [UInt32] = []
    rows.reserveCapacity(ranges.reduce(0) { $0 + $1.count })
    for row in ranges.joined() where self[row] != nil { rows.append(row) }
    return rows
  }

  /// Restores old values, the last one first.
  ///
  /// - Returns: The values before.
  private mutating func restore(_ values: OldValues, selection: Bool) -> OldValues {
    var old = OldValues()
    for cell in values.cells.reversed() where selection || cell.member != .isSelected {
      set(cell.member, Int(cell.column), of: cell.row, to: cell.value, recording: &old)
    }
    var moves = Moves()
    old.reserveGeometries(values.geometryRows.count)
    for (index, row) in values.geometryRows.enumerated().reversed() {
      move(row, &moves, &old) { $0.setGeometry(values.geometries, index, at: $1) }
    }
    apply(moves)
    return old
  }
}
