// Search by bisection.

extension RandomAccessCollection where Index == Int {
  /// The first index whose element is in the second part: elements for which `isSecond` is false come first.
  ///
  /// - Complexity: O(log n).
  @inline(__always)
  func partitioningIndex(where isSecond: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = low &+ (high &- low) / 2
      if isSecond(self[middle]) { high = middle } else { low = middle &+ 1 }
    }
    return low
  }
}
