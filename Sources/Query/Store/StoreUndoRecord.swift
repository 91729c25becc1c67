// What takes an edit of a store back, at a cost in proportion to the edit: no copy of the store is held for it.

import Geometry

/// What takes one edit of a ``FeatureStore`` back; the store's edits give one where they are asked to.
///
/// Reversals are applied to the store that gave them, the last one first. Between an edit and its reversal the store may change
/// in nothing but edits that were reverted meanwhile, and in which features are selected.
///
/// Two ways lead back. ``FeatureStore/rollBack(_:)`` makes the store what it was, as if the edit had never been: selection, ids to
/// be minted, fields. ``FeatureStore/revert(_:)`` is undo and redo: features have their ids, places and values again, but ids are
/// not minted a second time, and a feature that is there before and after stays selected or not, as it is.
///
/// A removed row keeps its values in its chunk, so that a removal notes row numbers, and holds the chunks of which nothing is left.
public struct StoreUndoRecord: Sendable {
  enum Step: Sendable {
    /// These rows came.
    case added([Range<UInt32>])
    case removed(RemovedRows)
    case changed(OldValues)
    /// All of it went, and something else may have come.
    indirect case replaced(FeatureStore)
  }

  /// What the store was about to give out before the edit.
  private(set) var mark: StoreMark
  private(set) var step: Step

  init(to mark: StoreMark, _ step: Step) {
    self.mark = mark
    self.step = step
  }

  /// How many features the edit concerned; one that was changed twice in it counts twice.
  public var count: Int {
    switch step {
    case .added(let rows): rows.reduce(0) { $0 + $1.count }
    case .removed(let removed): removed.count
    case .changed(let values): values.count
    case .replaced(let store): store.count
    }
  }

  /// About how much memory is held by it, in bytes: what would go with it if no snapshot has it too.
  ///
  /// - Complexity: O(chunks that went whole), and O(values that are texts or lines).
  public var byteCount: Int {
    let own = MemoryLayout<Self>.size
    return switch step {
    case .added(let rows): own + rows.count * 8
    case .removed(let removed): own + removed.byteCount
    case .changed(let values): own + values.byteCount
    case .replaced(let store): own + store.byteCount
    }
  }

  /// Whether reverting this takes a later edit back as well, which then need not be kept: both changed the same things of the same
  /// features, as the moves of one drag do.
  ///
  /// - Complexity: O(k).
  public func covers(_ later: StoreUndoRecord) -> Bool {
    guard case .changed(let mine) = step, case .changed(let theirs) = later.step else { return false }
    return mine.covers(theirs)
  }

  /// Becomes what takes this edit and then the next one back; false when both are not changes of features' values.
  ///
  /// - Complexity: O(k) of the next one.
  public mutating func absorb(_ next: StoreUndoRecord) -> Bool {
    guard case .changed(var values) = step, case .changed(let further) = next.step else { return false }
    // What holds the values a second time would make appending a copy.
    step = .added([])
    values.append(further)
    step = .changed(values)
    mark.schema.come(by: next.mark.schema)
    return true
  }
}

/// Ids of features by what became of them, each in the order of drawing without zIndexes; no id is in two of the lists.
public struct ChangedFeatures: Hashable, Sendable {
  public var added: [Int] = []
  public var updated: [Int] = []
  public var removed: [Int] = []

  public var isEmpty: Bool { added.isEmpty && updated.isEmpty && removed.isEmpty }
}

/// What a store was about to give out, and its fields.
struct StoreMark: Sendable {
  let nextID: Int
  let nextRow: UInt32
  var schema: FeatureSchema.Mark
}

extension FeatureStore {
  var mark: StoreMark { StoreMark(nextID: nextID, nextRow: nextRow, schema: schema.mark) }

  /// About how much memory it has, in bytes.
  var byteCount: Int {
    // An entry of the index has its position and row, and its share of the nodes above.
    slots.reduce(index.count * 30) { $0 + $1.chunk.byteCount } + otherIDs.count * 24
  }
}

extension FeatureSchema {
  /// A state to go back to, or on to: how many names there were, and what types came.
  struct Mark: Sendable {
    fileprivate let count: Int
    fileprivate let seen: [UInt8]
    /// Names to be added on the way there.
    fileprivate var names: ArraySlice<String> = []

    /// Is gone to from where one goes to `first` by now: what names were added on the way to that are added on this way, too.
    mutating func come(by first: Mark) {
      if !first.names.isEmpty { names = first.names + names }
    }
  }

  var mark: Mark { Mark(count: count, seen: seen) }

  /// Goes to a mark; the result leads here again.
  mutating func go(to mark: Mark) -> Mark {
    var here = self.mark
    if count > mark.count { here.names = names[mark.count...] }
    if count != mark.count || seen != mark.seen { change(to: mark.count, adding: mark.names, seen: mark.seen) }
    return here
  }
}
