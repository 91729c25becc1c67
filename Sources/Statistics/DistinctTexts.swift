// Distinct texts, numbered. One buffer holds all, since a million separate objects would be slow to make and free.

import FeatureStore
import Sorting

/// Texts by number, and a hash table of the numbers.
struct DistinctTexts: Sendable {
  private static let none = UInt32.max

  private var arena = TextArena()
  /// Start of each text, by its number.
  private var offsets: [UInt32] = []
  /// Part of each text's hash, by its number.
  private var hashes: [UInt32] = []
  /// Hash table of numbers, with linear probing; at most half full.
  private var table = [UInt32](repeating: none, count: 64)

  var count: Int { offsets.count }

  func withText<Result>(_ number: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    arena.withText(at: offsets[number], body)
  }

  /// The number of a text; a new number if the text is new; nil if the buffer is full.
  mutating func number(of text: UnsafeRawBufferPointer) -> Int? {
    // Seeded per process, so that clients cannot prepare colliding texts.
    var hasher = Hasher()
    hasher.combine(bytes: text)
    let hash = UInt32(truncatingIfNeeded: hasher.finalize())
    var slot = Int(hash) & (table.count - 1)
    while table[slot] != Self.none {
      let number = Int(table[slot])
      if hashes[number] == hash, withText(number, { $0.isEqual(to: text) }) { return number }
      slot = (slot + 1) & (table.count - 1)
    }
    guard let offset = arena.append(text) else { return nil }
    table[slot] = UInt32(truncatingIfNeeded: count)
    offsets.append(offset)
    hashes.append(hash)
    if count * 2 > table.count { grow() }
    return count - 1
  }

  private mutating func grow() {
    table = [UInt32](repeating: Self.none, count: table.count * 2)
    for number in hashes.indices {
      var slot = Int(hashes[number]) & (table.count - 1)
      while table[slot] != Self.none { slot = (slot + 1) & (table.count - 1) }
      table[slot] = UInt32(truncatingIfNeeded: number)
    }
  }
}

// MARK: - Order

extension DistinctTexts {
  /// The numbers of the texts, sorted by bytes.
  ///
  /// Texts are sorted by the bytes after their common prefix; groups of texts that are equal so far are sorted again by the
  /// following bytes.
  ///
  /// - Parameter check: called every few thousand texts.
  /// - Complexity: O(bytes) for texts that differ soon after their common prefix.
  func sorted(checking check: CancellationCheck) throws -> [UInt32] {
    var keys = (0..<count).map { SortItem(key: 0, row: UInt32(truncatingIfNeeded: $0)) }
    var runs = [Run(range: 0..<count, start: 0)]
    var (rest, sinceCheck) = (count, 0)
    while let run = runs.popLast() {
      sinceCheck += run.range.count
      let done = Double(count - rest) / Double(max(count, 1))
      if sinceCheck > 1 << 12 {
        sinceCheck = 0
        try check(done)
      }
      rest -= run.range.count
      for tie in try sort(&keys, run, checking: { _ in try check(done) }) {
        rest += tie.range.count
        runs.append(tie)
      }
    }
    return keys.map(\.row)
  }

  /// Texts that have equal first bytes.
  private struct Run {
    let range: Range<Int>
    /// The number of equal bytes.
    let start: Int
  }

  /// - Returns: the runs in it whose texts are still equal.
  private func sort(_ keys: inout [SortItem], _ run: Run, checking check: CancellationCheck) throws -> [Run] {
    guard run.range.count > 1 else { return [] }
    let start = try commonPrefix(of: keys[run.range], from: run.start, checking: check)
    var part = Array(keys[run.range])
    for place in part.indices {
      if place & 0xfff == 0xfff { try check(0) }
      part[place].key = withText(Int(part[place].row)) { $0.orderKey(from: start) }
    }
    try SortItem.sort(&part, checking: check)
    keys.replaceSubrange(run.range, with: part)
    var ties: [Run] = []
    var first = 0
    for place in 1...part.count where place == part.count || part[place].key != part[first].key {
      if place - first > 1, part[first].key & 0xff == 8 {
        ties.append(Run(range: run.range.lowerBound + first..<run.range.lowerBound + place, start: start + 7))
      }
      first = place
    }
    return ties
  }

  /// Length of the common prefix of texts, in bytes; at least `start`.
  private func commonPrefix(
    of keys: ArraySlice<SortItem>, from start: Int, checking check: CancellationCheck
  ) throws -> Int {
    guard let first = keys.first else { return start }
    var common = withText(Int(first.row), \.count)
    var sinceCheck = 0
    for key in keys.dropFirst() where common > start {
      sinceCheck += common - start
      if sinceCheck > 1 << 20 {
        sinceCheck = 0
        try check(0)
      }
      common = withText(Int(first.row)) { first in
        withText(Int(key.row)) { text in
          let end = min(common, text.count)
          var place = start
          while place < end, first[place] == text[place] { place += 1 }
          return place
        }
      }
    }
    return max(common, start)
  }
}
