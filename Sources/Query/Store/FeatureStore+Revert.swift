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
    case .changed(let values):
      var none: OldValues?
      restore(values, recording: &none, selection: true)
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
      changes.removed = ids(of: rows)
      step = .removed(removeRows(rows))
    case .removed(let removed):
      let rows = restoreRows(removed)
      changes.added = ids(of: rows)
      step = .added(rows.runs)
    case .changed(let values):
      changes.updated = ids(of: values.rows)
      var inverse: OldValues? = OldValues()
      restore(values, recording: &inverse, selection: false)
      step = .changed(inverse ?? OldValues())
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

  private func ids(of rows: [UInt32]) -> [Int] { rows.compactMap { self[$0]?.id } }

  /// Restores old values, the last one first.
  private mutating func restore(_ values: OldValues, recording old: inout OldValues?, selection: Bool) {
    for cell in values.attributes.reversed() {
      withChunk(of: cell.row) {
        old?.noteAttribute($0, Int(cell.column), $1, cell.row)
        $0.set(cell.value, column: Int(cell.column), at: $1)
      }
    }
    for cell in values.symbols.reversed() {
      withChunk(of: cell.row) {
        old?.noteSymbol($0, $1, cell.row)
        $0.symbols.set(cell.value, at: $1)
      }
    }
    for (row, value) in values.zIndexes.reversed() { setZIndex(value, at: row, recording: &old) }
    for (row, value) in values.hidden.reversed() { setHidden(value, at: row, recording: &old) }
    if selection {
      for (row, value) in values.selected.reversed() { setSelected(value, at: row, recording: &old) }
    }
    restoreGeometries(values, recording: &old)
  }

  private mutating func restoreGeometries(_ values: OldValues, recording old: inout OldValues?) {
    var moves = Moves()
    old?.reserveGeometries(values.geometryRows.count)
    for index in values.geometryRows.indices.reversed() {
      let row = values.geometryRows[index]
      moves.note(row, indexed(row))
      withChunk(of: row) {
        old?.noteGeometry($0, $1, row)
        $0.setGeometry(values.geometries, index, at: $1)
      }
    }
    apply(moves)
  }
}
