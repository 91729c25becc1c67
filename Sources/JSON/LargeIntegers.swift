// Integers beyond 64 bits: valid JSON that jansson rejects. JavaScript writes a double of 2^64 as an integer.

enum LargeIntegers {
  /// The text with `.0` appended to each integer beyond 64 bits, so that it is read as the nearest double; nil if there
  /// is none.
  ///
  /// - Complexity: O(n).
  static func asReals(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    var result: [UInt8] = []
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
        guard isTooLarge(text[start..<index]) else { continue }
        result.append(contentsOf: text[copied..<index])
        result.append(contentsOf: ".0".utf8)
        copied = index
      default: index += 1
      }
    }
    guard copied > 0 else { return nil }
    result.append(contentsOf: text[copied...])
    return result
  }

  private static func isTooLarge(_ number: Slice<UnsafeRawBufferPointer>) -> Bool {
    number.count >= 19 && !number.contains { ".eE".utf8.contains($0) }
      && Int64(String(decoding: number, as: UTF8.self)) == nil
  }
}
