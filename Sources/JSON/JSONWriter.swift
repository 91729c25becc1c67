// Writes values directly into one growing buffer, which is then sent.

import Platform

/// Appends JSON text to a buffer. It writes commas; the caller matches brackets.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.member("revision", 7)
/// writer.endObject()  // {"revision":7}
/// ```
public struct JSONWriter: ~Copyable {
  /// Bytes kept free before the text, for ``prepend(_:)``.
  private static let headroom = 96

  private var memory: UnsafeMutablePointer<UInt8>
  var start: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  public internal(set) var count = 0
  /// Bytes that will follow the text; nil if it has them in base64.
  var attachments: [Attachment]?

  public init(capacity: Int = 4096) {
    self.capacity = max(capacity, 64)
    memory = Self.memory(nil, self.capacity)
    start = memory + Self.headroom
  }

  deinit { free(memory) }

  /// Memory of a new size with the bytes of the old. The system moves large blocks without copying them. Without memory the process ends, as
  /// it does in Swift's own arrays.
  private static func memory(_ old: UnsafeMutablePointer<UInt8>?, _ capacity: Int) -> UnsafeMutablePointer<UInt8> {
    guard let new = realloc(old, headroom + capacity) else { abort() }
    return new.assumingMemoryBound(to: UInt8.self)
  }

  /// The bytes written so far; valid until the next change.
  public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }
  public var string: String { String(decoding: bytes, as: UTF8.self) }

  /// Makes room for `more` bytes.
  @inline(__always)
  mutating func reserve(_ more: Int) {
    if capacity - count < more { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    resize(to: max(capacity * 2, count + more))
  }

  private mutating func resize(to larger: Int) {
    let offset = start - memory
    memory = Self.memory(memory, larger)
    start = memory + offset
    capacity = larger
  }

  /// Releases unused memory.
  mutating func trim() { resize(to: count) }

  // MARK: Raw

  @inline(__always)
  public mutating func append(_ text: StaticString) {
    let length = text.utf8CodeUnitCount
    reserve(length)
    (start + count).update(from: text.utf8Start, count: length)
    count += length
  }

  @inline(__always)
  public mutating func append(byte: UInt8) {
    reserve(1)
    start[count] = byte
    count += 1
  }

  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    reserve(bytes.count)
    UnsafeMutableRawPointer(start + count).copyMemory(from: base, byteCount: bytes.count)
    count += bytes.count
  }

  /// Writes a few bytes before all others, once.
  public mutating func prepend(_ bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count <= start - memory)
    guard let base = bytes.baseAddress else { return }
    start -= bytes.count
    UnsafeMutableRawPointer(start).copyMemory(from: base, byteCount: bytes.count)
    count += bytes.count
    capacity += bytes.count
  }

  /// Drops everything after `mark`, an earlier ``count``.
  public mutating func truncate(to mark: Int) {
    count = min(count, max(mark, 0))
    while let last = attachments?.last, last.place.upperBound > count { attachments?.removeLast() }
  }

  /// Replaces each occurrence of a byte at or after `offset`.
  public mutating func replace(_ old: UInt8, by new: UInt8, from offset: Int) {
    var index = offset
    while index < count, let found = memchr(start + index, CInt(old), count - index) {
      index = UnsafeMutablePointer(found.assumingMemoryBound(to: UInt8.self)) - start
      start[index] = new
      index += 1
    }
  }

  /// Releases the memory of a large text.
  public mutating func reset(keeping limit: Int = 1 << 20) {
    count = 0
    attachments = nil
    capacity += start - memory - Self.headroom
    start = memory + Self.headroom
    guard capacity > limit else { return }
    self = JSONWriter()
  }

  // MARK: Structure

  /// Writes the comma that the previous byte requires before a value or a name.
  @inline(__always)
  mutating func separate() {
    guard count > 0 else { return }
    switch start[count - 1] {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"), UInt8(ascii: "\n"): return
    default: append(byte: UInt8(ascii: ","))
    }
  }

  @inline(__always)
  public mutating func beginObject() {
    separate()
    append(byte: UInt8(ascii: "{"))
  }
  @inline(__always)
  public mutating func endObject() { append(byte: UInt8(ascii: "}")) }
  @inline(__always)
  public mutating func beginArray() {
    separate()
    append(byte: UInt8(ascii: "["))
  }
  @inline(__always)
  public mutating func endArray() { append(byte: UInt8(ascii: "]")) }

  /// Writes a member name that needs no escapes: any name of the protocol.
  @inline(__always)
  public mutating func key(_ name: StaticString) {
    separate()
    let length = name.utf8CodeUnitCount
    reserve(length + 3)
    start[count] = UInt8(ascii: "\"")
    (start + count + 1).update(from: name.utf8Start, count: length)
    start[count + length + 1] = UInt8(ascii: "\"")
    start[count + length + 2] = UInt8(ascii: ":")
    count += length + 3
  }

  public mutating func key(_ name: String) {
    value(name)
    append(byte: UInt8(ascii: ":"))
  }

  public mutating func key(utf8 name: UnsafeBufferPointer<UInt8>) {
    value(utf8: name)
    append(byte: UInt8(ascii: ":"))
  }

  /// Writes an object of members, in their order.
  @inline(__always)
  public mutating func object(_ members: some Sequence<(name: String, value: some JSONEncodable)>) {
    beginObject()
    for (name, value) in members {
      key(name)
      value.encode(to: &self)
    }
    endObject()
  }

  // MARK: Values

  public mutating func null() {
    separate()
    append("null")
  }

  public mutating func value(_ flag: Bool) {
    separate()
    append(flag ? "true" : "false")
  }

  @inline(__always)
  public mutating func value(_ integer: Int) { value(Int64(integer)) }

  public mutating func value(_ integer: Int64) {
    separate()
    if integer < 0 { append(byte: UInt8(ascii: "-")) }
    append(decimal: integer.magnitude)
  }

  /// Appends decimal digits.
  @inline(__always)
  public mutating func append(decimal magnitude: UInt64) {
    reserve(20)
    var length = 1
    var bound: UInt64 = 10
    // No product overflows: the largest number has 20 digits.
    while length < 20, magnitude >= bound {
      length += 1
      bound &*= 10
    }
    digits(magnitude, length)
  }

  /// Writes the last `length` digits; the caller has made room.
  @inline(__always)
  private mutating func digits(_ magnitude: UInt64, _ length: Int) {
    var rest = magnitude
    for index in (count..<(count + length)).reversed() {
      start[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    count += length
  }

  /// Writes the shortest text that reads back as the same value; null for NaN and infinities, which JSON lacks.
  public mutating func value(_ number: Double) {
    separate()
    guard number.isFinite else {
      append("null")
      return
    }
    // Up to 15 significant digits, decimal texts and doubles correspond one to one (DBL_DIG). The shortest text of an integer
    // over a power of ten is therefore that decimal.
    let magnitude = number.magnitude
    if magnitude < 1e8 {
      let scaled = (magnitude * 1e7).rounded()
      if scaled < 1e15, scaled / 1e7 == magnitude {
        if number.sign == .minus { append(byte: UInt8(ascii: "-")) }
        fixed(UInt64(scaled))
        return
      }
    }
    var text = number.description
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  /// Writes `scaled` ten-millionths without trailing zeros; a whole number keeps `.0`, so that it remains a real.
  @inline(__always)
  private mutating func fixed(_ scaled: UInt64) {
    reserve(32)
    append(decimal: scaled / 10_000_000)
    append(byte: UInt8(ascii: "."))
    var fraction = scaled % 10_000_000
    var length = 7
    while length > 1, fraction % 10 == 0 {
      fraction /= 10
      length -= 1
    }
    digits(fraction, length)
  }

  /// Writes a value that is already JSON text.
  public mutating func raw(_ text: String) {
    var text = text
    separate()
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  public mutating func raw(_ bytes: UnsafeRawBufferPointer) {
    separate()
    append(bytes)
  }

  /// Writes a value that is the text of another writer, with its attachments.
  public mutating func raw(_ text: borrowing JSONWriter) {
    separate()
    append(text)
  }

  @inline(__always)
  public mutating func value(_ encodable: some JSONEncodable) { encodable.encode(to: &self) }

  /// Writes a member; nothing for nil.
  @inlinable
  public mutating func member(_ name: StaticString, _ value: (some JSONEncodable)?) {
    guard let value else { return }
    key(name)
    value.encode(to: &self)
  }

  public mutating func array<S: Sequence>(_ elements: S, _ write: (S.Element, inout JSONWriter) -> Void) {
    beginArray()
    for element in elements { write(element, &self) }
    endArray()
  }
}
