// The place of an object in the order of creation, as a key.

/// The number of an object as a key of persistent trees, which are snapshots at no cost.
///
/// The hash is the number itself. Objects are mostly inserted and removed in the order of creation, so successive operations
/// touch the same small part of a tree, which stays in the processor's caches; random hashes would lead to a different node each
/// time. Clients do not choose numbers, so they cannot choose hashes.
struct CreationNumber: Hashable, Comparable, Sendable {
  let number: Int

  init(_ number: Int) { self.number = number }

  static func < (left: CreationNumber, right: CreationNumber) -> Bool { left.number < right.number }

  func hash(into hasher: inout Hasher) { hasher.combine(number) }

  /// Trees read a hash in digits of five bits, lowest first, from the root down. The four lowest digits are reversed, so that for
  /// up to a million objects 32 consecutive numbers share one node.
  func _rawHashValue(seed: Int) -> Int {
    let lowest = (number & 31) << 15 | (number >> 5 & 31) << 10 | (number >> 10 & 31) << 5 | (number >> 15 & 31)
    return number & ~0xF_FFFF | lowest
  }
}
