// The owner of one parsed text. Values read from it are valid as long as it lives.

import CJansson
import Platform

/// A parsed text. Immutable, so it may be read from any thread.
// Safe: nothing writes to the tree after parsing, and this object alone owns its root.
public final class JSONDocument: @unchecked Sendable {
  private let owned: UnsafeMutablePointer<json_t>
  /// Owns the memory of the whole tree.
  private let arena: ParseArena?
  /// The bytes that values of the tree refer to.
  private let attachments: MessageAttachments?

  /// `{}`, for omitted params. (Null if memory is exhausted; it has no members either.)
  public static let emptyObject = JSONDocument { $0.object([]) }

  /// A document of values. (Null if memory is exhausted.)
  ///
  /// - Parameter make: returns its value.
  public init(_ make: (JSONTree) -> JSONTree.Node) {
    arena = ParseArena(textSize: 0)
    owned = arena?.withAllocation { make(JSONTree()).pointer } ?? json_null()
    attachments = nil
  }

  /// Reads the document's value and keeps the document alive while `body` runs.
  @inline(__always)
  public func read<R, E: Error>(_ body: (JSONValue) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(self) {} }
    return try body(unownedRoot)
  }

  /// The document's value, for callers that keep the document alive themselves: Swift releases it after its last use.
  public var unownedRoot: JSONValue { JSONValue(node: owned, container: nil, step: .root) }

  /// The deepest nesting of arrays and objects that jansson reads.
  public static let maximumDepth = 2048

  /// Jansson needs a few hundred bytes for each value, so their number is limited.
  public static let maximumValues = 4_000_000

  /// Parses one text: any JSON value in UTF-8. Duplicate member names are errors; NUL is allowed in strings but not in
  /// names.
  ///
  /// An integer beyond 64 bits is read as the nearest double, as JavaScript does.
  ///
  /// - Parameters:
  ///   - maximum: the largest number of values.
  ///   - attachments: the bytes that followed the text.
  /// - Complexity: O(n); the tree takes about ten times the memory of the text.
  public convenience init(
    _ text: UnsafeRawBufferPointer, maximum: Int = maximumValues, attachments: MessageAttachments? = nil
  ) throws(JSONSyntaxError) {
    try self.init(
      text, maximum: maximum, flags: JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, attachments: attachments)
  }

  /// Parses a text whose objects may repeat member names; the last one counts.
  convenience init(refused text: UnsafeRawBufferPointer) throws(JSONSyntaxError) {
    try self.init(text, maximum: Self.maximumValues, flags: JSON_ALLOW_NUL | JSON_DECODE_ANY)
  }

  private init(
    _ text: UnsafeRawBufferPointer, maximum: Int, flags: Int32, attachments: MessageAttachments? = nil
  ) throws(JSONSyntaxError) {
    let long = LongStrings(in: text)
    // A value takes at least two bytes, so only long texts can have too many.
    if (long?.text.count ?? text.count) > 2 * maximum {
      var measure = JSONMeasure()
      if let long { long.text.withUnsafeBytes { measure.add($0) } } else { measure.add(text) }
      guard measure.values <= maximum else {
        throw JSONSyntaxError(kind: .tooManyValues, reason: "more than \(maximum) values", offset: 0)
      }
    }
    guard let arena = ParseArena(textSize: text.count) else {
      throw JSONSyntaxError(kind: .outOfMemory, reason: "out of memory", offset: 0)
    }
    // jansson takes a zero byte after a number for the end of the text.
    if let start = text.baseAddress, let zero = memchr(start, 0, text.count) {
      throw JSONSyntaxError(kind: .malformed, reason: "a zero byte", offset: UnsafeRawPointer(zero) - start)
    }
    var error = json_error_t()
    var rewritten: LargeIntegers?
    let root = arena.withAllocation { () -> UnsafeMutablePointer<json_t>? in
      if let long, let root = long.text.withUnsafeBytes({ Self.load($0, flags, &error) }), long.restore(in: root) { return root }
      if let root = Self.load(text, flags, &error) { return root }
      guard error.code == json_error_numeric_overflow else { return nil }
      rewritten = LargeIntegers(in: text)
      return rewritten?.text.withUnsafeBytes { Self.load($0, flags, &error) }
    }
    guard let root else {
      let offset = Int(error.position)
      throw JSONSyntaxError(error, at: rewritten?.original(offset) ?? offset)
    }
    if let attachments { arena.withAllocation { attachments.mark(in: root) } }
    owned = root
    self.arena = consume arena
    self.attachments = attachments
  }

  private static func load(
    _ text: UnsafeRawBufferPointer, _ flags: Int32, _ error: inout json_error_t
  ) -> UnsafeMutablePointer<json_t>? {
    let empty: StaticString = ""
    let bytes = text.baseAddress ?? UnsafeRawPointer(empty.utf8Start)
    return json_loadb(bytes.assumingMemoryBound(to: CChar.self), text.count, Int(flags), &error)
  }

  public convenience init(_ text: [UInt8], maximum: Int = maximumValues) throws(JSONSyntaxError) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: text)
    try self.init(UnsafeRawBufferPointer(copy), maximum: maximum)
  }

  public convenience init(_ text: String) throws(JSONSyntaxError) {
    try self.init(Array(text.utf8))
  }
}

extension json_error_t {
  /// The kind of error: jansson keeps it in the last byte of the text.
  fileprivate var code: json_error_code {
    withUnsafeBytes(of: text) { json_error_code(rawValue: UInt32($0[$0.count - 1])) }
  }
}

extension JSONSyntaxError {
  fileprivate init(_ error: json_error_t, at offset: Int) {
    let reason = withUnsafeBytes(of: error.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let kind: Kind =
      switch error.code {
      case json_error_duplicate_key: .duplicateKey
      case json_error_stack_overflow: .tooDeep
      case json_error_invalid_utf8: .invalidUTF8
      case json_error_out_of_memory: .outOfMemory
      default: .malformed
      }
    self.init(kind: kind, reason: reason, offset: offset)
  }
}
