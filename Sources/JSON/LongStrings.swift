// Long strings without escapes, such as base64, are copied: jansson reads strings byte by byte, several times.

import CJansson
import Platform

/// A text in which short keys stand for long strings.
struct LongStrings {
  /// Strings of at least twice as many bytes are found, since they hold a whole block without a quote.
  private static let block = 16 << 10
  private static let quote = UInt8(ascii: "\"")

  private(set) var text: [UInt8] = []
  private let given: UnsafeRawBufferPointer
  /// The strings' bytes by their keys.
  private var ranges: [String: Range<Int>] = [:]

  /// Nil if there are none.
  ///
  /// - Parameter given: the text, which outlives this value.
  init?(in given: UnsafeRawBufferPointer) {
    self.given = given
    // No text has a key by chance.
    let seed = String(UInt64.random(in: .min ... .max), radix: 36)
    var (start, copied) = (0, 0)
    while start + Self.block <= given.count {
      guard Self.quote(in: given, start..<start + Self.block) == nil else {
        start += Self.block
        continue
      }
      guard let end = Self.quote(in: given, start + Self.block..<given.count) else { break }
      while start > copied, given[start - 1] != Self.quote { start -= 1 }
      if start > copied, Self.isPlain(given[start..<end]) {
        let key = "long\(ranges.count)of\(seed)"
        text += given[copied..<start]
        text += key.utf8
        ranges[key] = start..<end
        copied = end
      }
      start = end + 1
    }
    guard !ranges.isEmpty else { return nil }
    text += given[copied...]
  }

  private static func quote(in text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int? {
    guard let base = text.baseAddress, let found = memchr(base + range.lowerBound, Int32(quote), range.count) else { return nil }
    return UnsafeRawPointer(found) - base
  }

  /// Whether bytes between two quotes are a string without escapes. A key in place of others would be as malformed as they are: only a
  /// string has a letter or digit after its quote.
  private static func isPlain(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard let first = bytes.first, (0x30...0x39).contains(first) || (0x41...0x5a).contains(first) || (0x61...0x7a).contains(first) else {
      return false
    }
    // The loop vectorizes: of all bytes, how far from the first and how near to the backslash.
    var (farthest, nearest) = (UInt8.min, UInt8.max)
    for byte in UnsafeRawBufferPointer(rebasing: bytes) {
      farthest = max(farthest, byte &- 0x20)
      nearest = min(nearest, byte ^ UInt8(ascii: "\\"))
    }
    return farthest <= 0x7e - 0x20 && nearest > 0
  }

  /// Puts the strings in the places of their keys.
  ///
  /// - Returns: false if some keys are not whole strings of the tree, which is then of no use.
  func restore(in root: UnsafeMutablePointer<json_t>) -> Bool {
    var (open, left) = ([root], ranges.count)
    func string(_ node: UnsafeMutablePointer<json_t>?) -> UnsafeMutablePointer<json_t>? {
      guard let node, node.pointee.type == JSON_STRING, let key = json_string_value(node), json_string_length(node) < 64,
        let range = ranges[String(cString: key)]
      else { return nil }
      left -= 1
      return json_stringn_nocheck(given.baseAddress.map { $0 + range.lowerBound }?.assumingMemoryBound(to: CChar.self), range.count)
    }
    while let node = open.popLast() {
      if node.pointee.type == JSON_ARRAY {
        for index in 0..<json_array_size(node) {
          guard let element = json_array_get(node, index) else { continue }
          if let string = string(element) { json_array_set_new(node, index, string) } else { open.append(element) }
        }
      } else if node.pointee.type == JSON_OBJECT {
        var member = json_object_iter(node)
        while let each = member {
          if let value = json_object_iter_value(each) {
            if let string = string(value) { json_object_iter_set_new(node, each, string) } else { open.append(value) }
          }
          member = json_object_iter_next(node, each)
        }
      }
    }
    return left == 0
  }
}
