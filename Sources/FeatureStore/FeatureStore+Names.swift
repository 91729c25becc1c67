// Searches for names over the name indexes of all chunks, which are built on first use.

import Names
import Sorting
import Synchronization

extension FeatureStore {
  /// The features whose value in `column` matches, in no order.
  ///
  /// - Parameter check: called every few milliseconds.
  /// - Complexity: O(chunks log n + hits), and for edit distances a test of the letters of each name: a few milliseconds for a
  ///   million names. The first search builds the indexes, half a second for a million.
  public func names(
    matching query: NameQuery, in column: Int, atLeast minScore: Int, checking check: CancellationCheck
  ) throws -> [NameMatch] {
    var matches: [NameMatch] = []
    for (number, slot) in slots.enumerated() {
      if number & 3 == 0 { try check(Double(number) / Double(slots.count)) }
      slot.chunk.nameIndex(of: column).matches(query, atLeast: minScore) { row, score in
        if slot.chunk.isLive(row) { matches.append(NameMatch(row: slot.base + UInt32(row), score: score)) }
      }
    }
    return matches
  }
}

/// The name indexes of a chunk, by column.
final class NameIndexes: Sendable {
  private let indexes: Mutex<[Int: NameIndex]>

  init() { indexes = Mutex([:]) }

  /// Starts with the indexes of `other`.
  init(_ other: NameIndexes) { indexes = Mutex(other.indexes.withLock { $0 }) }

  var isEmpty: Bool { indexes.withLock(\.isEmpty) }

  func index(of column: Int, _ make: () -> NameIndex) -> NameIndex {
    if let index = indexes.withLock({ $0[column] }) { return index }
    let made = make()
    return indexes.withLock { indexes in
      if let index = indexes[column] { return index }
      // Limits memory: clients rarely search names in more columns.
      if indexes.count >= 4 { indexes.removeAll() }
      indexes[column] = made
      return made
    }
  }
}

extension FeatureChunk {
  fileprivate func nameIndex(of column: Int) -> NameIndex {
    names.index(of: column) {
      NameIndex(
        names: (0..<count).map { row in
          switch value(column, at: row) {
          case .string(let text): text
          case .integer(let number): String(number)
          case .null, .bool, .double, .json: nil
          }
        })
    }
  }
}
