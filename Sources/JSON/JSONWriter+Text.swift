// Writes strings with their escapes.

extension JSONWriter {
  public mutating func value(_ text: String) {
    var text = text
    text.withUTF8 { value(utf8: $0) }
  }

  public mutating func value(_ text: StaticString) {
    text.withUTF8Buffer { value(utf8: $0) }
  }

  /// Writes a string given as valid UTF-8.
  public mutating func value(utf8 text: UnsafeBufferPointer<UInt8>) {
    separate()
    reserve(text.count + 2)
    start[count] = UInt8(ascii: "\"")
    count += 1
    var copied = 0
    for (index, byte) in text.enumerated() where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    {
      copy(text, copied..<index)
      escape(byte)
      copied = index + 1
    }
    copy(text, copied..<text.count)
    append(byte: UInt8(ascii: "\""))
  }

  @inline(__always)
  private mutating func copy(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
    guard let base = text.baseAddress, !range.isEmpty else { return }
    reserve(range.count)
    (start + count).update(from: base + range.lowerBound, count: range.count)
    count += range.count
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): append("\\\"")
    case UInt8(ascii: "\\"): append("\\\\")
    case 0x08: append("\\b")
    case 0x09: append("\\t")
    case 0x0A: append("\\n")
    case 0x0C: append("\\f")
    case 0x0D: append("\\r")
    default:
      append(byte < 0x10 ? "\\u000" : "\\u001")
      let low = byte & 0xF
      append(byte: low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
    }
  }
}
