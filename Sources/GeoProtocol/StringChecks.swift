// The patterns of the protocol's string types, by hand: a regular expression engine would cost more than it brings.
//
// A type of kind "string" with a pattern needs a function here, named like the type.

package enum StringChecks {
  /// `[A-Za-z0-9_.-]{1,64}`
  package static func objectId(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// `#([0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})`
  package static func color(_ text: String) -> Bool {
    [7, 9].contains(text.utf8.count) && text.utf8.first == UInt8(ascii: "#")
      && text.utf8.dropFirst().allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"),
          UInt8(ascii: "a")...UInt8(ascii: "f"):
          true
        default: false
        }
      }
  }

  /// `[A-Za-z_][A-Za-z0-9_]{0,63}`
  package static func propertyName(_ text: String) -> Bool {
    guard let first = text.utf8.first, (1...64).contains(text.utf8.count) else { return false }
    return !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}
