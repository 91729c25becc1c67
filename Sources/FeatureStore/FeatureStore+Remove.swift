// Removal and restoration of features: whole chunks if all of their rows are removed, else one bit per row.

import Geometry
import Sorting
import SpatialIndex

/// Removed rows with the data needed to restore them; values remain in the chunks.
struct RemovedRows: Sendable {
  struct Chunk: Sendable {
    /// The slot before the removal.
    let slot: FeatureStore.Slot
    let ids: FeatureStore.OrderedIDs?
  }

  /// Dropped chunks, which had no rows left, by ascending base.
  var chunks: [Chunk] = []
  /// Rows of remaining chunks, ascending.
  var rows: [UInt32] = []
  /// The rows among ``rows`` that were selected.
  var selected: [UInt32] = []

  var count: Int { chunks.reduce(rows.count) { $0 + $1.slot.chunk.live } }
  var byteCount: Int {
    chunks.reduce((rows.count + selected.count) * 4) { $0 + $1.slot.chunk.byteCount + MemoryLayout<Chunk>.stride }
  }
}

extension FeatureStore {
  /// Removes features. Their ids are not minted again.
  ///
  /// - Throws: ``StoreFailure`` with each unknown or repeated id; the store is then unchanged.
  /// - Complexity: O(k log n) for k features.
  public mutating func remove(_ ids: [Int], recording undoRecord: inout StoreUndoRecord?) throws(StoreFailure) {
    let mark = mark
    let rows = try rows(of: ids, mayRepeat: false).ascendingOnce()
    undoRecord = StoreUndoRecord(mark: mark, step: .removed(removeRows(rows)))
  }

  /// Removes all features. Fields stay, and minted ids are not reused.
  public mutating func removeAll(recording undoRecord: inout StoreUndoRecord?) {
    // A store without features may have chunks with rows that steps can restore.
    guard !isEmpty else { return }
    undoRecord = StoreUndoRecord(mark: mark, step: .replaced(self, until: nextRow))
    clear()
  }

  mutating func clear() {
    slots = []
    orderedIDs = []
    otherIDs = [:]
    clearIndex()
    count = 0
    hasZIndexes = false
  }

  /// Removes features by ascending rows.
  mutating func removeRows(_ rows: [UInt32]) -> RemovedRows {
    var removed = RemovedRows()
    var change = IndexedRows()
    var emptied: [Int] = []
    var start = 0
    while start < rows.count {
      guard let number = slot(of: rows[start]) else { break }
      let base = slots[number].base
      let end = rows[start...].partitioningIndex { Int($0 - base) >= FeatureChunk.capacity }
      leave(rows[start..<end], of: number, &change)
      // Without live edits, any step that restores other rows of the chunk is applied after the one that restores the chunk.
      if slots[number].chunk.live == end - start, liveEdits == 0 || !slots[number].chunk.hasRestorableRows {
        // The chunk is dropped whole, unchanged.
        emptied.append(number)
      } else {
        let chunk = slots[number].owned()
        for row in rows[start..<end] {
          if chunk.selected[Int(row - base)] { removed.selected.append(row) }
          chunk.remove(Int(row - base))
        }
        removed.rows += rows[start..<end]
      }
      start = end
    }
    if let reach = lateIndex?.reach {
      lateIndex = LateIndex(reach: reach)
    } else {
      reindex(removing: change, adding: IndexedRows())
    }
    count -= rows.count
    drop(emptied, &removed)
    return removed
  }

  /// Removes the ids of rows of one chunk from the store, and collects their index entries.
  private mutating func leave(_ rows: ArraySlice<UInt32>, of number: Int, _ change: inout IndexedRows) {
    let chunk = slots[number].chunk
    for row in rows {
      let index = Int(row - slots[number].base)
      if lateIndex == nil { change.add(row, chunk.geometry.indexed(index)) }
      if !chunk.isOrdered { otherIDs[chunk.ids[index]] = nil }
    }
  }

  private mutating func drop(_ emptied: [Int], _ removed: inout RemovedRows) {
    guard !emptied.isEmpty else { return }
    let bases = Set(emptied.map { slots[$0].base })
    var ordered: [UInt32: OrderedIDs] = [:]
    for ids in orderedIDs where bases.contains(ids.base) { ordered[ids.base] = ids }
    removed.chunks = emptied.map { RemovedRows.Chunk(slot: slots[$0], ids: ordered[slots[$0].base]) }
    slots.removeAll { bases.contains($0.base) }
    orderedIDs.removeAll { bases.contains($0.base) }
  }

  /// Restores removed rows with all their data. Existing ones are skipped.
  ///
  /// - Returns: The restored rows, ascending.
  mutating func restoreRows(_ removed: RemovedRows) -> [UInt32] {
    let chunks = removed.chunks.filter { slot(of: $0.slot.base) == nil }
    if !chunks.isEmpty {
      insert(chunks.map(\.slot))
      orderedIDs += chunks.compactMap(\.ids)
      orderedIDs.sort { $0.base < $1.base }
      if liveEdits > 0 { dropOrder(of: Set(chunks.map(\.slot.base))) }
    }
    var rows: [UInt32] = []
    for slot in chunks.map(\.slot) {
      rows += (0..<slot.chunk.count).lazy.filter(slot.chunk.isLive).map { slot.base + UInt32($0) }
    }
    for row in removed.rows where self[row] == nil {
      withChunk(of: row) { $0.restore($1) }
      rows.append(row)
    }
    for row in removed.selected { withChunk(of: row) { $0.selected[$1] = true } }
    rows = rows.ascendingOnce()
    var change = IndexedRows()
    for row in rows {
      guard let feature = self[row] else { continue }
      change.add(row, feature.chunk.geometry.indexed(feature.index))
      if !feature.chunk.isOrdered { otherIDs[feature.id] = row }
    }
    reindex(removing: IndexedRows(), adding: change)
    count += rows.count
    return rows
  }

  /// Inserts chunks, given by ascending base.
  mutating func insert(_ chunks: [Slot]) {
    // The result has two sorted runs, which the standard library merges in O(n).
    slots += chunks
    slots.sort { $0.base < $1.base }
  }

  /// Makes row numbers at the end, which no feature has, available again.
  mutating func truncate(to row: UInt32) {
    guard row < nextRow else { return }
    nextRow = row
    guard let last = slots.last, Int(row) - Int(last.base) < last.chunk.count, row > last.base else { return }
    let chunk = slots[slots.count - 1].owned()
    chunk.truncate(to: Int(row - last.base))
    if orderedIDs.last?.base == last.base { orderedIDs[orderedIDs.count - 1].last = chunk.ids[chunk.count - 1] }
  }
}
