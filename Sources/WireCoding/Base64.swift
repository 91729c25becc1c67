// Decodes base64 (RFC 4648, section 4): the wire form of bytes and packed columns.

import Platform

enum Base64 {
  /// The decoded bytes; nil when `text` is not padded base64.
  ///
  /// - Complexity: O(n), four characters a step. Invalid characters are collected in one bit mask, so that the loop has no branch.
  static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 4) else { return nil }
    guard let start = text.baseAddress, !text.isEmpty else { return [] }
    let padding = text[text.count - 1] != pad ? 0 : text[text.count - 2] != pad ? 1 : 2
    guard memchr(start, CInt(pad), text.count - padding) == nil else { return nil }
    var bad: UInt8 = 0
    // Padding is decoded as zeros, which the count leaves out.
    let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { output, count in
      values.withUnsafeBufferPointer { values in
        var offset = 0
        for start in stride(from: 0, to: text.count, by: 4) {
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
        count = offset - padding
      }
    }
    return bad & 0x80 == 0 ? bytes : nil
  }

  private static let pad = UInt8(ascii: "=")

  /// The six bits of each character; the high bit marks bytes outside the alphabet.
  private static let values: [UInt8] = {
    var table = [UInt8](repeating: 0x80, count: 256)
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for (value, character) in alphabet.utf8.enumerated() { table[Int(character)] = UInt8(value) }
    table[Int(pad)] = 0
    return table
  }()
}
