// The value indexes of a store: built when a query needs one, shared by the store's copies.

import Synchronization

/// A few indexes of a store and its copies; released with the last copy.
package final class ValueIndexes: Sendable {
  /// Maximum number of indexes: together at most 32 MB for a million features.
  private static let limit = 4

  private struct Entry: Sendable {
    var index: ValueIndex
    /// Rows scanned since the index was built, because their chunks had changed.
    var scanned = 0
  }

  /// Indexes by column, least recently used first.
  private struct Entries: Sendable {
    var byColumn: [Int: Entry] = [:]
    var order: [Int] = []
  }

  private let entries = Mutex(Entries())

  /// The index of a column; nil if there is none.
  package func index(of column: Int) -> ValueIndex? {
    entries.withLock { entries in
      guard let entry = entries.byColumn[column] else { return nil }
      entries.order.removeAll { $0 == column }
      entries.order.append(column)
      return entry.index
    }
  }

  package func set(_ index: ValueIndex, of column: Int) {
    entries.withLock { entries in
      entries.byColumn[column] = Entry(index: index)
      entries.order.removeAll { $0 == column }
      entries.order.append(column)
      if entries.order.count > Self.limit { entries.byColumn[entries.order.removeFirst()] = nil }
    }
  }

  /// Counts rows that had to be scanned, and returns whether a new index is due: scanning has then cost about as much as building
  /// one.
  package func noteScan(of rows: Int, in count: Int, column: Int) -> Bool {
    entries.withLock { entries in
      guard let scanned = entries.byColumn[column]?.scanned else { return true }
      entries.byColumn[column]?.scanned = scanned + rows
      return scanned + rows > 8 * count
    }
  }
}
