// Integers beyond 64 bits: valid JSON that jansson rejects. JavaScript writes a double of 2^64 as an integer.

/// A text with `.0` appended to each integer beyond 64 bits, so that it is read as the nearest double.
struct LargeIntegers {
  private(set) var text: [UInt8] = []
  /// The offset behind each such integer in the original text.
  private var ends: [Int] = []

  /// Nil if there is none.
  ///
  /// - Complexity: O(n).
  init?(in text: UnsafeRawBufferPointer) {
    var copied = 0
    var inString = false
    var index = 0
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "\\") where inString: index += 2
      case UInt8(ascii: "\""):
        inString.toggle()
        index += 1
      case UInt8(ascii: "-") where !inString, UInt8(ascii: "0")...UInt8(ascii: "9") where !inString:
        let start = index
        while index < text.count, "0123456789-+.eE".utf8.contains(text[index]) { index += 1 }
        guard Self.isTooLarge(text[start..<index]) else { continue }
        self.text.append(contentsOf: text[copied..<index])
        self.text.append(contentsOf: ".0".utf8)
        ends.append(index)
        copied = index
      default: index += 1
      }
    }
    guard copied > 0 else { return nil }
    self.text.append(contentsOf: text[copied...])
  }

  /// The offset in the original text of an offset in ``text``.
  func original(_ offset: Int) -> Int {
    var inserted = 0
    for end in ends where end + inserted < offset { inserted += min(2, offset - end - inserted) }
    return offset - inserted
  }

  private static func isTooLarge(_ number: Slice<UnsafeRawBufferPointer>) -> Bool {
    number.count >= 19 && !number.contains { ".eE".utf8.contains($0) }
      && Int64(String(decoding: number, as: UTF8.self)) == nil
  }
}
