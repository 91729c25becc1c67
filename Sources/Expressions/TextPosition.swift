// Positions in a text, in the units of editors.

/// A position in a text.
public struct TextPosition: Hashable, Sendable {
  /// 1-based; lines end with a line feed.
  public let line: Int
  /// 1-based, in Unicode scalars.
  public let column: Int
  /// 0-based, in bytes of UTF-8.
  public let offset: Int

  /// - Parameters:
  ///   - offset: 0-based, in bytes.
  ///   - text: the text in UTF-8.
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
