// Binary search, and ascending lists of numbers.

extension RandomAccessCollection where Index == Int {
  /// The first index at which `isSecond` is true. It has to be false for all elements before and true for all after.
  ///
  /// - Complexity: O(log n).
  @inline(__always)
  package func partitioningIndex(where isSecond: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = low &+ (high &- low) / 2
      if isSecond(self[middle]) { high = middle } else { low = middle &+ 1 }
    }
    return low
  }
}

extension [UInt32] {
  /// The numbers in ascending order without duplicates; no work if they already are.
  package func ascendingOnce() -> [UInt32] {
    if zip(self, dropFirst()).allSatisfy({ $0 < $1 }) { return self }
    var result: [UInt32] = []
    for row in sorted() where result.last != row { result.append(row) }
    return result
  }
}
