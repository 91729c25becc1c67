// Splits a byte stream into messages. It stores positions and no bytes, so its cost is linear however the bytes arrive.

import Platform

/// How messages are delimited.
public enum Framing: String, Sendable {
  /// LSP's base protocol: headers with `Content-Length`, an empty line, the message.
  case headers
  /// One message per line.
  case lines
}

struct Framer {
  enum Step: Equatable {
    /// A complete message; the position is after it. Of its bytes so many at the end are no text.
    case message(Range<Int>, attached: Int)
    /// More bytes are needed.
    case needsMore
    /// A message above the size limit begins; it will be skipped. The position is after its beginning, which is
    /// ``beginningBytes`` long where it arrives with headers; a line's may be shorter or longer.
    case tooLarge(Range<Int>)
    /// The start of the next message cannot be determined.
    case lost(String)
  }

  /// Detected by the first byte that is not white space.
  private(set) var framing: Framing?
  /// Length of the message whose headers have been read.
  private var announced: Int?
  /// How many of its bytes are attachments.
  private var attached = 0
  /// Length of the oversized message whose headers have been read.
  private var refused: Int?
  /// Bytes skipped after an oversized message was reported.
  private(set) var skipped = 0

  private let messageBytes: Int
  private let headerBytes: Int
  private var inHeaders = false
  private var length: Int?
  private var attachmentLength: Int?
  private var headersRead = 0
  /// Bytes after the position known to hold no line end.
  private var scanned = 0
  private var skip = 0
  private var skipsLine = false

  /// Some programs write it at the start of their output.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// How many bytes of an oversized message are searched for its id.
  static let beginningBytes = 1 << 16

  init(messageBytes: Int, headerBytes: Int) {
    self.messageBytes = messageBytes
    self.headerBytes = headerBytes
  }

  /// Bytes of the next message, if its headers have been read.
  var wanted: Int { announced ?? 0 }

  /// Whether the input may end here.
  var isBetweenMessages: Bool { !inHeaders && announced == nil && refused == nil && skip == 0 && scanned == 0 }

  /// Whether the next byte belongs to a message that was refused for its size.
  var isSkipping: Bool { skip > 0 || refused != nil || skipsLine }

  /// The next step over `bytes` from `position`, which advances past consumed bytes. The caller passes the rest again,
  /// followed by more.
  mutating func next(in bytes: UnsafeRawBufferPointer, at position: inout Int) -> Step {
    while true {
      if skip > 0 {
        let step = min(skip, bytes.count - position)
        position += step
        skip -= step
        skipped += step
        if skip > 0 { return .needsMore }
      }
      if skipsLine {
        guard let end = lineEnd(in: bytes, from: position) else {
          skipped += bytes.count - position
          position = bytes.count
          return .needsMore
        }
        skipped += end + 1 - position
        position = end + 1
        skipsLine = false
      }
      if let refused {
        let beginning = position..<(position + min(refused, Self.beginningBytes))
        guard bytes.count >= beginning.upperBound else { return .needsMore }
        position = beginning.upperBound
        skip = refused - beginning.count
        self.refused = nil
        return .tooLarge(beginning)
      }
      if let announced {
        guard bytes.count - position >= announced else { return .needsMore }
        let range = position..<(position + announced)
        position = range.upperBound
        self.announced = nil
        return .message(range, attached: attached)
      }
      if !inHeaders && scanned == 0 {
        while position < bytes.count, isWhite(bytes[position]) { position += 1 }
        guard position < bytes.count else { return .needsMore }
        if framing == nil, bytes[position] == Self.byteOrderMark[0] {
          let start = bytes[position...].prefix(Self.byteOrderMark.count)
          if start.elementsEqual(Self.byteOrderMark) {
            position += start.count
            continue
          }
          if start.elementsEqual(Self.byteOrderMark.prefix(start.count)) { return .needsMore }
        }
        if let lost = begin(with: bytes[position]) { return .lost(lost) }
      }
      if framing == .lines { return nextLine(in: bytes, at: &position) }
      if let step = readHeaders(in: bytes, at: &position) { return step }
    }
  }

  /// The last step at the end of input: the last line needs no line end.
  mutating func last(in bytes: UnsafeRawBufferPointer, at position: inout Int) -> Step {
    if framing == .lines, scanned > 0, position < bytes.count {
      let range = position..<bytes.count
      position = bytes.count
      scanned = 0
      return .message(range, attached: 0)
    }
    return isBetweenMessages || skipsLine ? .needsMore : .lost("it ended inside a message")
  }

  // MARK: - Lines

  private mutating func nextLine(in bytes: UnsafeRawBufferPointer, at position: inout Int) -> Step {
    guard let end = lineEnd(in: bytes, from: position + scanned) else {
      scanned = bytes.count - position
      guard scanned > messageBytes else { return .needsMore }
      let beginning = position..<bytes.count
      position = bytes.count
      scanned = 0
      skipsLine = true
      return .tooLarge(beginning.prefix(Self.beginningBytes))
    }
    let range = position..<end
    position = end + 1
    scanned = 0
    return range.count > messageBytes ? .tooLarge(range.prefix(Self.beginningBytes)) : .message(range, attached: 0)
  }

  private func lineEnd(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard let base = bytes.baseAddress, start < bytes.count else { return nil }
    guard let found = memchr(base + start, 0x0A, bytes.count - start) else { return nil }
    return UnsafeRawPointer(found) - base
  }

  // MARK: - Headers

  /// Detects the framing by the first byte of a message, or checks that it agrees.
  private mutating func begin(with byte: UInt8) -> String? {
    let isLetter = (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
    switch framing {
    case .lines: return nil
    case .headers:
      guard isLetter else { return "a header has to begin with a letter" }
    case nil:
      if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
        framing = .lines
        return nil
      }
      guard isLetter else { return "it has to begin with a header, or with { or [" }
      framing = .headers
    }
    inHeaders = true
    length = nil
    attachmentLength = nil
    headersRead = 0
    return nil
  }

  /// Reads header lines; nil when all have been read.
  private mutating func readHeaders(in bytes: UnsafeRawBufferPointer, at position: inout Int) -> Step? {
    while true {
      guard let end = lineEnd(in: bytes, from: position + scanned) else {
        scanned = bytes.count - position
        return headersRead + scanned > headerBytes ? .lost("the headers are too long") : .needsMore
      }
      var line = position..<end
      headersRead += line.count + 1
      position = end + 1
      scanned = 0
      if headersRead > headerBytes { return .lost("the headers are too long") }
      if let last = line.last, bytes[last] == 0x0D { line = line.lowerBound..<last }
      if line.isEmpty {
        guard let length else { return .lost("Content-Length is missing") }
        attached = attachmentLength ?? 0
        guard attached <= length else { return .lost("Attachment-Length is beyond Content-Length") }
        inHeaders = false
        if length > messageBytes {
          refused = length
        } else {
          announced = length
        }
        return nil
      }
      if let lost = readHeader(UnsafeRawBufferPointer(rebasing: bytes[line])) { return .lost(lost) }
    }
  }

  private mutating func readHeader(_ line: UnsafeRawBufferPointer) -> String? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return "a header has no colon" }
    var nameEnd = colon
    while nameEnd > 0, isWhite(line[nameEnd - 1]) { nameEnd -= 1 }
    let name = UnsafeRawBufferPointer(rebasing: line[..<nameEnd])
    let value = line[(colon + 1)...]
    if isSame(name, "Content-Length") { return readLength(value, "Content-Length", into: &length) }
    if isSame(name, "Attachment-Length") { return readLength(value, "Attachment-Length", into: &attachmentLength) }
    return nil
  }

  private func isSame(_ name: UnsafeRawBufferPointer, _ other: StaticString) -> Bool {
    guard name.count == other.utf8CodeUnitCount, let base = name.baseAddress else { return false }
    return strncasecmp(
      base.assumingMemoryBound(to: CChar.self), UnsafeRawPointer(other.utf8Start).assumingMemoryBound(to: CChar.self), name.count) == 0
  }

  private func readLength(_ text: Slice<UnsafeRawBufferPointer>, _ name: StaticString, into length: inout Int?) -> String? {
    guard length == nil else { return "\(name) stands twice" }
    var (value, end) = (text.startIndex, text.endIndex)
    while value < end, isWhite(text[value]) { value += 1 }
    while end > value, isWhite(text[end - 1]) { end -= 1 }
    guard value < end else { return "\(name) has no value" }
    let digits = text[value..<end]
    guard digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return "\(name) is not a number of bytes" }
    length = Int(String(decoding: digits, as: UTF8.self))
    return length == nil ? "\(name) is beyond all bounds" : nil
  }

  @inline(__always)
  private func isWhite(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
}
