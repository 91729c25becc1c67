// The one rule for comparing a client's text: by code points. Swift's `String ==` follows canonical equivalence, under which "é" as one
// code point equals "é" as two; a change from one to the other would be lost.

import Platform

/// A client's text, equal to another that has the same code points.
///
/// Stored properties of `Equatable` types, keys of dictionaries and elements of sets are of this type where a client chooses the text:
///
/// ```swift
/// struct Bookmark: Hashable { let name: Text }
/// Text("e\u{301}") == Text("\u{E9}")  // false; true for String
/// ```
///
/// - Complexity: `==` and hashing are O(n) in bytes.
public struct Text: Hashable, Sendable {
  public let string: String

  @inlinable public init(_ string: String) { self.string = string }
  @inlinable public init?(_ string: String?) {
    guard let string else { return nil }
    self.string = string
  }

  @inlinable
  public static func == (left: Text, right: Text) -> Bool {
    let (left, right) = (left.string, right.string)
    let count = left.utf8.count
    guard count == right.utf8.count else { return false }
    // Strings of up to 15 bytes are stored inline, where `==` is faster than access to the bytes. It is exact if the byte counts are
    // equal and one is ASCII: every other text that is canonically equivalent to an ASCII text is longer.
    if count <= 15, left.utf16.count == count { return left == right }
    let isSame = left.utf8.withContiguousStorageIfAvailable { left in
      right.utf8.withContiguousStorageIfAvailable { right in
        guard let left = left.baseAddress, let start = right.baseAddress else { return true }
        return memcmp(left, start, right.count) == 0
      }
    }
    // Only bridged strings are not contiguous.
    return (isSame ?? nil) ?? left.utf8.elementsEqual(right.utf8)
  }

  @inlinable
  public func hash(into hasher: inout Hasher) {
    var string = string
    string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension Text: ExpressibleByStringLiteral, CustomStringConvertible {
  @inlinable public init(stringLiteral value: String) { string = value }
  public var description: String { string }
}

extension StringProtocol {
  /// Whether the text starts with the code points of `prefix`. `hasPrefix` compares characters: a combining mark after the prefix hides
  /// it.
  @inlinable
  public func begins(with prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}
