// Base64 (RFC 4648, section 4), decoded and encoded: the wire form of bytes and packed columns.

enum Base64 {
  /// The decoded bytes; nil when `text` is not padded base64.
  ///
  /// - Complexity: O(n), four characters a step. Invalid characters are collected in one bit mask, so that the loop has no branch.
  static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 4) else { return nil }
    guard !text.isEmpty else { return [] }
    let padding = text[text.count - 1] == 0x3D ? (text[text.count - 2] == 0x3D ? 2 : 1) : 0
    let size = text.count / 4 * 3 - padding
    var bad: UInt8 = 0
    // Padding counts in the capacity and not in the initialized count, so that the last step writes three bytes always.
    let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { output, count in
      values.withUnsafeBufferPointer { values in
        var offset = 0
        for start in stride(from: 0, to: text.count - 4, by: 4) {
          let first = values[Int(text[start])]
          let second = values[Int(text[start &+ 1])]
          let third = values[Int(text[start &+ 2])]
          let fourth = values[Int(text[start &+ 3])]
          bad |= first | second | third | fourth
          let word = UInt32(first) &<< 18 | UInt32(second) &<< 12 | UInt32(third) &<< 6 | UInt32(fourth)
          output[offset] = UInt8(truncatingIfNeeded: word &>> 16)
          output[offset &+ 1] = UInt8(truncatingIfNeeded: word &>> 8)
          output[offset &+ 2] = UInt8(truncatingIfNeeded: word)
          offset &+= 3
        }
        let last = text.count - 4
        let third = padding == 2 ? 0 : values[Int(text[last + 2])]
        let fourth = padding > 0 ? 0 : values[Int(text[last + 3])]
        let first = values[Int(text[last])]
        let second = values[Int(text[last + 1])]
        bad |= first | second | third | fourth
        let word = UInt32(first) << 18 | UInt32(second) << 12 | UInt32(third) << 6 | UInt32(fourth)
        for index in 0..<3 { output[offset + index] = UInt8(truncatingIfNeeded: word >> UInt32(16 - 8 * index)) }
      }
      count = size
    }
    return bad & 0x80 == 0 ? bytes : nil
  }

  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let rest = min(3, bytes.count - start)
      let word =
        UInt32(bytes[start]) << 16 | (rest > 1 ? UInt32(bytes[start + 1]) << 8 : 0)
        | (rest > 2 ? UInt32(bytes[start + 2]) : 0)
      for index in 0..<4 {
        text.append(index <= rest ? alphabet[Int(word >> UInt32(18 - 6 * index) & 0x3F)] : 0x3D)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The six bits of each character; the high bit marks bytes outside the alphabet.
  private static let values: [UInt8] = {
    var table = [UInt8](repeating: 0x80, count: 256)
    for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
    return table
  }()
}
