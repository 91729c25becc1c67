// The record that reverts an edit of a store. Its size is proportional to the edit, as it contains no copy of the store.

import SpatialIndex

/// Reverts one edit of a ``FeatureStore``; edits produce one on request.
///
/// Records are applied to the store that produced them, in reverse order. Between an edit and its reversal the store may only
/// change by edits that have been reverted, in selection, and by live edits, which leave no step
/// (``FeatureStore/beginLiveEdit(adding:)``).
///
/// There are two ways to revert. ``FeatureStore/rollBack(_:)`` restores the store as if the edit had not happened, including
/// selection, next minted id and fields. ``FeatureStore/revert(_:)`` is for undo and redo: features get back ids, positions and
/// values, but ids are not minted again, and features that exist before and after keep their selection.
///
/// A removed row keeps its values in its chunk, so that a removal records row numbers, and only chunks without remaining rows.
public struct StoreUndoRecord: Sendable {
  enum Step: Sendable {
    /// These rows were added.
    case added([Range<UInt32>])
    case removed(RemovedRows)
    case changed(OldValues)
    /// Everything was removed, and features may have been added since, up to a row.
    indirect case replaced(FeatureStore, until: UInt32)
    /// Several steps in sequence.
    indirect case several([Step])
  }

  /// Next id and fields of the store before the edit.
  private(set) var mark: StoreMark
  private(set) var step: Step

  /// Approximate memory in bytes that it holds alone, if no snapshot shares it.
  ///
  /// - Complexity: O(dropped chunks), and O(values that are texts or lines).
  public var byteCount: Int {
    MemoryLayout<Self>.size + step.byteCount
  }

  /// The names of the attributes that reverting this adds to the store.
  public var attributeNames: [String] {
    if case .replaced(let store, _) = step { store.schema.names } else { Array(mark.schema.names) }
  }

  /// Whether reverting this also reverts a later edit, whose record is then superfluous: both changed the same members of the
  /// same features, as the moves of a drag do.
  ///
  /// - Complexity: O(k).
  public func covers(_ later: StoreUndoRecord) -> Bool {
    guard case .changed(let mine) = step, case .changed(let theirs) = later.step else { return false }
    return mine.covers(theirs)
  }

  /// Merges the next edit's record into this one; false unless both change values of features.
  ///
  /// - Complexity: O(k) for k values in the next record.
  public mutating func absorb(_ next: StoreUndoRecord) -> Bool {
    guard case .changed(var values) = step, case .changed(let further) = next.step else { return false }
    // Drops the reference in the step, so that appending does not copy the values.
    step = .added([])
    values.append(further)
    step = .changed(values)
    mark.schema.come(by: next.mark.schema)
    return true
  }
}

extension StoreUndoRecord.Step {
  var byteCount: Int {
    switch self {
    case .added(let rows): rows.count * 8
    case .removed(let removed): removed.byteCount
    case .changed(let values): values.byteCount
    case .replaced(let store, _): store.byteCount
    case .several(let steps): steps.reduce(0) { $0 + $1.byteCount }
    }
  }
}

/// Ids of features by kind of change, each in drawing order without zIndexes; no id is in two of the lists.
public struct ChangedFeatures: Hashable, Sendable {
  public var added: [Int] = []
  public var updated: [Int] = []
  public var removed: [Int] = []

  public var isEmpty: Bool { added.isEmpty && updated.isEmpty && removed.isEmpty }
}

/// A store's next row, next id, and fields.
struct StoreMark: Sendable {
  let nextID: Int
  let nextRow: UInt32
  var schema: FeatureSchema.Mark
  let liveEdits: Int
}

extension FeatureStore {
  var mark: StoreMark { StoreMark(nextID: nextID, nextRow: nextRow, schema: schema.mark, liveEdits: liveEdits) }

  /// Approximate memory in bytes.
  var byteCount: Int {
    // An index entry has its position and row, and a share of the nodes above.
    slots.reduce(keptIndex.count * 30) { $0 + $1.chunk.byteCount } + otherIDs.count * 24
  }
}

extension FeatureSchema {
  /// A state to restore: the number of names, and the types that occurred.
  struct Mark: Sendable {
    fileprivate let count: Int
    fileprivate let seen: [UInt8]
    /// Names to add when restoring.
    fileprivate(set) var names: ArraySlice<String> = []

    /// Adapts the mark to a store that has been restored to `first`: the names that this added are added here, too.
    mutating func come(by first: Mark) {
      if !first.names.isEmpty { names = first.names + names }
    }
  }

  var mark: Mark { Mark(count: count, seen: seen) }

  /// Restores a mark; returns the mark that restores the current state.
  mutating func go(to mark: Mark) -> Mark {
    var here = self.mark
    if count > mark.count { here.names = names[mark.count...] }
    if count != mark.count || seen != mark.seen { change(to: mark.count, adding: mark.names, seen: mark.seen) }
    return here
  }
}
