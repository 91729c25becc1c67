// Which rows of a chunk are still in question while it is filtered.

/// A byte a row of a chunk: 1 while it is in question, else 0. A byte and not a bit, so that comparing a column and narrowing the mask
/// are one loop that the compiler turns into vector instructions.
typealias RowMask = UnsafeMutableBufferPointer<UInt8>

extension RowMask {
  var isAnyMarked: Bool {
    withMemoryRebound(to: UInt64.self) { words in
      var all: UInt64 = 0
      for word in words { all |= word }
      return all != 0
    }
  }

  /// Rows ascending; `body` may unmark the row it is called with.
  @inline(__always)
  func forEachMarked(_ body: (Int) -> Void) {
    withMemoryRebound(to: UInt64.self) { words in
      for place in words.indices {
        var word = UInt64(littleEndian: words[place])
        while word != 0 {
          body(place &* 8 &+ word.trailingZeroBitCount &>> 3)
          word &= word &- 1
        }
      }
    }
  }

  func unmark(_ bits: RowBits) {
    bits.withWords { words in
      for (place, var word) in words.enumerated() {
        while word != 0 {
          self[place &* 64 &+ word.trailingZeroBitCount] = 0
          word &= word &- 1
        }
      }
    }
  }

  /// Unmarks from `row` on.
  func cut(at row: Int) {
    if row < count { self[row...].update(repeating: 0) }
  }
}
