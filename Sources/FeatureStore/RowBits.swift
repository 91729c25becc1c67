// One bit per row of a chunk, for rare properties: removed, hidden, selected, null.

/// A set of rows of one chunk. Uses no memory while empty.
package struct RowBits: Sendable {
  private var words: [UInt64] = []

  package var isEmpty: Bool { words.allSatisfy { $0 == 0 } }
  var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

  package func withWords<Result>(_ body: (UnsafeBufferPointer<UInt64>) -> Result) -> Result {
    words.withUnsafeBufferPointer(body)
  }

  /// Removes the rows from `rows` on.
  mutating func truncate(to rows: Int) {
    words.truncate(to: (rows + 63) / 64)
    if rows & 63 != 0, rows / 64 < words.count { words[rows / 64] &= 1 << UInt64(rows & 63) - 1 }
  }

  @inline(__always)
  package subscript(row: Int) -> Bool {
    get { row &>> 6 < words.count && words[row &>> 6] &>> UInt64(row & 63) & 1 == 1 }
    set {
      if row &>> 6 >= words.count {
        guard newValue else { return }
        words.reserveCapacity(FeatureChunk.capacity / 64)
        while words.count <= row &>> 6 { words.append(0) }
      }
      let bit = 1 as UInt64 &<< UInt64(row & 63)
      if newValue { words[row &>> 6] |= bit } else { words[row &>> 6] &= ~bit }
    }
  }
}
