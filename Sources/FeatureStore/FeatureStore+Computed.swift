// An attribute that is computed for a query: made chunk by chunk on any threads, in a copy of the store.

import Geometry

extension FeatureStore {
  /// Some rows of a chunk, ascending.
  package struct ChunkRows: Sendable {
    fileprivate let slot: Int
    package let base: UInt32
    package let chunk: FeatureChunk
    /// The rows' positions in the list of which they are.
    package let range: Range<Int>
    /// Whether these are all rows that the chunk has, removed ones included.
    package var isWhole: Bool { range.count == chunk.count }
  }

  /// A chunk with one attribute more.
  package struct ComputedChunk: Sendable {
    fileprivate let slot: Int
    fileprivate let chunk: FeatureChunk
    fileprivate let seen: UInt8
  }

  /// The chunks of ascending rows; nil for all rows of a store that ``isDense``.
  package func chunks(of rows: [UInt32]?) -> [ChunkRows] {
    guard let rows else {
      return slots.enumerated().map { ChunkRows(slot: $0, base: $1.base, chunk: $1.chunk, range: 0..<$1.chunk.count) }
    }
    var chunks: [ChunkRows] = []
    chunks.reserveCapacity(slots.count)
    forEachChunk(of: rows) { chunk, range in
      if let slot = slot(of: chunk.base) { chunks.append(ChunkRows(slot: slot, base: chunk.base, chunk: chunk.chunk, range: range)) }
    }
    return chunks
  }

  /// A copy of a chunk with an attribute that its features do not have.
  ///
  /// - Parameter values: by rows of the chunk.
  package func computed(_ column: Int, of rows: ChunkRows, _ values: ValueColumn) -> ComputedChunk {
    let chunk = rows.chunk.copy()
    chunk.add(values, column: column)
    return ComputedChunk(slot: rows.slot, chunk: chunk, seen: values.seen)
  }

  /// Takes over chunks with a computed attribute, without a record for undo, in a copy for one query.
  ///
  /// - Parameter isArithmetic: whether values decide whether its numbers are integers or doubles.
  package mutating func replace(_ chunks: [ComputedChunk], column: Int, isArithmetic: Bool) {
    for each in chunks {
      schema.note(each.seen, in: column)
      slots[each.slot] = Slot(base: slots[each.slot].base, chunk: each.chunk)
    }
    if isArithmetic { schema.settleNumbers(column) }
  }
}
