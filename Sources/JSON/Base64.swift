// Base64 (RFC 4648, section 4): the form of bytes in JSON.

import Platform

package enum Base64 {
  /// The number of bytes in `text`, if it is padded base64.
  package static func byteCount(_ text: UnsafeBufferPointer<UInt8>) -> Int {
    guard text.count >= 4 else { return 0 }
    return text.count / 4 * 3 - (text[text.count - 1] != pad ? 0 : text[text.count - 2] != pad ? 1 : 2)
  }

  /// The decoded bytes; nil if `text` is not padded base64.
  package static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? { decode(text, as: UInt8.self) }

  /// The decoded bytes as elements in the machine's byte order; nil if `text` is not padded base64 of whole ones.
  ///
  /// - Complexity: O(n), four characters per step. Invalid characters are collected in one bit mask, so that the loop has no branch.
  package static func decode<Element: BitwiseCopyable>(_ text: UnsafeBufferPointer<UInt8>, as: Element.Type) -> [Element]? {
    let (size, byteCount) = (MemoryLayout<Element>.stride, byteCount(text))
    guard text.count.isMultiple(of: 4), byteCount.isMultiple(of: size) else { return nil }
    guard let start = text.baseAddress, !text.isEmpty else { return [] }
    guard memchr(start, CInt(pad), (byteCount * 4 + 2) / 3) == nil else { return nil }
    var bad: UInt32 = 0
    let elements = [Element](unsafeUninitializedCapacity: byteCount / size) { output, count in
      let output = UnsafeMutableRawBufferPointer(output)
      words.withUnsafeBufferPointer { words in
        /// Three bytes in the order of a little-endian number.
        func word(_ group: Int) -> UInt32 {
          let text = start + group &* 4
          return words[Int(text[0])] | words[256 &+ Int(text[1])] | words[512 &+ Int(text[2])] | words[768 &+ Int(text[3])]
        }
        // A fourth byte is written with each three, and overwritten by the next.
        let roomy = max(0, byteCount - 1) / 3
        for group in 0..<roomy {
          let word = word(group)
          bad |= word
          output.storeBytes(of: word.littleEndian, toByteOffset: group &* 3, as: UInt32.self)
        }
        for group in roomy..<text.count / 4 {
          let word = word(group)
          bad |= word
          for byte in group * 3..<min(group * 3 + 3, byteCount) {
            output[byte] = UInt8(truncatingIfNeeded: word >> UInt32((byte - group * 3) * 8))
          }
        }
      }
      count = byteCount / size
    }
    return bad >> 24 == 0 ? elements : nil
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

  /// The bits of each character at each of the four places of a group; the highest byte marks those outside the alphabet.
  private static let words: [UInt32] = {
    var table = [UInt32](repeating: 0xFF00_0000, count: 4 * 256)
    for (bits, character) in zip(UInt32(0)..., alphabet + [pad]) {
      // Padding is decoded as zeros, which are not counted.
      let bits = bits & 63
      for (place, word) in [bits << 2, bits >> 4 | (bits & 15) << 12, (bits >> 2) << 8 | (bits & 3) << 22, bits << 16].enumerated() {
        table[place * 256 + Int(character)] = word
      }
    }
    return table
  }()
}
