// Bytes that follow a message in place of base64 within it: a third shorter, and nothing has to be encoded.
//
// In the text `{"offset": 8, "length": 16}` stands for the base64 of those bytes, as the `data` of packed numbers or well-known binary.

import CJansson
import Platform

/// The bytes that followed a message.
public final class MessageAttachments: Sendable {
  private let storage: [UInt8]
  private let range: Range<Int>

  /// - Parameter range: of the storage, which is not copied.
  public init(_ storage: [UInt8], _ range: Range<Int>) { (self.storage, self.range) = (storage, range) }

  fileprivate func withBytes<R>(_ part: Range<Int>, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try storage.withUnsafeBytes {
      try body(UnsafeRawBufferPointer(rebasing: $0[(range.lowerBound + part.lowerBound)..<(range.lowerBound + part.upperBound)]))
    }
  }

  /// Gives each reference of a tree a member that leads here. Those that lead beyond the bytes, or to more bytes together than there
  /// are, stay as they are, and are then no bytes: a short message could become values of any size.
  func mark(in root: UnsafeMutablePointer<json_t>) {
    var open = [root]
    var unread = range.count
    while let node = open.popLast() {
      if node.pointee.type == JSON_ARRAY {
        for index in 0..<json_array_size(node) { if let element = json_array_get(node, index) { open.append(element) } }
      } else if node.pointee.type == JSON_OBJECT {
        if let data = json_object_get(node, "data"), Self.isPacked(node), let size = size(of: data), size <= unread {
          unread -= size
          // Safe: the document owns this as long as its tree.
          let address = Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())
          _ = Attached.key.withUnsafeBufferPointer { json_object_set_new_nocheck(data, $0.baseAddress, json_integer(json_int_t(address))) }
        }
        var member = json_object_iter(node)
        while let each = member {
          if let value = json_object_iter_value(each) { open.append(value) }
          member = json_object_iter_next(node, each)
        }
      }
    }
  }

  private static func isPacked(_ node: UnsafeMutablePointer<json_t>) -> Bool {
    guard let type = json_string_value(json_object_get(node, "type")) else { return false }
    return strcmp(type, "float64") == 0 || strcmp(type, "int64") == 0 || strcmp(type, "WKB") == 0
  }

  /// The number of bytes to which a value refers.
  private func size(of node: UnsafeMutablePointer<json_t>) -> Int? {
    guard json_object_size(node) == 2, let part = Attached.part(node), part.upperBound <= range.count else { return nil }
    return part.count
  }
}

/// The reference of a value to bytes that followed its message.
struct Attached {
  private let owner: MessageAttachments
  private let part: Range<Int>

  /// The name of the member that leads to the bytes. It is no UTF-8, so no client can send it.
  fileprivate static let key: [CChar] = [-1, 0]

  init?(_ node: UnsafeMutablePointer<json_t>?) {
    guard let node, json_object_size(node) == 3, let part = Self.part(node),
      let found = Self.key.withUnsafeBufferPointer({ json_object_get(node, $0.baseAddress) }),
      let address = UnsafeRawPointer(bitPattern: Int(json_integer_value(found)))
    else { return nil }
    // Safe: the document of the value owns it.
    owner = Unmanaged<MessageAttachments>.fromOpaque(address).takeUnretainedValue()
    self.part = part
  }

  var count: Int { part.count }

  func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { try owner.withBytes(part, body) }

  fileprivate static func part(_ node: UnsafeMutablePointer<json_t>) -> Range<Int>? {
    guard let offset = json_object_get(node, "offset"), let length = json_object_get(node, "length"),
      offset.pointee.type == JSON_INTEGER, length.pointee.type == JSON_INTEGER
    else { return nil }
    let (start, count) = (Int(json_integer_value(offset)), Int(json_integer_value(length)))
    guard start >= 0, count >= 0, start <= Int.max - count else { return nil }
    return start..<(start + count)
  }
}

extension JSONValue {
  /// The number of bytes that the value stands for, if it is a reference to some that followed its message.
  package var attachedCount: Int? { Attached(node)?.count }

  /// The same bytes, unaligned.
  package func withAttached<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R? { try Attached(node)?.withBytes(body) }
}

/// Bytes of a message that is written: base64 in its text, or beside it.
public enum PackedBytes: Sendable {
  case bytes([UInt8])
  case integers([Int64])
  case words([UInt64])
  /// In parts, all but the last of a multiple of three numbers.
  case doubles([[Double]])

  public var count: Int {
    switch self {
    case .bytes(let bytes): bytes.count
    case .integers(let numbers): numbers.count * 8
    case .words(let words): words.count * 8
    case .doubles(let parts): parts.reduce(0) { $0 + $1.count } * 8
    }
  }

  /// The number of pieces of which all but the last are multiples of three bytes.
  var pieces: Int { if case .doubles(let parts) = self { parts.count } else { 1 } }

  /// Passes the bytes of a piece on, numbers little-endian.
  func withPiece(_ index: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
    func pass(_ words: [some FixedWidthInteger]) { words.map(\.littleEndian).withUnsafeBytes(body) }
    switch self {
    case .bytes(let bytes): bytes.withUnsafeBytes(body)
    case .integers(let numbers): 1.littleEndian == 1 ? numbers.withUnsafeBytes(body) : pass(numbers)
    case .words(let words): 1.littleEndian == 1 ? words.withUnsafeBytes(body) : pass(words)
    case .doubles(let parts): 1.littleEndian == 1 ? parts[index].withUnsafeBytes(body) : pass(parts[index].map(\.bitPattern))
    }
  }
}

/// Bytes that follow a message which is written.
struct Attachment {
  let bytes: PackedBytes
  /// Where the reference to them stands in the text.
  let place: Range<Int>
  let offset: Int

  /// The offset of what follows.
  var end: Int { offset + (bytes.count + 7) / 8 * 8 }
}

extension JSONWriter {
  /// Fewer bytes are base64 in any message.
  private static let fewest = 1 << 10

  /// Collects attachments, or writes base64; what was collected is dropped.
  public mutating func setAttaching(_ isAttaching: Bool) { attachments = isAttaching ? [] : nil }

  /// The size of the attachments.
  public var attachedCount: Int { attachments?.last?.end ?? 0 }

  /// Writes bytes in base64, or attaches them.
  public mutating func value(_ bytes: PackedBytes) {
    guard attachments != nil, bytes.count >= Self.fewest else { return base64(bytes) }
    separate()
    attach(bytes)
  }

  private mutating func attach(_ bytes: PackedBytes) {
    let (start, offset) = (count, attachedCount)
    append("{\"offset\":")
    append(decimal: UInt64(offset))
    append(",\"length\":")
    append(decimal: UInt64(bytes.count))
    append("}")
    attachments?.append(Attachment(bytes: bytes, place: start..<count, offset: offset))
  }

  private mutating func base64(_ bytes: PackedBytes) {
    // Nothing in base64 has to be escaped.
    raw("\"")
    for index in 0..<bytes.pieces { bytes.withPiece(index) { piece in Base64.encode(piece).withUnsafeBytes { append($0) } } }
    append(byte: UInt8(ascii: "\""))
  }

  /// Appends another text, and attaches its attachments or writes them in base64.
  public mutating func append(_ other: borrowing JSONWriter) {
    var copied = 0
    for attachment in other.attachments ?? [] {
      append(UnsafeRawBufferPointer(rebasing: other.bytes[copied..<attachment.place.lowerBound]))
      if attachments == nil { base64(attachment.bytes) } else { attach(attachment.bytes) }
      copied = attachment.place.upperBound
    }
    append(UnsafeRawBufferPointer(rebasing: other.bytes[copied...]))
  }

  /// Takes the attachments, which have to follow the text.
  public mutating func takeAttachments() -> AttachedBytes? {
    defer { attachments = nil }
    return attachments.flatMap { $0.isEmpty ? nil : AttachedBytes($0) }
  }

  /// Appends the next bytes, about so many, and returns whether more follow.
  public mutating func append(next limit: Int, of bytes: inout AttachedBytes) -> Bool {
    let end = count + limit
    while count < end, let attachment = bytes.rest.first {
      let pieces = attachment.bytes.pieces
      attachment.bytes.withPiece(bytes.piece) { piece in
        let step = min(piece.count - bytes.done, end - count)
        append(UnsafeRawBufferPointer(rebasing: piece[bytes.done..<(bytes.done + step)]))
        bytes.done += step
        if bytes.done == piece.count { (bytes.piece, bytes.done) = (bytes.piece + 1, 0) }
      }
      guard bytes.piece == pieces else { continue }
      for _ in attachment.offset + attachment.bytes.count..<attachment.end { append(byte: 0) }
      bytes.rest.removeFirst()
      bytes.piece = 0
    }
    return !bytes.rest.isEmpty
  }
}

/// The bytes that follow a message, which are copied only as they are sent.
public struct AttachedBytes: Sendable {
  fileprivate var rest: ArraySlice<Attachment>
  /// The next piece of the first, and the bytes of it that are done.
  fileprivate var piece = 0
  fileprivate var done = 0
  public let count: Int

  fileprivate init(_ attachments: [Attachment]) { (rest, count) = (attachments[...], attachments.last?.end ?? 0) }
}
