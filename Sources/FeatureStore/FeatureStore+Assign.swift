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

  /// Gives all features new rows if few of the rows in use have one, or if row numbers run out. A feature that stays long keeps the
  /// memory of a whole chunk.
  ///
  /// - Complexity: O(n) if it happens, which it does after at least seven times as many removals, or two thousand million additions.
  public mutating func compact() {
    let rows = slots.count * FeatureChunk.capacity
    guard rows > 8 * (count + FeatureChunk.capacity) || nextRow > 1 << 31 else { return }
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
