// The place of an object in the order of creation, as a key.

/// The number of an object as a key of persistent trees, which are snapshots at no cost.
///
/// Its hash is the number itself: trees that grow and shrink in the order of creation touch one small part after the other, which
/// the processor's caches hold, where a random hash leads to another node each time. Clients choose no numbers, so they cannot choose
/// hashes.
struct CreationNumber: Hashable, Comparable, Sendable {
  let number: Int

  init(_ number: Int) { self.number = number }

  static func < (left: CreationNumber, right: CreationNumber) -> Bool { left.number < right.number }

  func hash(into hasher: inout Hasher) { hasher.combine(number) }

  /// Trees read a hash by digits of five bits, from the root's, the lowest, on. The four lowest digits are in reverse order, so that
  /// up to a million objects, 32 consecutive numbers are in one node.
  func _rawHashValue(seed: Int) -> Int {
    let lowest = (number & 31) << 15 | (number >> 5 & 31) << 10 | (number >> 10 & 31) << 5 | (number >> 15 & 31)
    return number & ~0xF_FFFF | lowest
  }
}
