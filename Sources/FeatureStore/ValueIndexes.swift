// The indexes of values of a store: built when a question needs one, shared by the store's copies.

import Geometry
import Synchronization

/// Indexes of a store and its copies, a few at most; they go with the last copy.
package final class ValueIndexes: Sendable {
  /// At most 32 MB for a million features.
  private static let limit = 4

  private struct Entry: Sendable {
    var index: ValueIndex
    /// Rows that were scanned since, as their chunks had changed.
    var scanned = 0
  }

  /// By column; those that are used last are at the end.
  private struct Entries: Sendable {
    var byColumn: [Int: Entry] = [:]
    var order: [Int] = []
  }

  private let entries = Mutex(Entries())

  /// The index of a column, if there is one.
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

  /// Counts rows that an index did not find, and says whether a new one is due: scanning has cost about as much as building one.
  package func noteScan(of rows: Int, in count: Int, column: Int) -> Bool {
    entries.withLock { entries in
      guard let scanned = entries.byColumn[column]?.scanned else { return true }
      entries.byColumn[column]?.scanned = scanned + rows
      return scanned + rows > 8 * count
    }
  }
}
