// Live features: what a feed sends replaces rows in place, and is removed for good. Nothing is recorded for undo.

import Geometry
import SpatialIndex

extension FeatureStore {
  /// Replaces geometry and attributes of existing features by rows of a batch; a feature may occur once.
  ///
  /// - Parameter rows: rows of the batch, with the ids of the features. Unknown ids are skipped.
  /// - Complexity: O(k log n), and a copy of the changed columns for each chunk shared with a snapshot.
  public mutating func assign(_ batch: FeatureBatch, _ rows: [(source: Int, id: Int)]) {
    var numbers: [Int] = []
    for column in batch.columns {
      let number = schema.add(column.name)
      schema.note(column.seen, in: number)
      numbers.append(number)
    }
    var places: [(row: UInt32, source: Int)] = []
    places.reserveCapacity(rows.count)
    for each in rows {
      if let row = row(of: each.id) { places.append((row, each.source)) }
    }
    places.sort { $0.row < $1.row }
    var (old, new) = (IndexedRows(), IndexedRows())
    old.reservePoints(places.count)
    new.reservePoints(places.count)
    for (row, source) in places {
      guard let slot = slot(of: row) else { continue }
      let chunk = slots[slot].owned()
      let index = Int(row - slots[slot].base)
      let before = chunk.geometry.indexed(index)
      chunk.assign(batch, source, numbers: numbers, at: index)
      slots[slot].noteStamp()
      let after = chunk.geometry.indexed(index)
      guard before != after else { continue }
      old.add(row, before)
      new.add(row, after)
    }
    reindex(removing: old, adding: new)
  }

  /// Removes features for good; unknown ids are skipped.
  public mutating func discard(_ ids: [Int]) {
    guard !ids.isEmpty else { return }
    for row in removeRows(rows(of: ids)).rows { withChunk(of: row) { chunk, _ in chunk.discard(1) } }
  }

  /// Removes all features for good.
  public mutating func discardAll() { clear() }

  /// Puts features of neighbouring chunks into one chunk, if few of the rows in use have a feature: one that stays long keeps the memory
  /// of a whole chunk. If row numbers run out, all features get new ones.
  ///
  /// - Parameter coming: number of features about to be added, with which the work grows, so that it keeps up.
  /// - Complexity: O(chunks + coming); O(n) after two thousand million additions.
  public mutating func compact(for coming: Int = 0) {
    guard nextRow <= 1 << 31 else { return renumber() }
    for _ in 0...coming / (4 * FeatureChunk.capacity) {
      guard slots.count * FeatureChunk.capacity > 8 * (count + FeatureChunk.capacity), let run = sparsestRun else { return }
      merge(run)
    }
  }

  /// The most neighbouring chunks of which one chunk holds all features; nil if there are no two. The last one may grow.
  private var sparsestRun: Range<Int>? {
    var (best, start, live) = (0..<0, 0, 0)
    for (end, slot) in slots.dropLast().enumerated() {
      live += slot.chunk.live
      while start <= end, live > FeatureChunk.capacity || !slot.chunk.isOrdered {
        live -= slots[start].chunk.live
        start += 1
      }
      if end + 1 - start > best.count { best = start..<end + 1 }
    }
    return best.count > 1 ? best : nil
  }

  private mutating func merge(_ run: Range<Int>) {
    let (base, names) = (slots[run.lowerBound].base, Array(schema.names))
    var batch = FeatureBatch()
    var (rows, selected) = ([UInt32](), [Int]())
    for slot in slots[run] {
      for index in 0..<slot.chunk.count where slot.chunk.isLive(index) {
        guard let feature = self[slot.base + UInt32(index)] else { continue }
        if feature.isSelected { selected.append(rows.count) }
        rows.append(feature.row)
        batch.append(feature, id: feature.id, columns: names)
      }
    }
    guard let first = batch.ids.first, let last = batch.ids.last else { return }
    _ = removeRows(rows)
    let chunk = FeatureChunk()
    chunk.append(batch, 0..<rows.count, ids: batch.ids[...], numbers: batch.columns.map { schema.add($0.name) })
    for index in selected { chunk.selected[index] = true }
    slots.insert(Slot(base: base, chunk: chunk), at: run.lowerBound)
    slots[run.lowerBound].noteStamp()
    orderedIDs.insert(OrderedIDs(base: base, first: first, last: last), at: orderedIDs.partitioningIndex { $0.base > base })
    count += rows.count
    guard lateIndex == nil else { return }
    var added = IndexedRows()
    for index in rows.indices { added.add(base + UInt32(index), chunk.geometry.indexed(index)) }
    reindex(removing: IndexedRows(), adding: added)
  }

  private mutating func renumber() {
    let names = Array(schema.names)
    var fresh = FeatureStore(columns: names.indices.map { (names[$0], schema.declaredType(of: $0)) })
    if lateIndex != nil { fresh.lateIndex = LateIndex() }
    var batch = FeatureBatch()
    forEach { feature in
      batch.append(feature, id: feature.id, columns: names)
      return true
    }
    guard (try? fresh.append(batch)) != nil else { return }
    fresh.nextID = nextID
    fresh.keepSelection(of: self)
    self = fresh
  }

  /// The first features in order of insertion.
  public func first(_ count: Int) -> [FeatureRow] {
    var rows: [FeatureRow] = []
    guard count > 0 else { return rows }
    forEach { row in
      rows.append(row)
      return rows.count < count
    }
    return rows
  }
}
