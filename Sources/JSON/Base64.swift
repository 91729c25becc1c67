// Base64 (RFC 4648, section 4): the form of bytes in JSON.

import Platform

package enum Base64 {
  /// The decoded bytes; nil if `text` is not padded base64.
  ///
  /// - Complexity: O(n), four characters per step. Invalid characters are collected in one bit mask, so that the loop has no branch.
  package static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 4) else { return nil }
    guard let start = text.baseAddress, !text.isEmpty else { return [] }
    let padding = text[text.count - 1] != pad ? 0 : text[text.count - 2] != pad ? 1 : 2
    guard memchr(start, CInt(pad), text.count - padding) == nil else { return nil }
    var bad: UInt8 = 0
    // Padding is decoded as zeros, which are not counted.
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

  /// Encodes bytes, with padding.
  ///
  /// - Complexity: O(n), three bytes per step: two characters are looked up at once.
  package static func encode(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    let size = (bytes.count + 2) / 3 * 4
    return [UInt8](unsafeUninitializedCapacity: size) { output, count in
      pairs.withUnsafeBufferPointer { pairs in
        let raw = UnsafeMutableRawBufferPointer(output)
        func put(_ word: UInt32, at offset: Int) {
          let (first, second) = (UInt32(pairs[Int(word &>> 12)]), UInt32(pairs[Int(word & 0xfff)]))
          raw.storeBytes(of: (first | second &<< 16).littleEndian, toByteOffset: offset, as: UInt32.self)
        }
        let whole = bytes.count / 3 * 3
        var offset = 0
        for start in stride(from: 0, to: whole, by: 3) {
          put(UInt32(bytes[start]) &<< 16 | UInt32(bytes[start &+ 1]) &<< 8 | UInt32(bytes[start &+ 2]), at: offset)
          offset &+= 4
        }
        count = size
        guard whole < bytes.count else { return }
        let second = whole + 1 < bytes.count ? UInt32(bytes[whole + 1]) : 0
        put(UInt32(bytes[whole]) << 16 | second << 8, at: offset)
        output[size - 1] = pad
        if whole + 1 == bytes.count { output[size - 2] = pad }
      }
    }
  }

  private static let pad = UInt8(ascii: "=")
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The two characters of twelve bits, the first in the low byte.
  private static let pairs: [UInt16] = (0..<4096).map { UInt16(alphabet[$0 >> 6]) | UInt16(alphabet[$0 & 63]) << 8 }

  /// The six bits of each character; the high bit marks bytes outside the alphabet.
  private static let values: [UInt8] = {
    var table = [UInt8](repeating: 0x80, count: 256)
    for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
    table[Int(pad)] = 0
    return table
  }()
}
