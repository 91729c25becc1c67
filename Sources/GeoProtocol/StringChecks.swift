// The patterns of the protocol's string types, by hand: a regular expression engine would not pay off.
//
// Each type of kind "string" with a pattern needs a function here with the name of the type.

package enum StringChecks {
  /// `[A-Za-z0-9_.-]{1,64}`
  package static func objectId(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { isWord($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
  }

  /// `#([0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})`
  package static func color(_ text: String) -> Bool {
    [7, 9].contains(text.utf8.count) && text.utf8.first == UInt8(ascii: "#")
      && text.utf8.dropFirst().allSatisfy {
        isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0 | 0x20)
      }
  }

  /// `[A-Za-z_][A-Za-z0-9_]{0,63}`
  package static func propertyName(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= 64 else { return false }
    return !isDigit(first) && text.utf8.allSatisfy(isWord)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// `[A-Za-z0-9_]`
  private static func isWord(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
  }
}
