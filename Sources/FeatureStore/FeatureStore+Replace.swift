// Replacement of all features by a batch, and the difference it makes.

import Geometry

/// The result of ``FeatureStore/replace(with:recording:)``.
public struct ReplacedFeatures: Hashable, Sendable {
  /// The ids of the batch.
  public let batch: AddedFeatures
  /// The differences. A feature that only changed its position in the drawing order is not included.
  public let changes: ChangedFeatures
}

extension FeatureStore {
  /// Removes all features and adds a batch, which may reuse the removed ids. Features that exist before and after stay selected.
  ///
  /// - Parameter undoRecord: nil if there is no difference, including the order.
  /// - Throws: ``StoreFailure`` with each row whose id is out of range or repeated; the store is then unchanged.
  /// - Complexity: O(n + k log k) for n removed and k added features.
  public mutating func replace(
    with batch: FeatureBatch, recording undoRecord: inout StoreUndoRecord?
  ) throws(StoreFailure) -> ReplacedFeatures {
    let before = self
    clear()
    let added: AddedFeatures
    do throws(StoreFailure) { added = try append(batch) } catch {
      self = before
      throw error
    }
    undoRecord = StoreUndoRecord(mark: before.mark, step: .replaced(before, until: nextRow))
    for id in before.selectedIDs { setSelected(true, id: id) }
    let changes = differences(from: before)
    if changes.isEmpty, hasOrder(of: before) {
      self = before
      undoRecord = nil
    }
    return ReplacedFeatures(batch: added, changes: changes)
  }

  /// The differences from `before`; columns have the same numbers in both.
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
    changes.removed = before.ids.filter { !contains(id: $0) }
    return changes
  }

  /// Selects the features that are selected in `other`, and deselects those that are in `other` and not selected there.
  mutating func keepSelection(of other: FeatureStore) {
    for id in selectedIDs where other.feature(id: id)?.isSelected == false { setSelected(false, id: id) }
    for id in other.selectedIDs { setSelected(true, id: id) }
  }

  private mutating func setSelected(_ isSelected: Bool, id: Int) {
    if let row = row(of: id) { withChunk(of: row) { $0.selected[$1] = isSelected } }
  }

  private func hasOrder(of other: FeatureStore) -> Bool {
    guard count == other.count else { return false }
    let (mine, theirs) = (rowsAscending { _ in }, other.rowsAscending { _ in })
    return zip(mine, theirs).allSatisfy { self[$0]?.id == other[$1]?.id }
  }
}

extension FeatureRow {
  /// Whether all observable values except the row are equal; columns have the same numbers in both.
  func isSame(as other: FeatureRow) -> Bool {
    guard zIndex == other.zIndex, isVisible == other.isVisible, isSelected == other.isSelected else { return false }
    guard Text(symbol) == Text(other.symbol), geometry == other.geometry else { return false }
    return chunk.columnNumbers.allSatisfy { value($0) == other.value($0) }
      && other.chunk.columnNumbers.allSatisfy { chunk.index(of: $0) != nil || other.value($0) == .null }
  }
}
