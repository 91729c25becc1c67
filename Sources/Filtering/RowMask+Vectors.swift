// Tests of sixteen rows at a time, with vector instructions that every processor of an architecture has.

/// The words of sixteen rows.
typealias Words = SIMD16<UInt64>

extension RowMask {
  private static var width: Int { Words.scalarCount }

  /// Keeps marked rows for which the highest bit of the result is set: the sign of a number, or the result of a comparison.
  ///
  /// There may be fewer `words` than rows; the remaining rows are already cleared.
  @inline(__always)
  func keep(_ words: UnsafeBufferPointer<UInt64>, ifHighest result: (Words) -> Words) {
    let count = Swift.min(words.count, count)
    guard let source = UnsafeRawPointer(words.baseAddress), let target = UnsafeMutableRawPointer(baseAddress) else {
      return
    }
    let whole = count / Self.width * Self.width
    // If few rows are marked, most values need not be read.
    let isSparse = markedCount < count / 32
    for row in stride(from: 0, to: whole, by: Self.width) {
      let marked = target.loadUnaligned(fromByteOffset: row, as: SIMD16<UInt8>.self)
      if isSparse, marked == SIMD16() { continue }
      let values = source.loadUnaligned(fromByteOffset: row &* 8, as: Words.self)
      target.storeBytes(of: marked & Self.bytes(result(values)), toByteOffset: row, as: SIMD16<UInt8>.self)
    }
    guard whole < count else { return }
    var rest = Words()
    for row in whole..<count { rest[row &- whole] = words[row] }
    let kept = Self.bytes(result(rest))
    for row in whole..<count { self[row] &= kept[row &- whole] }
  }

  /// Keeps marked the rows whose numbers pass a comparison.
  @inline(__always)
  func keep(_ words: UnsafeBufferPointer<UInt64>, if passes: (SIMD16<Double>) -> SIMDMask<SIMD16<Int64>>) {
    // Only the type changes: numbers are stored as words, and a mask has all bits of a word set or none.
    keep(words, ifHighest: { unsafeBitCast(passes(unsafeBitCast($0, to: SIMD16<Double>.self)), to: Words.self) })
  }

  /// The highest bit of each word as a byte of ones or zeros. Compiles to shuffles and packs only.
  @inline(__always)
  private static func bytes(_ words: Words) -> SIMD16<UInt8> {
    // Uses 32-bit halves, since arithmetic shifts of these are one vector instruction, but those of 64-bit words are not.
    SIMD16(truncatingIfNeeded: unsafeBitCast(words, to: SIMD32<Int32>.self).oddHalf &>> 31)
  }

  /// The number of marked rows.
  var markedCount: Int {
    let bytes = UnsafeRawBufferPointer(self)
    // A chunk has few enough rows that the sixteen sums cannot overflow.
    var sums = SIMD16<UInt8>()
    for row in stride(from: 0, to: bytes.count, by: Self.width) {
      sums &+= bytes.loadUnaligned(fromByteOffset: row, as: SIMD16<UInt8>.self)
    }
    return Int(SIMD16<UInt16>(truncatingIfNeeded: sums).wrappedSum())
  }
}

extension Words {
  /// Sets the highest bit of words that differ from `word`: a number other than zero, or its negative, has that bit.
  @inline(__always)
  func differences(from word: UInt64) -> Words {
    let difference = self ^ word
    return difference | (0 &- difference)
  }
}
