// A mask of the candidate rows of a chunk during filtering.

import FeatureStore

/// One byte per row of a chunk: 1 for a candidate, else 0. Bytes instead of bits, so that one loop compares a column and narrows
/// the mask, and the compiler can vectorize it.
package typealias RowMask = UnsafeMutableBufferPointer<UInt8>

extension RowMask {
  var isAnyMarked: Bool {
    withMemoryRebound(to: UInt64.self) { words in
      var all: UInt64 = 0
      for word in words { all |= word }
      return all != 0
    }
  }

  /// Visits marked rows in ascending order; `body` may unmark the current row.
  @inline(__always)
  package func forEachMarked(_ body: (Int) -> Void) {
    withMemoryRebound(to: UInt64.self) { words in
      for index in words.indices {
        var word = UInt64(littleEndian: words[index])
        while word != 0 {
          body(index &* 8 &+ word.trailingZeroBitCount &>> 3)
          word &= word &- 1
        }
      }
    }
  }

  /// Writes the marked rows in ascending order, and returns their number. Eight marked rows that follow one another are written at once.
  package func markedRows(into rows: UnsafeMutableBufferPointer<UInt16>) -> Int {
    let eight = SIMD8<UInt16>(0, 1, 2, 3, 4, 5, 6, 7)
    guard let target = UnsafeMutableRawPointer(rows.baseAddress) else { return 0 }
    var count = 0
    withMemoryRebound(to: UInt64.self) { words in
      for index in words.indices {
        var word = UInt64(littleEndian: words[index])
        let first = UInt16(truncatingIfNeeded: index &* 8)
        if word == 0x0101_0101_0101_0101 {
          target.storeBytes(of: eight &+ first, toByteOffset: count &* 2, as: SIMD8<UInt16>.self)
          count &+= 8
          continue
        }
        while word != 0 {
          rows[count] = first &+ UInt16(truncatingIfNeeded: word.trailingZeroBitCount &>> 3)
          count &+= 1
          word &= word &- 1
        }
      }
    }
    return count
  }

  func unmark(_ bits: RowBits) { bits.withWords(unmark) }

  /// Unmarks the rows whose bits are set.
  func unmark(_ words: UnsafeBufferPointer<UInt64>) {
    for (index, var word) in words.enumerated() {
      while word != 0 {
        self[index &* 64 &+ word.trailingZeroBitCount] = 0
        word &= word &- 1
      }
    }
  }

  /// Unmarks all rows from `row` on.
  func cut(at row: Int) {
    if row < count { self[row...].update(repeating: 0) }
  }
}
