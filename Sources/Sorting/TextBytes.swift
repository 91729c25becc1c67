// Comparison and hashing of texts as bytes in place.

import Platform

extension UnsafeRawBufferPointer {
  @inline(__always)
  package func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard count > 0, let a = baseAddress, let b = other.baseAddress else { return true }
    return memcmp(a, b, count) == 0
  }

  /// Negative, zero or positive as this text is less than, equal to or greater than `other`, by bytes.
  @inline(__always)
  package func order(to other: UnsafeRawBufferPointer) -> Int {
    let common = Swift.min(count, other.count)
    if common > 0, let a = baseAddress, let b = other.baseAddress {
      let order = memcmp(a, b, common)
      if order != 0 { return Int(order) }
    }
    return count - other.count
  }

  /// Seven bytes of a text from `start`, followed in the lowest byte by the number of remaining bytes, or 8 for more than seven.
  /// If two keys are equal, then the texts are equal, or both continue after the seven bytes.
  @inline(__always)
  package func orderKey(from start: Int) -> UInt64 {
    let rest = count &- start
    guard rest < 8 else {
      return UInt64(bigEndian: loadUnaligned(fromByteOffset: start, as: UInt64.self)) & ~0xff | 8
    }
    var key: UInt64 = 0
    for index in start..<start &+ 7 { key = key << 8 | (index < count ? UInt64(self[index]) : 0) }
    return key << 8 | UInt64(Swift.max(rest, 0))
  }

  /// FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo), eight bytes at a time, for hash tables that exist only during one call.
  @inline(__always)
  package var quickHash: UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    var index = 0
    while index + 8 <= count {
      hash = (hash ^ loadUnaligned(fromByteOffset: index, as: UInt64.self)) &* 0x0000_0100_0000_01b3
      hash ^= hash >> 29
      index += 8
    }
    while index < count {
      hash = (hash ^ UInt64(self[index])) &* 0x0000_0100_0000_01b3
      index += 1
    }
    return hash ^ hash >> 32
  }
}
