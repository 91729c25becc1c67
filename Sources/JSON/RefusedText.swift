// Reads JSON that RFC 8259 allows and the parser refuses, only as far as the answer needs the ids in it.

import CJansson

extension JSONDocument {
  /// The document of a text that was refused, with harmless values in place of what the parser cannot represent: lone surrogates,
  /// NUL in names, numbers beyond a double. Of members with the same name the last one counts. Nil for a text that is not JSON.
  /// Use it only to find the ids under which an error is answered, never to run requests.
  ///
  /// - Parameter isShallow: whether to omit everything below the messages of a batch; for a text that is too deep or has too many
  ///   values.
  /// - Complexity: O(n).
  public static func standIn(for text: UnsafeRawBufferPointer, isShallow: Bool) -> JSONDocument? {
    if isShallow {
      let shallow = shallow(text)
      return shallow.withUnsafeBytes { standIn(for: $0, isShallow: false) }
    }
    let harmless = HarmlessText(text).bytes
    return harmless.withUnsafeBytes { try? JSONDocument(refused: $0) }
  }
}

/// A text with 0 in place of the arrays and objects below its second level.
private func shallow(_ text: UnsafeRawBufferPointer) -> [UInt8] {
  var result: [UInt8] = []
  var (depth, inString, isEscaped) = (0, false, false)
  for byte in text {
    let isOpening = !inString && (byte == UInt8(ascii: "{") || byte == UInt8(ascii: "["))
    let isClosing = !inString && (byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]"))
    if isOpening { depth += 1 }
    if depth <= 2 { result.append(byte) }
    if isOpening, depth == 3 { result.append(UInt8(ascii: "0")) }
    if isClosing { depth -= 1 }
    if byte == UInt8(ascii: "\""), !isEscaped { inString.toggle() }
    isEscaped = inString && byte == UInt8(ascii: "\\") && !isEscaped
  }
  return result
}

/// A copy of a text in which escapes and numbers that the parser refuses are replaced by others of the same length.
private struct HarmlessText {
  private(set) var bytes: [UInt8]
  private var index = 0

  init(_ text: UnsafeRawBufferPointer) {
    bytes = Array(text)
    var inString = false
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\\") where inString: escape()
      case UInt8(ascii: "\""):
        inString.toggle()
        index += 1
      case UInt8(ascii: "-") where !inString, UInt8(ascii: "0")...UInt8(ascii: "9") where !inString: number()
      default: index += 1
      }
    }
  }

  /// The code unit of a `\u` escape at an index; nil if something else is there.
  private func unit(at index: Int) -> UInt16? {
    guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
      return nil
    }
    let digits = bytes[index + 2..<index + 6]
    return digits.allSatisfy { UnicodeScalar($0).properties.isASCIIHexDigit }
      ? UInt16(String(decoding: digits, as: UTF8.self), radix: 16) : nil
  }

  private mutating func escape() {
    guard let first = unit(at: index) else {
      index += 2
      return
    }
    if 0xD800...0xDBFF ~= first, let second = unit(at: index + 6), 0xDC00...0xDFFF ~= second {
      index += 12
      return
    }
    if 0xD800...0xDFFF ~= first || first == 0 {
      bytes.replaceSubrange(index + 2..<index + 6, with: "FFFD".utf8)
    }
    index += 6
  }

  private mutating func number() {
    let start = index
    while index < bytes.count, "0123456789-+.eE".utf8.contains(bytes[index]) { index += 1 }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    guard let value = Double(text), value.isInfinite else { return }
    // 1e400 becomes 0.000: no such number is shorter.
    let digits = value < 0 ? start + 1 : start
    for place in digits..<index { bytes[place] = UInt8(ascii: "0") }
    bytes[digits + 1] = UInt8(ascii: ".")
  }
}
