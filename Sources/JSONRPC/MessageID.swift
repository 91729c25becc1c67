// Finds the id in the text of a refused message, exactly as its sender wrote it, even if the text is incomplete.

import JSON

/// The id of a message, found in its text or in the beginning of the text.
struct MessageID {
  let id: RequestID
  /// Position behind the id.
  let end: Int

  /// Longer numbers are not accepted as ids.
  private static let maximumDigits = 1000

  /// Nil where no id can be answered: there is none, it is neither number nor string, or the text ends before it.
  ///
  /// - Complexity: linear in the text before the id.
  init?(in text: UnsafeRawBufferPointer) {
    var scan = TextScan(text)
    guard scan.take("{") else { return nil }
    while true {
      guard let name = scan.value(), scan.take(":"), let value = scan.value() else { return nil }
      if Self.isID(text[name]) {
        guard let id = Self.id(text[value]) else { return nil }
        self.id = id
        end = value.upperBound
        return
      }
      guard scan.take(",") else { return nil }
    }
  }

  /// The id in the beginning of a message over the size limit; nil for a response, whose id is not that of a request.
  static func ofBeginning(_ text: UnsafeRawBufferPointer) -> MessageID? { isResponse(text) ? nil : MessageID(in: text) }

  private static func isResponse(_ text: UnsafeRawBufferPointer) -> Bool {
    var scan = TextScan(text)
    guard scan.take("{") else { return false }
    repeat {
      guard let name = scan.value(), scan.take(":") else { return false }
      if text[name].elementsEqual("\"method\"".utf8) { return false }
      if ["\"result\"", "\"error\""].contains(where: { text[name].elementsEqual($0.utf8) }) { return true }
      guard scan.value() != nil else { return false }
    } while scan.take(",")
    return false
  }

  /// The ids of a batch's messages, in order.
  static func ofBatch(_ text: UnsafeRawBufferPointer) -> [RequestID?] {
    var scan = TextScan(text)
    var ids: [RequestID?] = []
    guard scan.take("[") else { return [] }
    repeat {
      guard let message = scan.value() else { break }
      ids.append(MessageID(in: UnsafeRawBufferPointer(rebasing: text[message]))?.id)
    } while scan.take(",")
    return ids
  }

  /// Whether a member's name is `id`; it may be spelled with escapes.
  private static func isID(_ name: Slice<UnsafeRawBufferPointer>) -> Bool {
    if name.elementsEqual("\"id\"".utf8) { return true }
    guard name.count <= 14, name.contains(UInt8(ascii: "\\")) else { return false }
    return read(name) { $0.kind == .string && $0.withUTF8 { $0.elementsEqual("id".utf8) } } ?? false
  }

  private static func id(_ text: Slice<UnsafeRawBufferPointer>) -> RequestID? {
    // Nearly all ids are small numbers.
    if text.count < 19, let first = text.first, first &- UInt8(ascii: "1") < 9, text.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) {
      return .integer(text.reduce(0) { $0 * 10 + Int64($1 &- UInt8(ascii: "0")) })
    }
    if let id = read(text, { RequestID($0) }) ?? nil {
      guard case .integer(let number) = id, text.contains(where: { ".eE".utf8.contains($0) }) else { return id }
      return .whole(number, written: String(decoding: text, as: UTF8.self))
    }
    guard text.count <= maximumDigits, isNumber(text) else { return nil }
    return .number(String(decoding: text, as: UTF8.self))
  }

  private static func read<T>(_ text: Slice<UnsafeRawBufferPointer>, _ body: (JSONValue) -> T) -> T? {
    let document = try? JSONDocument(Array("[".utf8) + text + Array("]".utf8))
    return document?.read { body($0[0]) }
  }

  /// Whether a text is a number of JSON, however large.
  private static func isNumber(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
    var rest = text
    func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
    func take(_ bytes: StaticString) -> Bool {
      guard let first = rest.first, "\(bytes)".utf8.contains(first) else { return false }
      rest = rest.dropFirst()
      return true
    }
    func takeDigits() -> Bool {
      let digits = rest.prefix(while: isDigit)
      rest = rest.dropFirst(digits.count)
      return !digits.isEmpty
    }
    _ = take("-")
    let startsWithZero = rest.first == UInt8(ascii: "0")
    let whole = rest.count
    guard takeDigits(), !startsWithZero || whole - rest.count == 1 else { return false }
    if take(".") { guard takeDigits() else { return false } }
    if take("eE") {
      _ = take("+-")
      guard takeDigits() else { return false }
    }
    return rest.isEmpty
  }
}

/// Steps over JSON values without checking them; callers check validity elsewhere.
private struct TextScan {
  private let text: UnsafeRawBufferPointer
  private var position = 0

  init(_ text: UnsafeRawBufferPointer) { self.text = text }

  /// Steps over `byte` if it is next.
  mutating func take(_ byte: Unicode.Scalar) -> Bool {
    skipSpace()
    guard position < text.count, text[position] == UInt8(ascii: byte) else { return false }
    position += 1
    return true
  }

  /// Steps over a value; nil if the text ends before it does.
  mutating func value() -> Range<Int>? {
    skipSpace()
    let start = position
    return skipValue() ? start..<position : nil
  }

  mutating func skipValue() -> Bool {
    var depth = 0
    repeat {
      skipSpace()
      guard position < text.count else { return false }
      switch text[position] {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        position += 1
      case UInt8(ascii: ","), UInt8(ascii: ":"):
        guard depth > 0 else { return false }
        position += 1
      case UInt8(ascii: "\""): guard skipString() else { return false }
      default:
        while position < text.count, !",:[]{}\" \t\r\n".utf8.contains(text[position]) { position += 1 }
        // A number at the end of the text may be truncated.
        guard position < text.count else { return false }
      }
    } while depth > 0
    return depth == 0
  }

  private mutating func skipString() -> Bool {
    position += 1
    while position < text.count {
      switch text[position] {
      case UInt8(ascii: "\\"): position += 2
      case UInt8(ascii: "\""):
        position += 1
        return true
      default: position += 1
      }
    }
    return false
  }

  private mutating func skipSpace() {
    while position < text.count, " \t\r\n".utf8.contains(text[position]) { position += 1 }
  }
}
