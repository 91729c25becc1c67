// Texts of one column in one buffer: bytes in sequence, each text after its length.

/// Texts in UTF-8, identified by offset.
///
/// The length precedes the bytes as a base-128 number (seven bits per byte, the high bit set if more follow): one byte
/// for most. Bytes never change; replaced texts stay until ``TextColumn`` compacts.
package struct TextArena: Sendable {
  /// The offset of null.
  package static let none = UInt32.max

  private(set) var bytes: [UInt8] = []

  package init() {}

  /// Appends a text and returns its offset; nil if the arena would exceed 4 GiB.
  @inline(__always)
  package mutating func append(_ text: UnsafeRawBufferPointer) -> UInt32? {
    let offset = bytes.count
    guard offset < Int(UInt32.max) - 10 - text.count else { return nil }
    var length = text.count
    while length > 127 {
      bytes.append(UInt8(truncatingIfNeeded: length | 128))
      length >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: length))
    bytes.append(contentsOf: text)
    return UInt32(truncatingIfNeeded: offset)
  }

  /// Appends texts and returns their offsets; nil if the arena would exceed 4 GiB.
  mutating func append(all texts: [UnsafeRawBufferPointer]) -> [UInt64]? {
    // Five bytes suffice for a length of up to 4 GiB.
    let size = texts.reduce(0) { $0 + $1.count + ($1.count < 128 ? 1 : 5) }
    guard bytes.count + size < Int(UInt32.max) - 10 else { return nil }
    var offsets: [UInt64] = []
    offsets.reserveCapacity(texts.count)
    let before = bytes
    bytes = [UInt8](unsafeUninitializedCapacity: before.count + size) { target, end in
      _ = target.initialize(fromContentsOf: before)
      end = before.count
      for text in texts {
        offsets.append(UInt64(truncatingIfNeeded: end))
        var length = text.count
        while length > 127 {
          target[end] = UInt8(truncatingIfNeeded: length | 128)
          end &+= 1
          length >>= 7
        }
        target[end] = UInt8(truncatingIfNeeded: length)
        end &+= 1
        UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(target)[end..<end &+ text.count])
          .copyMemory(from: text)
        end &+= text.count
      }
    }
    return offsets
  }

  /// Appends `range` of another arena's bytes, and returns the shift of its offsets; nil if the arena would exceed 4 GiB.
  mutating func append(_ other: TextArena, _ range: Range<Int>) -> Int? {
    guard bytes.count + range.count < Int(UInt32.max) - 10 else { return nil }
    let shift = bytes.count - range.lowerBound
    bytes.append(contentsOf: other.bytes[range])
    return shift
  }

  /// The bytes of the text at `offset`.
  @inline(__always)
  func range(at offset: UInt32) -> Range<Int> {
    var start = Int(offset)
    var length = 0
    var shift = 0
    while true {
      let byte = bytes[start]
      length |= Int(byte & 127) << shift
      start += 1
      if byte < 128 { return start..<start + length }
      shift += 7
    }
  }

  @inline(__always)
  package func withText<Result>(at offset: UInt32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let range = range(at: offset)
    return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
  }

  func string(at offset: UInt32) -> String { String(decoding: bytes[range(at: offset)], as: UTF8.self) }

  /// Releases unused memory.
  mutating func trim() {
    if bytes.capacity - bytes.count > 64 { bytes = bytes.withUnsafeBufferPointer { Array($0) } }
  }
}
