// Live edits: edits without a step of history. Records of earlier steps are later applied to a store that live edits have
// changed.

extension FeatureStore {
  /// Prepares for a live edit. Attributes keep their numbers from now on, since records refer to them.
  ///
  /// - Parameter names: the attributes that redo adds, in that order; evaluated once.
  public mutating func beginLiveEdit(adding names: @autoclosure () -> [String]) {
    if !schema.isPinned { schema.pin(adding: names()) }
  }

  /// Ends a live edit, which cannot be reverted: features that it removed are discarded; features that steps removed stay
  /// restorable.
  ///
  /// - Complexity: that of the edit.
  public mutating func endLiveEdit(_ undoRecord: StoreUndoRecord) {
    liveEdits += 1
    switch undoRecord.step {
    case .removed(let removed):
      for row in removed.rows { withChunk(of: row) { chunk, _ in chunk.discard(1) } }
      keepRestorableRows(of: removed.chunks.map(\.slot))
    case .replaced(let store, _): keepRestorableRows(of: store.slots)
    case .added, .changed, .several: break
    }
  }

  /// Keeps the dropped chunks that contain rows removed by steps, which history may restore.
  private mutating func keepRestorableRows(of dropped: [Slot]) {
    var kept = dropped.filter(\.chunk.hasRestorableRows)
    guard !kept.isEmpty else { return }
    for index in kept.indices {
      let chunk = kept[index].owned()
      for row in 0..<chunk.count where chunk.isLive(row) {
        chunk.remove(row)
        chunk.discard(1)
      }
      chunk.isOrdered = false
    }
    insert(kept)
  }

  /// Restores rows, except those whose ids live edits have given to other features.
  ///
  /// - Returns: The restored rows, ascending.
  mutating func restoreFreeRows(_ removed: RemovedRows) -> [UInt32] {
    var free = RemovedRows()
    for var chunk in removed.chunks where slot(of: chunk.slot.base) == nil {
      let taken = (0..<chunk.slot.chunk.count).filter { row in
        chunk.slot.chunk.isLive(row) && contains(id: chunk.slot.chunk.ids[row])
      }
      if !taken.isEmpty { chunk = chunk.without(taken) }
      free.chunks.append(chunk)
    }
    free.rows = removed.rows.filter { row in
      guard let slot = slot(of: row) else { return false }
      return !contains(id: slots[slot].chunk.ids[Int(row - slots[slot].base)])
    }
    let rows = Set(free.rows)
    free.selected = removed.selected.filter(rows.contains)
    return restoreRows(free)
  }

  /// Makes the ids of restored chunks exceptions if other chunks' ids are between them.
  ///
  /// - Parameter restored: the bases of the chunks.
  mutating func dropOrder(of restored: Set<UInt32>) {
    var kept: [OrderedIDs] = []
    var next = orderedIDs.filter { !restored.contains($0.base) }[...]
    for ids in orderedIDs {
      if next.first?.base == ids.base { next.removeFirst() }
      let fits = kept.last.map { $0.last < ids.first } ?? true && next.first.map { ids.last < $0.first } ?? true
      if !restored.contains(ids.base) || fits {
        kept.append(ids)
      } else {
        withChunk(of: ids.base) { chunk, _ in chunk.isOrdered = false }
      }
    }
    orderedIDs = kept
  }

  /// Replaces the features with rows before `end` by those of a store; later rows were added by live edits, and stay.
  ///
  /// - Returns: The step that reverts the exchange.
  mutating func exchange(_ store: FeatureStore, until end: UInt32) -> StoreUndoRecord.Step {
    let before = self
    let removed = removeRows(rowsAscending { _ in }.filter { $0 < end })
    let ids = Dictionary(store.orderedIDs.map { ($0.base, $0) }) { $1 }
    var old = RemovedRows()
    old.chunks = store.slots.map { RemovedRows.Chunk(slot: $0, ids: ids[$0.base]) }
    let restored = restoreFreeRows(old)
    if store.hasZIndexes { hasZIndexes = true }
    keepSelection(of: before)
    return .several([.removed(removed), .added(restored.runs)])
  }
}

extension StoreUndoRecord {
  /// Whether a later edit has changed a row that this one added or removed, or a value that it changed, or replaced everything.
  ///
  /// - Complexity: linear in both.
  public func meets(_ later: StoreUndoRecord) -> Bool {
    guard let mine = step.touched, let theirs = later.step.touched else { return true }
    return !mine.rows.isDisjoint(with: theirs.rows.union(theirs.written)) || !mine.written.isDisjoint(with: theirs.rows)
      || !mine.keys.isDisjoint(with: theirs.keys)
  }
}

extension StoreUndoRecord.Step {
  /// The rows that it adds or removes, those with changed values, and the keys of these values; nil for all.
  fileprivate var touched: (rows: Set<UInt32>, written: Set<UInt32>, keys: Set<UInt64>)? {
    switch self {
    case .added(let ranges): return (Set(ranges.joined()), [], [])
    case .removed(let removed):
      let dropped = removed.chunks.flatMap { chunk in
        (0..<chunk.slot.chunk.count).map { chunk.slot.base + UInt32($0) }
      }
      return (Set(removed.rows).union(dropped), [], [])
    case .changed(let values):
      // No attribute has the column 65,535 of a geometry.
      let geometries = values.geometryRows.map { UInt64($0) << 32 | 0xFFFF_FFFF }
      return ([], Set(values.rows), Set(geometries).union(values.cells.lazy.filter { $0.member != .isSelected }.map(\.key)))
    case .replaced: return nil
    case .several(let steps):
      var all: (rows: Set<UInt32>, written: Set<UInt32>, keys: Set<UInt64>) = ([], [], [])
      for step in steps {
        guard let touched = step.touched else { return nil }
        all.rows.formUnion(touched.rows)
        all.written.formUnion(touched.written)
        all.keys.formUnion(touched.keys)
      }
      return all
    }
  }
}

extension FeatureStore {
  /// Prepares for reverting an edit after which others have been made that stay: like live edits they have changed the store.
  public mutating func beginRevertingAlone(adding names: @autoclosure () -> [String]) {
    beginLiveEdit(adding: names())
    liveEdits += 1
  }
}

extension RemovedRows.Chunk {
  /// The chunk with some rows permanently removed.
  fileprivate func without(_ rows: [Int]) -> RemovedRows.Chunk {
    var slot = slot
    let chunk = slot.owned()
    for row in rows {
      chunk.remove(row)
      chunk.discard(1)
    }
    return RemovedRows.Chunk(slot: slot, ids: ids)
  }
}

/// Cells that live edits have written.
public struct WrittenCells: Sendable {
  private var geometries: Set<UInt32> = []
  /// Keys of the written cells other than geometries.
  private var cells: Set<UInt64> = []

  public init() {}

  /// Adds the cells that an edit has written.
  public mutating func add(_ undoRecord: StoreUndoRecord) {
    guard case .changed(let values) = undoRecord.step else { return }
    geometries.formUnion(values.geometryRows)
    for cell in values.cells where cell.member != .isSelected { cells.insert(cell.key) }
  }

  public mutating func add(_ other: WrittenCells) {
    geometries.formUnion(other.geometries)
    cells.formUnion(other.cells)
  }

  func contains(geometryOf row: UInt32) -> Bool { geometries.contains(row) }
  func contains(_ cell: OldValues.Cell) -> Bool { cells.contains(cell.key) }
}

extension StoreUndoRecord {
  /// The record without changes to the given cells.
  public func without(_ cells: WrittenCells) -> StoreUndoRecord {
    guard case .changed(let values) = step else { return self }
    return StoreUndoRecord(mark: mark, step: .changed(values.without(cells)))
  }
}
