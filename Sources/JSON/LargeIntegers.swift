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
        while index < text.count, isOfNumber(text[index]) { index += 1 }
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

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
      UInt8(ascii: "e"),
      UInt8(ascii: "E"):
      true
    default: false
    }
  }

  private static func isTooLarge(_ number: Slice<UnsafeRawBufferPointer>) -> Bool {
    let digits = number.first == UInt8(ascii: "-") ? number.dropFirst() : number
    guard digits.count >= 19, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return false
    }
    return Int64(String(decoding: number, as: UTF8.self)) == nil
  }
}
