// The places of things in an order, as numbers: what is sorted by several things compares these.

enum Places {
  /// The place of what has none in the order.
  static let none = UInt32.max

  /// The places of things by number; equal ones have the same.
  ///
  /// - Parameter check: called every few thousand comparisons.
  static func of(
    _ count: Int, checking check: CancellationCheck, isOrdered: (Int) -> Bool, isBefore: (Int, Int) -> Bool
  ) throws -> [UInt32] {
    let sorted = try Self.sorted((0..<count).filter(isOrdered), checking: check, by: isBefore)
    var places = [UInt32](repeating: none, count: count)
    var place: UInt32 = 0
    for (index, number) in sorted.enumerated() {
      if index > 0, isBefore(sorted[index - 1], number) { place += 1 }
      places[number] = place
    }
    return places
  }

  static func sorted(
    _ numbers: [Int], checking check: CancellationCheck, by isBefore: (Int, Int) -> Bool
  ) throws -> [Int] {
    let expected = Double(max(numbers.count, 1) * (Int.bitWidth - numbers.count.leadingZeroBitCount))
    var comparisons = 0
    return try numbers.sorted { left, right in
      comparisons += 1
      if comparisons & 0xfff == 0 { try check(min(1, Double(comparisons) / expected)) }
      return isBefore(left, right)
    }
  }
}
