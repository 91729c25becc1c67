// Pairs of rows of two stores: the result of a join.

/// Pairs of rows, one of each store.
public struct RowPairs: Sendable {
  public private(set) var left: [UInt32] = []
  public private(set) var right: [UInt32] = []

  public init() {}

  public var count: Int { left.count }

  public mutating func append(_ left: UInt32, _ right: UInt32) {
    self.left.append(left)
    self.right.append(right)
  }

  mutating func append(_ other: RowPairs) {
    left += other.left
    right += other.right
  }

  /// Concatenates pairs.
  public init(joining all: [RowPairs]) {
    let count = all.reduce(0) { $0 + $1.count }
    left.reserveCapacity(count)
    right.reserveCapacity(count)
    for pairs in all { append(pairs) }
  }

  /// The pairs with exchanged sides, sorted by the new left row; pairs with equal left rows keep their order.
  ///
  /// - Complexity: O(count + greatest row).
  public func exchanged() -> RowPairs {
    var starts = [Int](repeating: 0, count: Int(right.max() ?? 0) + 2)
    for row in right { starts[Int(row) + 1] += 1 }
    for index in 1..<starts.count { starts[index] += starts[index - 1] }
    var result = RowPairs()
    result.left = [UInt32](repeating: 0, count: count)
    result.right = result.left
    for index in 0..<count {
      let place = starts[Int(right[index])]
      starts[Int(right[index])] += 1
      result.left[place] = right[index]
      result.right[place] = left[index]
    }
    return result
  }

  /// The range of pairs for each left row; its pairs are adjacent.
  public var ranges: [UInt32: Range<Int>] {
    var ranges: [UInt32: Range<Int>] = [:]
    var start = 0
    for index in left.indices where index + 1 == count || left[index + 1] != left[index] {
      ranges[left[index]] = start..<index + 1
      start = index + 1
    }
    return ranges
  }

  /// The pairs in the order of `rows` on the left; pairs with equal left rows keep their order.
  public func ordered(by rows: [UInt32]) -> RowPairs {
    let ranges = ranges
    var result = RowPairs()
    for row in rows {
      for index in ranges[row] ?? 0..<0 { result.append(row, right[index]) }
    }
    return result
  }

  /// The pairs with other rows on the right.
  public func replacingRight(by row: (UInt32) -> UInt32) -> RowPairs {
    var result = self
    for index in result.right.indices { result.right[index] = row(right[index]) }
    return result
  }
}
