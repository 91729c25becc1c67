// Natural breaks: where to divide numbers so that those within a class differ least.

/// The division of sorted numbers into classes with the least sum of squared distances to the classes' means.
///
/// W. D. Fisher, "On Grouping for Maximum Homogeneity" (1958), which G. F. Jenks brought to maps. The best division of the first numbers
/// into one class more begins its last class no earlier the more numbers there are; so each row of the table is found by halving.
struct NaturalBreaks {
  /// As many different numbers are told apart. Of more, neighbours are taken together, equally many in each group: then a break lies
  /// within such a group of the best one.
  static let groupLimit = 20_000

  /// One number, or neighbours taken together.
  private struct Group {
    let end: Double
    let count: Int
  }
  private let groups: [Group]
  /// Of the groups before a place: how many numbers, their sum and the sum of their squares, in units of half of the range.
  private let counts: [Double]
  private let sums: [Double]
  private let squares: [Double]

  /// - Parameter numbers: finite, ascending, at least one.
  init(_ numbers: [Double]) {
    let (least, greatest) = (numbers[0], numbers[numbers.count - 1])
    // Halves, because the distance of two finite numbers can be infinite.
    let middle = least / 2 + greatest / 2
    let half = max(greatest / 2 - least / 2, .leastNonzeroMagnitude)
    var (groups, counts, sums, squares) = ([Group](), [0.0], [0.0], [0.0])
    let different = 1 + zip(numbers, numbers.dropFirst()).count { $0 != $1 }
    let size = different <= Self.groupLimit ? 1 : (numbers.count + Self.groupLimit - 1) / Self.groupLimit
    var (count, sum, square) = (0, 0.0, 0.0)
    for (place, number) in numbers.enumerated() {
      let scaled = (number - middle) / half
      count += 1
      sum += scaled
      square += scaled * scaled
      // Equal numbers are never parted.
      let isLast = place + 1 == numbers.count
      guard isLast || count >= size && numbers[place + 1] != number else { continue }
      groups.append(Group(end: number, count: count))
      counts.append(counts[counts.count - 1] + Double(count))
      sums.append(sums[sums.count - 1] + sum)
      squares.append(squares[squares.count - 1] + square)
      (count, sum, square) = (0, 0, 0)
    }
    (self.groups, self.counts, self.sums, self.squares) = (groups, counts, sums, squares)
  }

  /// The last number of each class and how many numbers it has; fewer classes where there are fewer different numbers.
  ///
  /// - Complexity: O(classes · n log n), n being at most ``groupLimit`` and a few.
  func classes(_ wanted: Int, isCancelled: () -> Bool) -> [(end: Double, count: Int)] {
    let wanted = min(wanted, groups.count)
    // What the best division of the groups up to each place costs, and where its last class begins.
    var costs = groups.indices.map { cost(0, $0) }
    var starts: [[Int32]] = []
    for _ in 1..<max(wanted, 1) {
      if isCancelled() { return [] }
      var next = costs
      var row = [Int32](repeating: 0, count: groups.count)
      fill(0..<groups.count, from: 0, through: groups.count - 1, costs, &next, &row)
      costs = next
      starts.append(row)
    }
    var result: [(end: Double, count: Int)] = []
    var end = groups.count
    for row in starts.reversed() where end > 0 {
      let start = Int(row[end - 1])
      // A class more that would be empty is none.
      if start > 0 {
        result.append((groups[end - 1].end, count(start..<end)))
        end = start
      }
    }
    result.append((groups[end - 1].end, count(0..<end)))
    return result.reversed()
  }

  private func count(_ range: Range<Int>) -> Int { range.reduce(0) { $0 + groups[$1].count } }

  /// The best beginnings of a last class for `places`, which lie in `first...last`: for the middle one by trying all, for the others
  /// within what that leaves. Recursion as deep as the logarithm.
  private func fill(
    _ places: Range<Int>, from first: Int, through last: Int, _ costs: [Double], _ next: inout [Double],
    _ starts: inout [Int32]
  ) {
    guard !places.isEmpty else { return }
    let middle = (places.lowerBound + places.upperBound) / 2
    // Beginning at 0 there is no class more.
    var (best, bestStart) = (costs[middle], 0)
    for start in stride(from: max(first, 1), through: min(middle, last), by: 1) {
      let cost = costs[start - 1] + cost(start, middle)
      if cost < best { (best, bestStart) = (cost, start) }
    }
    (next[middle], starts[middle]) = (best, Int32(bestStart))
    fill(places.lowerBound..<middle, from: first, through: max(bestStart, first), costs, &next, &starts)
    fill(middle + 1..<places.upperBound, from: bestStart, through: last, costs, &next, &starts)
  }

  /// The sum of the squared distances of some groups' numbers to their mean.
  @inline(__always)
  private func cost(_ first: Int, _ last: Int) -> Double {
    let (count, sum) = (counts[last + 1] - counts[first], sums[last + 1] - sums[first])
    return max(0, squares[last + 1] - squares[first] - sum * sum / count)
  }
}
