// Natural breaks: classes whose numbers differ least from each other.

/// The division of sorted numbers into classes with the least sum of squared distances to the class means.
///
/// Method: W. D. Fisher, "On Grouping for Maximum Homogeneity" (1958), applied to maps by G. F. Jenks. Dynamic programming over
/// the number of classes. The start of the best last class never decreases as values are added, so each row of the table is
/// filled by divide and conquer.
struct NaturalBreaks {
  /// Maximum number of groups. If there are more different numbers, neighbours are joined in groups of equal size, and breaks are
  /// exact up to a group.
  static let groupLimit = 20_000

  /// One number, or a group of neighbours.
  private struct Group {
    let end: Double
    let count: Int
  }
  private let groups: [Group]
  /// Prefix sums over the groups: number of values, their sum and the sum of their squares, scaled to half of the
  /// range.
  private let counts: [Double]
  private let sums: [Double]
  private let squares: [Double]

  /// - Parameter numbers: finite, ascending, at least one.
  init(_ numbers: [Double]) {
    let (least, greatest) = (numbers[0], numbers[numbers.count - 1])
    // Halved first, as the difference of two finite numbers may overflow.
    let middle = least / 2 + greatest / 2
    let half = max(greatest / 2 - least / 2, .leastNonzeroMagnitude)
    var (groups, counts, sums, squares) = ([Group](), [0.0], [0.0], [0.0])
    let different = 1 + zip(numbers, numbers.dropFirst()).count { $0 != $1 }
    let size = different <= Self.groupLimit ? 1 : (numbers.count + Self.groupLimit - 1) / Self.groupLimit
    var (count, sum, square) = (0, 0.0, 0.0)
    for (index, number) in numbers.enumerated() {
      let scaled = (number - middle) / half
      count += 1
      sum += scaled
      square += scaled * scaled
      // Equal numbers stay in one group.
      let isLast = index + 1 == numbers.count
      guard isLast || count >= size && numbers[index + 1] != number else { continue }
      groups.append(Group(end: number, count: count))
      counts.append(counts[counts.count - 1] + Double(count))
      sums.append(sums[sums.count - 1] + sum)
      squares.append(squares[squares.count - 1] + square)
      (count, sum, square) = (0, 0, 0)
    }
    (self.groups, self.counts, self.sums, self.squares) = (groups, counts, sums, squares)
  }

  /// The upper bound and the number of values of each class. Fewer classes if there are fewer different numbers.
  ///
  /// - Complexity: O(classes · n log n), with n close to ``groupLimit`` at most.
  func classes(_ wanted: Int, isCancelled: () -> Bool) -> [(end: Double, count: Int)] {
    let wanted = min(wanted, groups.count)
    // Costs of the best division of the groups up to each index, and the starts of its last class.
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
      // Start 0 means that one class fewer is as good.
      if start > 0 {
        result.append((groups[end - 1].end, count(start..<end)))
        end = start
      }
    }
    result.append((groups[end - 1].end, count(0..<end)))
    return result.reversed()
  }

  private func count(_ range: Range<Int>) -> Int { range.reduce(0) { $0 + groups[$1].count } }

  /// Finds the best start of the last class for each index of `indexes`, within `first...last`: tries all starts for the middle
  /// index, then recurses within the bounds that result. O(log n) deep.
  private func fill(
    _ indexes: Range<Int>, from first: Int, through last: Int, _ costs: [Double], _ next: inout [Double],
    _ starts: inout [Int32]
  ) {
    guard !indexes.isEmpty else { return }
    let middle = (indexes.lowerBound + indexes.upperBound) / 2
    // Start 0 means no further class.
    var (best, bestStart) = (costs[middle], 0)
    for start in stride(from: max(first, 1), through: min(middle, last), by: 1) {
      let cost = costs[start - 1] + cost(start, middle)
      if cost < best { (best, bestStart) = (cost, start) }
    }
    (next[middle], starts[middle]) = (best, Int32(bestStart))
    fill(indexes.lowerBound..<middle, from: first, through: max(bestStart, first), costs, &next, &starts)
    fill(middle + 1..<indexes.upperBound, from: bestStart, through: last, costs, &next, &starts)
  }

  /// Sum of squared distances of the groups' numbers to their mean.
  @inline(__always)
  private func cost(_ first: Int, _ last: Int) -> Double {
    let (count, sum) = (counts[last + 1] - counts[first], sums[last + 1] - sums[first])
    return max(0, squares[last + 1] - squares[first] - sum * sum / count)
  }
}
