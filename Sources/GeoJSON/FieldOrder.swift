// The order of fields, as GDAL determines it: the order in the features if they agree, else the order of names.

/// The relation "field precedes field", kept without cycles.
struct FieldOrder {
  /// By field, the fields that follow it in some feature.
  private var followers: [[Int]] = []
  /// By field, the field that followed it last, which is mostly the next one again.
  private var last: [Int] = []
  /// Pairs that were examined, rejected ones included: a pair that would close a cycle once always will.
  private var known: Set<Pair> = []

  private struct Pair: Hashable {
    let first: Int
    let second: Int
  }

  /// - Complexity: O(1) for a pair that is known, else O(pairs).
  @inline(__always)
  mutating func note(_ first: Int, before second: Int) {
    if first < last.count, last[first] == second { return }
    add(first, second)
  }

  @inline(never)
  private mutating func add(_ first: Int, _ second: Int) {
    while last.count <= max(first, second) {
      last.append(-1)
      followers.append([])
    }
    last[first] = second
    guard first != second, known.insert(Pair(first: first, second: second)).inserted, !leads(from: second, to: first)
    else { return }
    followers[first].append(second)
  }

  private func leads(from first: Int, to second: Int) -> Bool {
    var visited = Set([first])
    var waiting = [first]
    while let next = waiting.popLast() {
      if next == second { return true }
      for follower in followers[next] where visited.insert(follower).inserted { waiting.append(follower) }
    }
    return false
  }

  /// The fields in order. If several can be next, the one whose name is first by bytes is.
  func sorted(_ names: [String]) -> [Int] {
    var before = [Int](repeating: 0, count: names.count)
    for list in followers { for follower in list { before[follower] += 1 } }
    var ready = names.indices.filter { before[$0] == 0 }
    var order: [Int] = []
    while let position = ready.indices.min(by: { Self.precedes(names[ready[$0]], names[ready[$1]]) }) {
      let next = ready.remove(at: position)
      order.append(next)
      guard next < followers.count else { continue }
      for follower in followers[next] {
        before[follower] -= 1
        if before[follower] == 0 { ready.append(follower) }
      }
    }
    return order
  }

  private static func precedes(_ one: String, _ other: String) -> Bool {
    one.utf8.lexicographicallyPrecedes(other.utf8)
  }
}
