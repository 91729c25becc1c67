// Reversal of edits: exactly (rollback), or as undo and redo do it.

import Geometry

extension FeatureStore {
  /// Restores the store as it was before the edit, including selection, fields and the next id to be minted. For a change that
  /// fails half way.
  ///
  /// - Complexity: that of the edit.
  public mutating func rollBack(_ undoRecord: consuming StoreUndoRecord) {
    if case .replaced(let store, _) = undoRecord.step {
      self = store
      return
    }
    rollBack(undoRecord.step)
    truncate(to: undoRecord.mark.nextRow)
    nextID = undoRecord.mark.nextID
    _ = schema.go(to: undoRecord.mark.schema)
  }

  private mutating func rollBack(_ step: StoreUndoRecord.Step) {
    switch step {
    case .added(let rows): _ = removeRows(liveRows(in: rows))
    case .removed(let removed): _ = restoreRows(removed)
    case .changed(let values): _ = restore(values, selection: true)
    case .replaced: break
    case .several(let steps): for step in steps.reversed() { rollBack(step) }
    }
  }

  /// Reverts an edit as undo does: ids are not minted again, and remaining features keep their selection.
  ///
  /// - Returns: The record that reverts the reversal, and the affected features.
  /// - Complexity: that of the edit.
  public mutating func revert(_ undoRecord: consuming StoreUndoRecord) -> (StoreUndoRecord, ChangedFeatures) {
    var changes = ChangedFeatures()
    let (id, row) = (nextID, nextRow)
    let isCurrent = undoRecord.mark.liveEdits == liveEdits
    if isCurrent, case .replaced(let store, _) = undoRecord.step { return replaceAll(by: store) }
    let step = revert(undoRecord.step, &changes, isCurrent: isCurrent)
    let schema = schema.isPinned ? schema.mark : schema.go(to: undoRecord.mark.schema)
    return (
      StoreUndoRecord(
        mark: StoreMark(nextID: id, nextRow: row, schema: schema, liveEdits: liveEdits), step: step), changes
    )
  }

  private mutating func replaceAll(by store: FeatureStore) -> (StoreUndoRecord, ChangedFeatures) {
    let before = self
    self = store
    nextID = before.nextID
    nextRow = before.nextRow
    if before.schema.isPinned { schema = before.schema }
    keepSelection(of: before)
    return (StoreUndoRecord(mark: before.mark, step: .replaced(before, until: nextRow)), differences(from: before))
  }

  /// - Parameter isCurrent: whether no live edit has been made since the step.
  /// - Returns: the step that reverts the reversal.
  private mutating func revert(
    _ step: StoreUndoRecord.Step, _ changes: inout ChangedFeatures, isCurrent: Bool
  ) -> StoreUndoRecord.Step {
    switch step {
    case .added(let ranges):
      let rows = liveRows(in: ranges)
      changes.removed = ids(of: rows) { _ in }
      return .removed(removeRows(rows))
    case .removed(let removed):
      let rows = isCurrent ? restoreRows(removed) : restoreFreeRows(removed)
      changes.added = ids(of: rows) { _ in }
      return .added(rows.runs)
    case .changed(let values):
      changes.updated = ids(of: values.rows) { _ in }
      return .changed(restore(values, selection: false))
    case .replaced(let store, let end):
      let before = self
      let step = exchange(store, until: end)
      changes = differences(from: before)
      return step
    case .several(let steps):
      let before = self
      let inverses = steps.reversed().map { revert($0, &changes, isCurrent: isCurrent) }
      changes = differences(from: before)
      return .several(inverses)
    }
  }

  private func liveRows(in ranges: [Range<UInt32>]) -> [UInt32] {
    var rows: [UInt32] = []
    rows.reserveCapacity(ranges.reduce(0) { $0 + $1.count })
    for row in ranges.joined() where self[row] != nil { rows.append(row) }
    return rows
  }

  /// Restores old values of existing features, the last one first.
  ///
  /// - Returns: The values that were replaced.
  private mutating func restore(_ values: OldValues, selection: Bool) -> OldValues {
    var old = OldValues()
    for cell in values.cells.reversed()
    where (selection || cell.member != .isSelected) && self[cell.row] != nil {
      set(cell.member, Int(cell.column), of: cell.row, to: cell.value, recording: &old)
    }
    var moves = Moves()
    old.reserveGeometries(values.geometryRows.count)
    for (index, row) in values.geometryRows.enumerated().reversed() where self[row] != nil {
      move(row, &moves, &old) { $0.setGeometry(values.geometries, index, at: $1) }
    }
    apply(moves)
    return old
  }
}
