// Removal and restoration of features: whole chunks where all rows go, else one bit per row.

import Geometry

/// Removed rows with the data needed to restore them; values remain in the chunks.
struct RemovedRows: Sendable {
  struct Chunk: Sendable {
    /// As before the removal.
    let slot: FeatureStore.Slot
    let ids: FeatureStore.OrderedIDs?
  }

  /// Chunks with no rows left, by ascending base.
  var chunks: [Chunk] = []
  /// Rows of remaining chunks, ascending.
  var rows: [UInt32] = []
  /// The selected ones of ``rows``.
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
  public mutating func remove(_ ids: [Int]) throws(StoreFailure) {
    _ = removeRows(try rows(of: ids, mayRepeat: false).ascendingOnce())
  }

  /// As ``remove(_:)``, with an undo record.
  public mutating func remove(_ ids: [Int], recording undoRecord: inout StoreUndoRecord?) throws(StoreFailure) {
    let mark = mark
    let rows = try rows(of: ids, mayRepeat: false).ascendingOnce()
    undoRecord = StoreUndoRecord(to: mark, .removed(removeRows(rows)))
  }

  /// Removes everything. Minted ids and fields continue.
  public mutating func removeAll() {
    slots = []
    orderedIDs = []
    otherIDs = [:]
    index = SpatialIndex()
    count = 0
    raised = 0
  }

  /// As ``removeAll()``, with an undo record.
  public mutating func removeAll(recording undoRecord: inout StoreUndoRecord?) {
    undoRecord = StoreUndoRecord(to: mark, .replaced(self))
    removeAll()
  }

  /// Removes features by ascending rows.
  mutating func removeRows(_ rows: [UInt32]) -> RemovedRows {
    var removed = RemovedRows()
    var change = IndexChange()
    var emptied: [Int] = []
    var start = 0
    while start < rows.count {
      guard let number = slot(of: rows[start]) else { break }
      let base = slots[number].base
      let end = rows.end(ofChunkAt: base, from: start)
      leave(rows[start..<end], of: number, &change)
      if slots[number].chunk.live == end - start {
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
    change.remove(from: &index)
    count -= rows.count
    drop(emptied, &removed)
    return removed
  }

  /// Removes rows of one chunk from everything beside the chunk and the index: ids, selection, zIndexes.
  private mutating func leave(_ rows: ArraySlice<UInt32>, of number: Int, _ change: inout IndexChange) {
    let chunk = slots[number].chunk
    for row in rows {
      let place = Int(row - slots[number].base)
      change.add(row, chunk.geometry.indexed(place))
      if chunk.zIndex(at: place) != 0 { raised -= 1 }
      if !chunk.isOrdered { otherIDs[chunk.ids[place]] = nil }
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
    slots.merge(chunks.map(\.slot)) { $0.base < $1.base }
    orderedIDs.merge(chunks.compactMap(\.ids)) { $0.base < $1.base }
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
    var change = IndexChange()
    for row in rows {
      guard let feature = self[row] else { continue }
      change.add(row, feature.chunk.geometry.indexed(feature.place))
      if feature.zIndex != 0 { raised += 1 }
      if !feature.chunk.isOrdered { otherIDs[feature.id] = row }
    }
    change.insert(into: &index)
    count += rows.count
    return rows
  }

  /// Releases row numbers at the end for reuse. No features have them.
  mutating func truncate(to row: UInt32) {
    guard row < nextRow else { return }
    nextRow = row
    guard let last = slots.last, Int(row) - Int(last.base) < last.chunk.count, row > last.base else { return }
    let chunk = slots[slots.count - 1].owned()
    chunk.truncate(to: Int(row - last.base))
    if orderedIDs.last?.base == last.base { orderedIDs[orderedIDs.count - 1].last = chunk.ids[chunk.count - 1] }
  }
}

extension [UInt32] {
  /// The end of the rows of the chunk that begins at `base`.
  fileprivate func end(ofChunkAt base: UInt32, from start: Int) -> Int {
    let next = Int(base) + FeatureChunk.capacity
    var end = start + 1
    while end < count, Int(self[end]) < next { end += 1 }
    return end
  }
}

extension Array {
  /// Merges `others`; both are sorted, and so is the result.
  fileprivate mutating func merge(_ others: [Element], by isBefore: (Element, Element) -> Bool) {
    guard let first = others.first else { return }
    if let last, isBefore(first, last) {
      var merged: [Element] = []
      merged.reserveCapacity(count + others.count)
      var next = 0
      for element in self {
        while next < others.count, isBefore(others[next], element) {
          merged.append(others[next])
          next += 1
        }
        merged.append(element)
      }
      self = merged + others[next...]
    } else {
      self += others
    }
  }
}
