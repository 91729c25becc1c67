// Skips a value of any kind, checking that it is JSON.

/// Names of the objects that are open while a value is skipped, to find duplicates.
struct OpenNames {
  fileprivate var hashes: [UInt64] = []
  /// An object with more names is left to GDAL: the comparison is quadratic.
  fileprivate static let limit = 256
}

extension TextScanner {
  /// Deeper values are left to GDAL.
  private static let depthLimit = 64

  /// Skips a value. If `names` is given, duplicate names in an object are ``TextStop/odd(_:)``.
  mutating func skipValue(_ names: inout OpenNames?, depth: Int = 0) throws(TextStop) {
    let byte = next()
    switch byte {
    case UInt8(ascii: "\""):
      at += 1
      _ = try string()
    case UInt8(ascii: "{"):
      at += 1
      try skipMembers(&names, depth: depth + 1)
    case UInt8(ascii: "["):
      at += 1
      try skipItems(&names, depth: depth + 1)
    case UInt8(ascii: "t"): try literal("true")
    case UInt8(ascii: "f"): try literal("false")
    case UInt8(ascii: "n"): try literal("null")
    default:
      guard Self.beginsNumber(byte) else { throw stop(at: at, "a value") }
      _ = try number()
    }
  }

  mutating func skipValue() throws(TextStop) {
    var names: OpenNames?
    try skipValue(&names)
  }

  private mutating func skipItems(_ names: inout OpenNames?, depth: Int) throws(TextStop) {
    guard depth <= Self.depthLimit else { throw .odd("values nested deeply") }
    if next() == UInt8(ascii: "]") {
      at += 1
      return
    }
    repeat { try skipValue(&names, depth: depth) } while try goesOn(UInt8(ascii: "]"))
  }

  private mutating func skipMembers(_ names: inout OpenNames?, depth: Int) throws(TextStop) {
    guard depth <= Self.depthLimit else { throw .odd("values nested deeply") }
    if next() == UInt8(ascii: "}") {
      at += 1
      return
    }
    let first = names?.hashes.count ?? 0
    repeat {
      let name = try self.name()
      try note(name, after: first, in: &names)
      try skipValue(&names, depth: depth)
    } while try goesOn(UInt8(ascii: "}"))
    names?.hashes.removeSubrange(first...)
  }

  private func note(_ name: RawString, after first: Int, in names: inout OpenNames?) throws(TextStop) {
    guard names != nil else { return }
    guard !name.hasEscapes else { throw .odd("an escape in a nested name") }
    let hash = hashed(name.bytes)
    let known = names?.hashes.dropFirst(first).contains(hash) ?? false
    guard !known, (names?.hashes.count ?? 0) - first < OpenNames.limit else {
      throw .odd("a nested name that occurs twice, or too many of them")
    }
    names?.hashes.append(hash)
  }
}

/// FNV-1a.
func hashed(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  return hash
}
