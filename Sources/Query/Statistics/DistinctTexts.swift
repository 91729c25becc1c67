// Distinct texts, numbered: in one buffer, as an object for each of a million would take long to make and to free.

/// Texts by number, and a hash table of the numbers.
struct DistinctTexts: Sendable {
  private static let none = UInt32.max

  private var arena = TextArena()
  /// By number.
  private var offsets: [UInt32] = []
  /// By number: part of the hash.
  private var hashes: [UInt32] = []
  /// Numbers, by hash, with linear probing; at most half of them are used.
  private var table = [UInt32](repeating: none, count: 64)

  var count: Int { offsets.count }

  func withText<Result>(_ number: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    arena.withText(at: offsets[number], body)
  }

  /// The number of a text, a new one if it has none; nil if there is no room.
  mutating func number(of text: UnsafeRawBufferPointer) -> Int? {
    // Seeded for each process: texts that all collide cannot be prepared.
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
