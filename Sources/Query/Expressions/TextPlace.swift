// Where something stands in a text that a person wrote, as editors count.

/// A place in a text.
public struct TextPlace: Hashable, Sendable {
  /// From 1; lines end with a line feed.
  public let line: Int
  /// From 1, in Unicode scalars.
  public let column: Int
  /// In bytes of UTF-8, from 0.
  public let offset: Int

  /// - Parameters:
  ///   - offset: in bytes, from 0.
  ///   - text: as UTF-8.
  /// - Complexity: O(offset).
  public init(at offset: Int, in text: some Sequence<UInt8>) {
    var line = 1
    var column = 1
    for byte in text.prefix(offset) {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    self.line = line
    self.column = column
    self.offset = offset
  }
}
