// Places in an order, as numbers, so that sorting by several criteria only compares numbers.

import Sorting

enum Places {
  /// The place of an item that has none in the order.
  static let none = UInt32.max

  /// The places of items, by their numbers; equal items have the same place.
  ///
  /// - Parameter sorted: the numbers of the items that have a place, in order.
  static func of(_ sorted: some Collection<Int>, among count: Int, isBefore: (Int, Int) -> Bool) -> [UInt32] {
    var places = [UInt32](repeating: none, count: count)
    var place: UInt32 = 0
    var last: Int?
    for number in sorted {
      if let last, isBefore(last, number) { place += 1 }
      places[number] = place
      last = number
    }
    return places
  }

  /// Numbers sorted by their places in several orders, the first of which has priority; equal ones keep their order.
  ///
  /// - Complexity: O(n) per order.
  static func sorted(_ numbers: [Int], by orders: [[UInt32]], checking check: CancellationCheck) throws -> [Int] {
    var numbers = numbers
    for (done, places) in orders.reversed().enumerated() {
      var keys = numbers.enumerated().map { SortItem(key: UInt64(places[$1]), row: UInt32(truncatingIfNeeded: $0)) }
      try SortItem.sort(&keys) { try check((Double(done) + $0) / Double(orders.count)) }
      numbers = keys.map { numbers[Int($0.row)] }
    }
    return numbers
  }

  /// The first items in an order, sorted. `made` is called once for each item.
  ///
  /// - Complexity: O(n log k) for the first k of n; for random input, mostly one comparison per item.
  static func first<Thing>(
    _ count: Int, of numbers: [Int], checking check: CancellationCheck, made: (Int) -> Thing,
    by isBefore: (Thing, Thing) -> Bool
  ) throws -> [Thing] {
    guard count > 0 else { return [] }
    var found: [Thing] = []
    var last: Thing?
    for (index, number) in numbers.enumerated() {
      let progress = Double(index) / Double(numbers.count)
      if index & 0x3ff == 0 { try check(progress) }
      let thing = made(number)
      if let last, !isBefore(thing, last) { continue }
      found.append(thing)
      guard found.count >= 2 * count + 1024 else { continue }
      found = Array(try sorted(found, checking: { _ in try check(progress) }, by: isBefore).prefix(count))
      last = found.last
    }
    return Array(try sorted(found, checking: { _ in try check(1) }, by: isBefore).prefix(count))
  }

  static func sorted<Thing>(
    _ things: [Thing], checking check: CancellationCheck, by isBefore: (Thing, Thing) -> Bool
  ) throws -> [Thing] {
    let expected = Double(max(things.count, 1) * (Int.bitWidth - things.count.leadingZeroBitCount))
    var comparisons = 0
    return try things.sorted { left, right in
      comparisons += 1
      if comparisons & 0xfff == 0 { try check(min(1, Double(comparisons) / expected)) }
      return isBefore(left, right)
    }
  }
}
