// The values of a tile's attributes, each written once: a feature refers to them by number.

import FeatureStore

/// Values as messages of a vector tile, in a hash table over their bytes: no text becomes a `String`.
struct TileValues: ~Copyable {
  private var messages = TileBytes()
  /// Where each message begins, and where the last one ends.
  private var offsets = [0]
  /// A number more than that of a value; 0 for a free place.
  private var table = [UInt32](repeating: 0, count: 256)
  private var hashes: [UInt64] = []
  private var scratch = TileBytes(capacity: 64)

  var count: Int { offsets.count - 1 }

  /// The number of a value; nil for null.
  mutating func number(of value: FeatureRow.Attribute) -> UInt32? {
    scratch.removeAll()
    switch value {
    case .null: return nil
    case .string(let text), .json(let text): scratch.put(field: 1, text)
    case .double(let number):
      scratch.put(3 << 3 | 1)
      scratch.append(number.bitPattern)
    case .integer(let number) where number >= 0: scratch.put(field: 4, UInt64(number))
    case .integer(let number): scratch.put(field: 6, UInt64(bitPattern: number << 1 ^ number >> 63))
    case .bool(let value): scratch.put(field: 7, value ? 1 : 0)
    }
    return place()
  }

  private mutating func place() -> UInt32 {
    let hash = Self.hash(scratch.bytes)
    var slot = Int(truncatingIfNeeded: hash) & (table.count - 1)
    while table[slot] != 0 {
      let number = Int(table[slot]) - 1
      if hashes[number] == hash, isEqual(number) { return UInt32(number) }
      slot = (slot + 1) & (table.count - 1)
    }
    messages.append(scratch.bytes)
    offsets.append(messages.count)
    hashes.append(hash)
    table[slot] = UInt32(count)
    if count * 2 > table.count { rehash() }
    return UInt32(count - 1)
  }

  private func isEqual(_ number: Int) -> Bool {
    let known = UnsafeRawBufferPointer(rebasing: messages.bytes[offsets[number]..<offsets[number + 1]])
    return known.elementsEqual(scratch.bytes)
  }

  private mutating func rehash() {
    table = [UInt32](repeating: 0, count: table.count * 4)
    for (number, hash) in hashes.enumerated() {
      var slot = Int(truncatingIfNeeded: hash) & (table.count - 1)
      while table[slot] != 0 { slot = (slot + 1) & (table.count - 1) }
      table[slot] = UInt32(number + 1)
    }
  }

  /// FNV-1a by words, its high bits mixed into the low ones.
  private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    var index = 0
    while index &+ 8 <= bytes.count {
      hash = (hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) &* 0x100_0000_01b3
      hash ^= hash &>> 29
      index &+= 8
    }
    while index < bytes.count {
      hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01b3
      index &+= 1
    }
    return hash ^ hash &>> 32
  }

  func write(to bytes: inout TileBytes) {
    for number in 0..<count {
      bytes.put(field: 4, UnsafeRawBufferPointer(rebasing: messages.bytes[offsets[number]..<offsets[number + 1]]))
    }
  }
}
