// How all features give way to others at once, and what that means for those that are in both.

import Geometry

/// What came of ``FeatureStore/replace(with:)``.
public struct ReplacedFeatures: Hashable, Sendable {
  /// The ids of the batch.
  public let batch: AddedFeatures
  /// What differs from before. A feature that has only another place in the order of drawing is not in it.
  public let changes: ChangedFeatures
}

extension FeatureStore {
  /// Removes everything and adds a batch, whose ids may be ids that go. Who is in both stays selected.
  ///
  /// - Throws: ``StoreFailure`` naming each row whose id is out of range or repeated; the store is then unchanged.
  /// - Complexity: O(n + k log k) for n features that go and k that come.
  public mutating func replace(with batch: FeatureBatch) throws(StoreFailure) -> ReplacedFeatures {
    var undoRecord: StoreUndoRecord?
    return try replace(with: batch, recording: &undoRecord)
  }

  /// As ``replace(with:)``, with what takes it back; nil when nothing differs, not even the order.
  public mutating func replace(
    with batch: FeatureBatch, recording undoRecord: inout StoreUndoRecord?
  ) throws(StoreFailure) -> ReplacedFeatures {
    let before = self
    removeAll()
    let added: AddedFeatures
    do throws(StoreFailure) { added = try append(batch) } catch {
      self = before
      throw error
    }
    for id in before.selectedIDs {
      if let row = row(of: id) { withChunk(of: row) { $0.selected[$1] = true } }
    }
    let changes = differences(from: before)
    if changes.isEmpty, hasOrder(of: before) {
      self = before
      undoRecord = nil
    } else {
      undoRecord = StoreUndoRecord(to: before.mark, .replaced(before))
    }
    return ReplacedFeatures(batch: added, changes: changes)
  }

  /// What became of features on the way from `before`, whose columns have the same numbers.
  func differences(from before: FeatureStore) -> ChangedFeatures {
    var changes = ChangedFeatures()
    forEach { feature in
      if let old = before.feature(id: feature.id) {
        if !feature.isSame(as: old) { changes.updated.append(feature.id) }
      } else {
        changes.added.append(feature.id)
      }
      return true
    }
    guard changes.added.count < count || !before.isEmpty else { return changes }
    before.forEach { feature in
      if !contains(id: feature.id) { changes.removed.append(feature.id) }
      return true
    }
    return changes
  }

  /// Makes those selected that are in `other` and are selected there, and the others in it not.
  mutating func keepSelection(of other: FeatureStore) {
    for id in selectedIDs where other.feature(id: id)?.isSelected == false { setSelected(false, id: id) }
    for id in other.selectedIDs { setSelected(true, id: id) }
  }

  private mutating func setSelected(_ isSelected: Bool, id: Int) {
    if let row = row(of: id) { withChunk(of: row) { $0.selected[$1] = isSelected } }
  }

  private func hasOrder(of other: FeatureStore) -> Bool {
    guard count == other.count else { return false }
    let (mine, theirs) = (allRows(), other.allRows())
    return zip(mine, theirs).allSatisfy { self[$0]?.id == other[$1]?.id }
  }
}

extension FeatureRow {
  /// Whether all that can be asked of it is equal, its row aside; the columns of both have the same numbers.
  func isSame(as other: FeatureRow) -> Bool {
    guard zIndex == other.zIndex, isVisible == other.isVisible, isSelected == other.isSelected else { return false }
    guard Text(symbol) == Text(other.symbol), geometry == other.geometry else { return false }
    return chunk.columnNumbers.allSatisfy { value($0) == other.value($0) }
      && other.chunk.columnNumbers.allSatisfy { chunk.place(of: $0) != nil || other.value($0) == .null }
  }
}
