// Tests of one column: one loop per layout, mostly without branches.

import Expressions
import FeatureStore
import Geometry
import Sorting

extension RowMask {
  func narrow(to test: ColumnTest, _ column: Int, _ chunk: FeatureChunk) {
    if chunk.withReader({ narrow(to: test, $0.values(ofAligned: column)) }) { return }
    guard let index = chunk.index(of: column) else {
      if !test.holds(.null) { cut(at: 0) }
      return
    }
    // Fields are read one by one, since copying the column would retain all of its arrays.
    let columns = chunk.columns
    if case .isNull(let isWanted) = test { return narrow(toNull: isWanted, columns[index]) }
    // Unknown counts as false, so rows without a value are cleared first.
    unmark(columns[index].nulls)
    cut(at: columns[index].count)
    // Copies only addresses; using the arrays would retain them and read their headers.
    let reader = columns[index].reader
    switch reader.layout {
    case .doubles, .integers, .codes: narrow(to: test, numbersOrCodes: reader)
    case .bools:
      let (ifTrue, ifFalse) = (test.holds(.bool(true)), test.holds(.bool(false)))
      let values = columns[index].bools
      forEachMarked { if !(values[$0] ? ifTrue : ifFalse) { self[$0] = 0 } }
    case .strings: narrow(columns[index].texts, to: test)
    case .json:
      // JSON cannot be compared, but `LIKE` uses its text.
      if case .like = test { narrow(columns[index].texts, to: test) } else { cut(at: 0) }
    case .sparse, .mixed: narrowOneByOne(to: test, columns[index])
    }
  }

  /// Narrows by the columns' addresses alone, which is cheaper than retaining arrays for each chunk.
  ///
  /// - Returns: false, without effect, for layouts and tests that need more.
  private func narrow(to test: ColumnTest, _ values: ColumnReader?) -> Bool {
    guard let values else { return false }
    if case .isNull = test { return false }
    switch values.layout {
    case .integers, .doubles, .codes: narrow(to: test, numbersOrCodes: values)
    case .sparse, .mixed, .bools, .strings, .json: return false
    }
    return true
  }

  private func narrow(to test: ColumnTest, numbersOrCodes values: ColumnReader) {
    unmark(values.nullWords)
    switch values.layout {
    case .doubles:
      cut(at: values.words.count)
      narrowDoubles(values.words, values.doubleBounds, to: test)
    case .integers:
      cut(at: values.words.count)
      narrowIntegers(values.words, values.integerBounds, to: test)
    default:
      cut(at: values.codes.count)
      narrowCodes(values, to: test)
    }
  }

  private func narrowOneByOne(to test: ColumnTest, _ column: ValueColumn) {
    forEachMarked { if !test.holds(Scalar(column[$0])) { self[$0] = 0 } }
  }

  private func narrow(toNull isWanted: Bool, _ column: ValueColumn) {
    let end = column.count
    switch column.layout {
    case .integers, .bools: forEachMarked { if ($0 >= end || column.nulls[$0]) != isWanted { self[$0] = 0 } }
    case .doubles:
      forEachMarked {
        if ($0 >= end || column.nulls[$0] || Double(bitPattern: column.words[$0]).isNaN) != isWanted { self[$0] = 0 }
      }
    case .codes:
      forEachMarked { if ($0 >= end || column.codes.codes[$0] == CodeColumn.none) != isWanted { self[$0] = 0 } }
    case .strings, .json:
      forEachMarked { if ($0 >= end || column.texts.offsets[$0] == TextArena.none) != isWanted { self[$0] = 0 } }
    case .sparse, .mixed: narrowOneByOne(to: .isNull(isWanted), column)
    }
  }

  // MARK: Numbers

  private func narrowDoubles(_ words: UnsafeBufferPointer<UInt64>, _ bounds: ValueBounds<Double>, to test: ColumnTest) {
    guard case .compare(let comparison, let constant) = test else {
      forEachMarked { if !test.holds(Scalar(number: Double(bitPattern: words[$0]))) { self[$0] = 0 } }
      return
    }
    guard let (comparison, bound) = comparison.onDoubles(constant), bounds.mayHold(comparison, bound) else {
      return cut(at: 0)
    }
    let bounds = SIMD16(repeating: bound)
    switch comparison {
    case .equal: keep(words, if: { $0 .== bounds })
    // NaN stands for null, which counts as false.
    case .notEqual: keep(words, if: { ($0 .< bounds) .| ($0 .> bounds) })
    case .less: keep(words, if: { $0 .< bounds })
    case .greater: keep(words, if: { $0 .> bounds })
    case .lessOrEqual: keep(words, if: { $0 .<= bounds })
    case .greaterOrEqual: keep(words, if: { $0 .>= bounds })
    }
  }

  private func narrowIntegers(_ words: UnsafeBufferPointer<UInt64>, _ bounds: ValueBounds<Int64>, to test: ColumnTest) {
    if case .isIn(let set, let isWanted) = test, set.isOfNumbers, set.integers.count <= 8 {
      return set.integers.withUnsafeBufferPointer { integers in
        keep(
          words,
          ifHighest: { values in
            var isOther = Words(repeating: .max)
            for integer in integers { isOther &= values.differences(from: UInt64(bitPattern: integer)) }
            return isWanted ? ~isOther : isOther
          })
      }
    }
    guard case .compare(let comparison, let constant) = test else {
      forEachMarked { if !test.holds(.integer(Int64(bitPattern: words[$0]))) { self[$0] = 0 } }
      return
    }
    guard let (comparison, bound) = comparison.onIntegers(constant), bounds.mayHold(comparison, bound) else {
      return cut(at: 0)
    }
    let pivot = UInt64(bitPattern: bound)
    guard comparison == .equal || comparison == .notEqual || bounds.isWithinSpan(of: bound) else {
      return keep(words) { value in comparison.holds(Order(Int64(bitPattern: value), bound)) }
    }
    // If the difference cannot overflow, its sign gives the order. Basic vector instructions have no comparison of 64-bit
    // integers, but subtraction and shift.
    switch comparison {
    case .equal: keep(words, ifHighest: { ~$0.differences(from: pivot) })
    case .notEqual: keep(words, ifHighest: { $0.differences(from: pivot) })
    case .less: keep(words, ifHighest: { $0 &- pivot })
    case .greaterOrEqual: keep(words, ifHighest: { ~($0 &- pivot) })
    case .greater: keep(words, ifHighest: { pivot &- $0 })
    case .lessOrEqual: keep(words, ifHighest: { ~(pivot &- $0) })
    }
  }

  /// Keeps marked rows whose value passes. There may be fewer `values` than rows; the remaining rows are already cleared.
  @inline(__always)
  private func keep<Value>(_ values: UnsafeBufferPointer<Value>, _ passes: (Value) -> Bool) {
    guard let source = values.baseAddress, let target = baseAddress else { return }
    // Testing one marked row costs about as much as 20 tests in a loop without branches.
    if markedCount < count / 32 {
      return forEachMarked { target[$0] = passes(source[$0]) ? 1 : 0 }
    }
    for row in 0..<Swift.min(values.count, count) {
      target[row] &= passes(source[row]) ? 1 : 0
    }
  }

  // MARK: Texts

  /// The two most frequent tests of texts have separate loops, so that each text costs only its comparison.
  private func narrow(_ column: TextColumn, to test: ColumnTest) {
    switch test {
    case .compare(let comparison, .string(var constant)):
      constant.withUTF8 { constant in
        let constant = UnsafeRawBufferPointer(constant)
        switch comparison {
        case .equal: keep(column) { $0.isEqual(to: constant) }
        case .notEqual: keep(column) { !$0.isEqual(to: constant) }
        default: keep(column) { comparison.holds(Order($0, constant)) }
        }
      }
    case .like(let pattern, let isWanted): keep(column) { pattern.matches($0) == isWanted }
    default: keep(column) { test.holds(.bytes($0)) }
    }
  }

  @inline(__always)
  private func keep(_ column: TextColumn, _ passes: (UnsafeRawBufferPointer) -> Bool) {
    let arena = column.arena
    column.offsets.withUnsafeBufferPointer { offsets in
      forEachMarked { row in
        let offset = offsets[row]
        if offset == TextArena.none || !arena.withText(at: offset, passes) { self[row] = 0 }
      }
    }
  }

  /// Tests each distinct text once.
  private func narrowCodes(_ values: ColumnReader, to test: ColumnTest) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { passing in
      passing.initialize(repeating: 0)
      var (count, only) = (0, 0)
      for code in 0..<values.distinctCount {
        guard let text = values.distinctText(code), test.holds(text) else { continue }
        passing[code] = 1
        (count, only) = (count + 1, code)
      }
      switch count {
      case 0: cut(at: 0)
      case 1: keep(values.codes) { $0 == UInt8(truncatingIfNeeded: only) }
      default: keep(values.codes) { passing[Int($0)] != 0 }
      }
    }
  }
}

extension ColumnTest {
  /// Whether a text passes.
  fileprivate func holds(_ text: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .compare(.equal, .string(var constant)):
      constant.withUTF8 { text.isEqual(to: UnsafeRawBufferPointer($0)) }
    case .like(let pattern, let isWanted): pattern.matches(text) == isWanted
    default: holds(.bytes(text))
    }
  }
}

extension Comparison {
  /// The equivalent test with an integer bound; nil if no integer passes.
  fileprivate func onIntegers(_ constant: AttributeValue) -> (Comparison, Int64)? {
    switch constant {
    case .integer(let bound): return (self, bound)
    case .double(let bound):
      if let whole = Int64(exactly: bound) { return (self, whole) }
      // The bound is between two integers, or beyond all of them.
      let below = Order(.max, exactly: bound) == .less ? Int64.max : bound < -0x1p63 ? nil : Int64(bound.rounded(.down))
      switch self {
      case .equal: return nil
      case .notEqual: return (.lessOrEqual, .max)
      case .less, .lessOrEqual: return below.map { (.lessOrEqual, $0) }
      case .greater, .greaterOrEqual: return below.map { (.greater, $0) } ?? (.lessOrEqual, .max)
      }
    default: return nil
    }
  }

  /// The equivalent test with a double bound; nil if no double passes.
  fileprivate func onDoubles(_ constant: AttributeValue) -> (Comparison, Double)? {
    switch constant {
    case .double(let bound): return (self, bound)
    case .integer(let bound):
      let nearest = Double(bound)
      // An integer that is not a double is between two doubles, one of which is `nearest`.
      let order = Order(bound, exactly: nearest)
      switch (self, order) {
      case (_, .same): return (self, nearest)
      case (.equal, _): return nil
      case (.notEqual, _): return (.lessOrEqual, .infinity)
      case (.less, .less), (.lessOrEqual, .less): return (.less, nearest)
      case (.less, _), (.lessOrEqual, _): return (.lessOrEqual, nearest)
      case (.greater, .less), (.greaterOrEqual, .less): return (.greaterOrEqual, nearest)
      case (.greater, _), (.greaterOrEqual, _): return (.greater, nearest)
      }
    default: return nil
    }
  }
}

extension ValueBounds {
  /// Whether any number within the bounds can satisfy the comparison with `bound`.
  fileprivate func mayHold(_ comparison: Comparison, _ bound: Number) -> Bool {
    switch comparison {
    case .equal: least <= bound && bound <= greatest
    case .notEqual: least != bound || greatest != bound
    case .less: least < bound
    case .lessOrEqual: least <= bound
    case .greater: greatest > bound
    case .greaterOrEqual: greatest >= bound
    }
  }
}
