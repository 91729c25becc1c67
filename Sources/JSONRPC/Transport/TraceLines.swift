// The traffic as steps of a transcript that do it again, and want the same of the server: Protocol/conformance/README.md says what
// they mean.

import JSON
import Platform

/// Writes events as lines.
struct TraceLines: Sendable {
  /// Who writes, for people.
  let server: String
  /// The server's arguments that matter for a replay.
  let arguments: [String]
  /// Members of what the server sends that are another every time.
  let varying: [String]

  /// - Parameter writer: has to be empty or end with a line end.
  func write(_ event: TraceEvent, to writer: inout JSONWriter) {
    let start = writer.count
    writer.beginObject()
    switch event {
    case .begun(let framing): writeHead(framing, to: &writer)
    case .received(let text): writeReceived(text, to: &writer)
    case .unframed(let bytes):
      writer.key("sendRaw")
      Self.writeText(bytes, to: &writer)
    case .skipped(let count, let endsLine):
      // Nobody looked at what it was; in lines, a session may begin with it.
      writer.key("sendRaw")
      writer.raw(#"[{"$repeat":"[","count":\#(count)}\#(endsLine ? #","\n""# : "")]"#)
    case .sent(let text, let isLate): writeSent(text, isLate, to: &writer)
    case .inputEnded:
      writer.key("closeInput")
      writer.value(true)
    case .ended(let code?):
      writer.key("expectExit")
      writer.value(Int(code))
    case .ended(nil):
      writer.key("stop")
      writer.value(true)
    case .leftOut(let count):
      writer.key("leftOut")
      writer.value(count)
    }
    writer.endObject()
    // A text of the client's may have line ends between its tokens.
    writer.replace(0x0A, by: 0x20, from: start)
    writer.replace(0x0D, by: 0x20, from: start)
    writer.append(byte: 0x0A)
  }

  private func writeHead(_ framing: Framing, to writer: inout JSONWriter) {
    writer.key("case")
    writer.value("trace")
    writer.key("server")
    writer.value(server)
    writer.key("framing")
    writer.value(framing.rawValue)
    if !arguments.isEmpty {
      writer.key("args")
      writer.array(arguments) { Self.writeText(Array($0.utf8), to: &$1) }
    }
    // How often work reports, and among which messages it ends, is decided by time alone.
    writer.key("skip")
    writer.raw(#"[{"method":"$/progress"}]"#)
  }

  // MARK: - Messages

  /// Nobody reads a longer message, and its tree would take ten times the memory.
  private static let readable = 1 << 20

  private func writeReceived(_ text: [UInt8], to writer: inout JSONWriter) {
    guard text.count <= Self.readable, let document = try? JSONDocument(text) else {
      writer.key("sendText")
      return Self.writeText(text, to: &writer)
    }
    writer.key("send")
    // As the client wrote it, where a runner would not make anything else of it.
    let isPlain = document.read { Self.isWhole($0) && !Self.isMarked($0) }
    text.withUnsafeBytes { bytes in
      guard !isPlain else { return writer.raw(bytes) }
      writer.beginObject()
      writer.key("$literal")
      writer.raw(bytes)
      writer.endObject()
    }
  }

  private func writeSent(_ text: [UInt8], _ isLate: Bool, to writer: inout JSONWriter) {
    let document = text.count > Self.readable && !Self.holdsDollar(text) ? nil : try? JSONDocument(text)
    if let document, document.read(Self.isTalk) {
      writer.key("note")
      return text.withUnsafeBytes { writer.raw($0) }
    }
    let isBatch = text.first == UInt8(ascii: "[")
    let answers = text.starts(with: #"{"jsonrpc":"2.0","id":"#.utf8)
    // What could not be read as a request is refused at once.
    let floats = isLate && (isBatch || answers && !text.starts(with: #"{"jsonrpc":"2.0","id":null"#.utf8))
    writer.key("expect")
    if floats, isBatch {
      writer.beginObject()
      writer.key("$unordered")
    }
    if let document {
      document.read { writePattern($0, to: &writer) }
    } else {
      text.withUnsafeBytes { writer.raw($0) }
    }
    if floats, isBatch { writer.endObject() }
    if floats {
      writer.key("late")
      writer.value(true)
    }
  }

  /// The value as the pattern that it matches, and other values only where it varies.
  private func writePattern(_ value: JSONValue, to writer: inout JSONWriter) {
    switch value.kind {
    case .object where !Self.hasMatcher(value):
      writer.beginObject()
      value.forEachMember { name, member in
        writer.key(utf8: name)
        if varying.contains(where: { name.elementsEqual($0.utf8) }) {
          writer.raw(#"{"$any":true}"#)
        } else {
          writePattern(member, to: &writer)
        }
      }
      writer.endObject()
    case .array:
      writer.beginArray()
      for index in 0..<value.count { writePattern(value[index], to: &writer) }
      writer.endArray()
    case .object: Self.writeLiteral(value, to: &writer)
    case .string where value.withUTF8(Self.hasName): Self.writeLiteral(value, to: &writer)
    default: value.encode(to: &writer)
    }
  }

  private static func writeLiteral(_ value: some JSONEncodable, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("$literal")
    value.encode(to: &writer)
    writer.endObject()
  }

  /// Bytes that are no message.
  private static func writeText(_ bytes: [UInt8], to writer: inout JSONWriter) {
    let isName = bytes.withUnsafeBufferPointer(hasName)
    if let text = String(validating: bytes, as: UTF8.self) {
      guard isName else { return writer.value(text) }
      writer.beginObject()
      writer.key("$literal")
      writer.value(text)
      return writer.endObject()
    }
    writer.beginObject()
    writer.key("$base64")
    writer.value(base64(bytes))
    writer.endObject()
  }

  /// RFC 4648, section 4.
  private static func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let word = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for index in 0..<4 {
        text.append(index <= group.count ? alphabet[Int(word >> UInt32(18 - 6 * index) & 0x3F)] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  // MARK: - What a runner would read otherwise

  private static let dollar = UInt8(ascii: "$")

  /// Whether a runner adds nothing to a message: `jsonrpc` is there wherever it looks for it.
  private static func isWhole(_ message: JSONValue) -> Bool {
    switch message.kind {
    case .array: (0..<message.count).allSatisfy { message[$0].kind != .array && isWhole(message[$0]) }
    case .object: message["jsonrpc"].kind != .absent || message["method"].kind == .absent
    default: true
    }
  }

  /// Whether anything in it stands for something else.
  private static func isMarked(_ value: JSONValue) -> Bool {
    switch value.kind {
    case .array: return (0..<value.count).contains { isMarked(value[$0]) }
    case .object:
      var found = false
      value.forEachMember { name, member in found = found || name.first == dollar || isMarked(member) }
      return found
    case .string: return value.withUTF8(hasName)
    default: return false
    }
  }

  private static func hasMatcher(_ object: JSONValue) -> Bool {
    var found = false
    object.forEachMember { name, _ in found = found || name.first == dollar }
    return found
  }

  /// Whether a name to be replaced may stand in a text.
  private static func hasName(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = text.baseAddress else { return false }
    var place = 0
    while let found = memchr(start + place, CInt(dollar), text.count - place) {
      place = found.assumingMemoryBound(to: UInt8.self) - UnsafeMutablePointer(mutating: start) + 1
      if place < text.count, text[place] == UInt8(ascii: "{") { return true }
    }
    return false
  }

  private static func holdsDollar(_ text: [UInt8]) -> Bool {
    text.withUnsafeBytes { bytes in bytes.baseAddress.map { memchr($0, CInt(dollar), bytes.count) != nil } ?? false }
  }

  /// Whether it is for people, or comes when time wants it to.
  private static func isTalk(_ message: JSONValue) -> Bool {
    switch try? message["method"].string() {
    case "$/logMessage", "$/logTrace", "$/progress": true
    default: false
    }
  }
}
