// Decodes strings of JSON: replaces escapes by characters.

/// Appends the characters of a string whose escapes have been checked.
public func appendDecoded(_ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
  var index = 0
  while index < text.count {
    let byte = text[index]
    guard byte == UInt8(ascii: "\\") else {
      bytes.append(byte)
      index += 1
      continue
    }
    let kind = text[index + 1]
    index += 2
    switch kind {
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0C)
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "u"):
      var scalar = codeUnit(text, index)
      index += 4
      if scalar & 0xFC00 == 0xD800 {
        scalar = 0x10000 + (scalar & 0x3FF) << 10 + codeUnit(text, index + 2) & 0x3FF
        index += 6
      }
      if let scalar = Unicode.Scalar(scalar) {
        bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    default: bytes.append(kind)
    }
  }
}

private func codeUnit(_ text: UnsafeRawBufferPointer, _ index: Int) -> UInt32 {
  (0..<4).reduce(0) { $0 << 4 | UInt32(TextScanner.digit(text[index + $1]) ?? 0) }
}
