// Traffic as steps of a transcript that repeat it and expect the same answers; Protocol/conformance/README.md describes
// the steps.

import JSON

/// The source of a line of a trace.
enum TraceEvent: Sendable {
  case begun(Framing)
  case traffic(Traffic)
  /// The number of events dropped here.
  case leftOut(Int)
}

/// Formats events as lines.
struct TraceLines: Sendable {
  /// Name and version, for people.
  let server: String
  /// The server's arguments that matter for a replay.
  let arguments: [String]
  /// Members of the server's messages whose values differ in every run.
  let varying: [String]

  /// - Parameter writer: has to be empty or end with a line end.
  func write(_ event: TraceEvent, to writer: inout JSONWriter) {
    let start = writer.count
    writer.beginObject()
    switch event {
    case .begun(let framing): writeHead(framing, to: &writer)
    case .traffic(let traffic): write(traffic, to: &writer)
    case .leftOut(let count): writer.member("leftOut", count)
    }
    writer.endObject()
    // A client's text may contain line ends between its tokens.
    writer.replace(0x0A, by: 0x20, from: start)
    writer.replace(0x0D, by: 0x20, from: start)
    writer.append(byte: 0x0A)
  }

  private func write(_ traffic: Traffic, to writer: inout JSONWriter) {
    switch traffic {
    case .received(let text): writeReceived(text, to: &writer)
    case .unframed(let bytes):
      writer.key("sendRaw")
      Self.writeText(bytes, to: &writer)
    case .skipped(let count, let endsLine):
      // The content was not examined; with line framing, a session may begin with it.
      writer.key("sendRaw")
      writer.raw(#"[{"$repeat":"[","count":\#(count)}\#(endsLine ? #","\n""# : "")]"#)
    case .sent(let text, let isLate): writeSent(text, isLate, to: &writer)
    case .inputEnded: writer.member("closeInput", true)
    case .ended(let code?): writer.member("expectExit", Int(code))
    case .ended(nil): writer.member("stop", true)
    }
  }

  private func writeHead(_ framing: Framing, to writer: inout JSONWriter) {
    writer.member("case", "trace")
    writer.member("server", server)
    writer.member("framing", framing.rawValue)
    if !arguments.isEmpty {
      writer.key("args")
      writer.array(arguments) { Self.writeText(Array($0.utf8), to: &$1) }
    }
    // The number of reports, and the message after which work ends, depend on time alone.
    writer.key("skip")
    writer.raw(#"[{"method":"$/progress"}]"#)
  }

  // MARK: - Messages

  /// Longer messages are not parsed: the tree would take ten times the memory.
  private static let readable = 1 << 20

  private func writeReceived(_ text: [UInt8], to writer: inout JSONWriter) {
    guard text.count <= Self.readable, let document = try? JSONDocument(text) else {
      writer.key("sendText")
      return Self.writeText(text, to: &writer)
    }
    writer.key("send")
    // Verbatim, if a runner would send it unchanged.
    let isPlain = document.read { Self.isWhole($0) && !Self.isMarked($0) }
    Self.writeLiteral(isPlain, to: &writer) { writer in text.withUnsafeBytes { writer.raw($0) } }
  }

  private func writeSent(_ text: [UInt8], _ isLate: Bool, to writer: inout JSONWriter) {
    let isReadable = text.count <= Self.readable || text.withUnsafeBytes { $0.holds("$") }
    let document = isReadable ? try? JSONDocument(text) : nil
    if let document, document.read(Self.isLogOrProgress) {
      writer.key("note")
      return text.withUnsafeBytes { writer.raw($0) }
    }
    let isBatch = text.first == UInt8(ascii: "[")
    let answers = text.starts(with: #"{"jsonrpc":"2.0","id":"#.utf8)
    // A message that is not a request is refused immediately.
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
    writer.member("late", floats ? true : nil)
  }

  /// Writes the value as a pattern that matches it, with wildcards where it varies.
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
      writer.array(0..<value.count) { writePattern(value[$0], to: &$1) }
    case .string: Self.writeLiteral(!value.withUTF8(Self.hasName), to: &writer) { value.encode(to: &$0) }
    case .object: Self.writeLiteral(false, to: &writer) { value.encode(to: &$0) }
    default: value.encode(to: &writer)
    }
  }

  /// Writes a value so that a runner sends or expects it literally; a plain value needs no marker.
  private static func writeLiteral(
    _ isPlain: Bool, to writer: inout JSONWriter, _ write: (inout JSONWriter) -> Void
  ) {
    guard !isPlain else { return write(&writer) }
    writer.beginObject()
    writer.key("$literal")
    write(&writer)
    writer.endObject()
  }

  /// Writes bytes that are not a message.
  private static func writeText(_ bytes: [UInt8], to writer: inout JSONWriter) {
    if let text = String(validating: bytes, as: UTF8.self) {
      return writeLiteral(!bytes.withUnsafeBufferPointer(hasName), to: &writer) { $0.value(text) }
    }
    writer.beginObject()
    writer.member("$base64", String(decoding: bytes.withUnsafeBytes(Base64.encode), as: UTF8.self))
    writer.endObject()
  }

  // MARK: - Special names

  private static let dollar = UInt8(ascii: "$")

  /// Whether a runner adds nothing to a message: it has `jsonrpc` wherever required.
  private static func isWhole(_ message: JSONValue) -> Bool {
    switch message.kind {
    case .array: (0..<message.count).allSatisfy { message[$0].kind != .array && isWhole(message[$0]) }
    case .object: message["jsonrpc"].kind != .absent || message["method"].kind == .absent
    default: true
    }
  }

  /// Whether it contains a name with a special meaning in transcripts.
  private static func isMarked(_ value: JSONValue) -> Bool {
    switch value.kind {
    case .array: (0..<value.count).contains { isMarked(value[$0]) }
    case .object: value.members.contains { $0.name.utf8.first == dollar || isMarked($0.value) }
    case .string: value.withUTF8(hasName)
    default: false
    }
  }

  private static func hasMatcher(_ object: JSONValue) -> Bool {
    object.members.contains { $0.name.utf8.first == dollar }
  }

  /// Whether a text may contain a name to be replaced.
  private static func hasName(_ text: UnsafeBufferPointer<UInt8>) -> Bool { UnsafeRawBufferPointer(text).holds("${") }

  /// Whether it is a log message, or depends on time.
  private static func isLogOrProgress(_ message: JSONValue) -> Bool {
    switch try? message["method"].string() {
    case "$/logMessage", "$/logTrace", "$/progress": true
    default: false
    }
  }
}
