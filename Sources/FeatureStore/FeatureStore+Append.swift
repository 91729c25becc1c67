// Addition of features: a whole batch or nothing.

import Geometry
import SpatialIndex

/// The ids of added features.
public struct AddedFeatures: Hashable, Sendable {
  /// The first of the minted ids, which are consecutive; nil if none was minted.
  public let firstID: Int?
  /// The ids given by the batch.
  public let named: [Int]
  public let count: Int
}

extension FeatureStore {
  /// Adds a batch after the existing features.
  ///
  /// - Throws: ``StoreFailure`` with each row whose id is out of range, taken or repeated; the store is then unchanged.
  /// - Complexity: O(k) plus O(k log n) for the index; about 0.5 microseconds for a point with three attributes.
  @discardableResult
  public mutating func append(_ batch: FeatureBatch) throws(StoreFailure) -> AddedFeatures {
    guard batch.count > 0 else { return AddedFeatures(firstID: nil, named: [], count: 0) }
    guard Int(nextRow) + batch.count < Int(UInt32.max) - FeatureChunk.capacity else { throw StoreFailure(.tooManyRows) }
    if let column = (batch.columns + [batch.symbols]).first(where: \.isOverfull) {
      throw StoreFailure(.textTooLarge(column: column.name))
    }
    let unknown = batch.columns.count { schema.column(named: $0.name) == nil }
    guard schema.count + unknown <= Self.columnLimit else {
      throw StoreFailure(.tooManyColumns(limit: Self.columnLimit))
    }
    let ids = try idsToAppend(batch)

    // Nothing can fail from here on.
    var numbers: [Int] = []
    for column in batch.columns {
      let number = schema.add(column.name)
      schema.note(column.seen, in: number)
      numbers.append(number)
    }
    let firstRow = appendRows(batch, ids: ids, numbers: numbers)
    for (row, zIndex) in batch.zIndexes { withChunk(of: firstRow + UInt32(row)) { $0.setZIndex(zIndex, at: $1) } }
    if batch.zIndexes.contains(where: { $0.zIndex != 0 }) { hasZIndexes = true }
    for row in batch.hidden { withChunk(of: firstRow + UInt32(row)) { $0.hidden[$1] = true } }
    for row in batch.selected { withChunk(of: firstRow + UInt32(row)) { $0.selected[$1] = true } }
    insertIntoIndex(batch, from: firstRow)
    count += batch.count
    let named = batch.ids.filter { $0 != -1 }
    return AddedFeatures(
      firstID: batch.ids.isEmpty ? ids.first : batch.ids.firstIndex(of: -1).map { ids[$0] }, named: named,
      count: batch.count)
  }

  /// As ``append(_:)``, with an undo record.
  public mutating func append(
    _ batch: FeatureBatch, recording undoRecord: inout StoreUndoRecord?
  ) throws(StoreFailure) -> AddedFeatures {
    let mark = mark
    let added = try append(batch)
    let first = nextRow - UInt32(added.count)
    undoRecord = StoreUndoRecord(mark: mark, step: .added(added.count > 0 ? [first..<nextRow] : []))
    return added
  }

  private mutating func appendRows(_ batch: FeatureBatch, ids: [Int], numbers: [Int]) -> UInt32 {
    // The row numbers of a chunk that was dropped half-full stay unused.
    if slots.last.map({ $0.base + UInt32($0.chunk.count) != nextRow }) ?? true {
      let capacity = UInt32(FeatureChunk.capacity)
      nextRow = (nextRow + capacity - 1) / capacity * capacity
    }
    let firstRow = nextRow
    var done = 0
    while done < batch.count {
      if slots.last.map({ $0.chunk.count == FeatureChunk.capacity || $0.base + UInt32($0.chunk.count) != nextRow })
        ?? true
      {
        slots.append(Slot(base: nextRow, chunk: FeatureChunk()))
      }
      let slot = slots.count - 1
      let chunk = slots[slot].owned()
      let rows = done..<min(batch.count, done + FeatureChunk.capacity - chunk.count)
      noteIDs(ids[rows], of: chunk, from: chunk.count, base: slots[slot].base)
      chunk.append(batch, rows, ids: ids[rows], numbers: numbers)
      slots[slot].noteStamp()
      nextRow += UInt32(rows.count)
      done = rows.upperBound
    }
    return firstRow
  }

  private mutating func insertIntoIndex(_ batch: FeatureBatch, from firstRow: UInt32) {
    let geometry = batch.geometry
    if var reach = lateIndex?.reach {
      for row in 0..<batch.count { if let entry = geometry.indexed(row) { reach.include(entry.envelope) } }
      lateIndex = LateIndex(reach: reach)
      return
    }
    var rows = IndexedRows()
    if geometry.isPacked { rows.reservePoints(batch.count) }
    for row in 0..<batch.count { rows.add(firstRow + UInt32(row), geometry.indexed(row)) }
    reindex(removing: IndexedRows(), adding: rows)
  }

  // MARK: Ids

  /// The batch's ids, with minted ones for rows without, all checked.
  private func idsToAppend(_ batch: FeatureBatch) throws(StoreFailure) -> [Int] {
    guard !batch.ids.isEmpty else {
      guard nextID + batch.count <= Self.idLimit else { throw StoreFailure(.noIDsLeft) }
      return Array(nextID..<nextID + batch.count)
    }
    var ids = batch.ids
    var failures: [StoreFailure.Item] = []
    let range = 0..<Self.idLimit
    // Minted ids are above all given ones.
    var minted = max(nextID, (ids.lazy.filter { range.contains($0) }.max() ?? -1) + 1)
    var known: Set<Int> = []
    let isAscending = ids[...].isAscending && !ids.contains(-1)
    for index in ids.indices {
      let id = ids[index]
      if id == -1 {
        guard minted < Self.idLimit else { throw StoreFailure(.noIDsLeft, at: index) }
        ids[index] = minted
        minted += 1
      } else if !range.contains(id) {
        failures.append(.init(index: index, error: .idOutOfRange(id)))
      } else if !isAscending, !known.insert(id).inserted {
        failures.append(.init(index: index, error: .idRepeated(id)))
      } else if id < nextID, contains(id: id) {
        failures.append(.init(index: index, error: .idExists(id)))
      }
    }
    guard failures.isEmpty else { throw StoreFailure(failures) }
    return ids
  }

  /// Registers the ids of rows that are about to be added to a chunk.
  ///
  /// - Parameter count: the number of rows that the chunk has before.
  mutating func noteIDs(_ ids: ArraySlice<Int>, of chunk: FeatureChunk, from count: Int, base: UInt32) {
    guard let first = ids.first, let last = ids.last, let greatest = ids.max() else { return }
    nextID = max(nextID, greatest + 1)
    if chunk.isOrdered, first > orderedIDs.last?.last ?? -1, ids.isAscending {
      if orderedIDs.last?.base == base {
        orderedIDs[orderedIDs.count - 1].last = last
      } else {
        orderedIDs.append(OrderedIDs(base: base, first: first, last: last))
      }
      return
    }
    if chunk.isOrdered {
      // Ids stop ascending inside the chunk, so all of its ids become exceptions.
      chunk.isOrdered = false
      if orderedIDs.last?.base == base { orderedIDs.removeLast() }
      for row in 0..<count where chunk.isLive(row) { otherIDs[chunk.ids[row]] = base + UInt32(row) }
    }
    let start = base + UInt32(count)
    for (row, id) in ids.enumerated() { otherIDs[id] = start + UInt32(row) }
  }
}

extension ArraySlice<Int> {
  fileprivate var isAscending: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }
}
