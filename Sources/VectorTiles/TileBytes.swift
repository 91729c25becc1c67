// Bytes of Protocol Buffers messages, written without a check for each byte.

/// A growing run of bytes.
package struct TileBytes: ~Copyable {
  private var start: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  package private(set) var count = 0

  package init(capacity: Int = 1024) {
    self.capacity = max(capacity, 16)
    start = .allocate(capacity: self.capacity)
  }

  deinit { start.deallocate() }

  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  package mutating func removeAll() { count = 0 }

  @inline(__always)
  package mutating func reserve(_ more: Int) {
    if count &+ more > capacity { grow(more) }
  }

  private mutating func grow(_ more: Int) {
    let larger = max(capacity * 2, count + more)
    let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
    moved.update(from: start, count: count)
    start.deallocate()
    (start, capacity) = (moved, larger)
  }

  /// Room for ten bytes has to be reserved.
  @inline(__always)
  package mutating func putReserved(_ number: UInt64) {
    var rest = number
    while rest > 0x7f {
      start[count] = UInt8(truncatingIfNeeded: rest) | 0x80
      count &+= 1
      rest &>>= 7
    }
    start[count] = UInt8(truncatingIfNeeded: rest)
    count &+= 1
  }

  @inline(__always)
  package mutating func put(_ number: UInt64) {
    reserve(10)
    putReserved(number)
  }

  /// A field of a number.
  package mutating func put(field: UInt64, _ number: UInt64) {
    reserve(20)
    putReserved(field << 3)
    putReserved(number)
  }

  /// A field of bytes.
  package mutating func put(field: UInt64, _ bytes: UnsafeRawBufferPointer) {
    reserve(20 + bytes.count)
    putReserved(field << 3 | 2)
    putReserved(UInt64(bytes.count))
    append(bytes)
  }

  package mutating func put(field: UInt64, _ text: String) {
    var text = text
    text.withUTF8 { put(field: field, UnsafeRawBufferPointer($0)) }
  }

  /// A packed field of numbers.
  package mutating func put(field: UInt64, packed numbers: [UInt32], size: Int) {
    reserve(20 + 5 * numbers.count)
    putReserved(field << 3 | 2)
    putReserved(UInt64(size))
    numbers.withUnsafeBufferPointer { for number in $0 { putReserved(UInt64(number)) } }
  }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count)
    guard let from = bytes.baseAddress, !bytes.isEmpty else { return }
    UnsafeMutableRawPointer(start + count).copyMemory(from: from, byteCount: bytes.count)
    count += bytes.count
  }

  /// Eight bytes, the lowest first.
  package mutating func append(_ word: UInt64) {
    withUnsafeBytes(of: word.littleEndian) { append($0) }
  }
}

extension [UInt32] {
  /// The number of bytes that a packed field has for them.
  package var packedSize: Int {
    withUnsafeBufferPointer { numbers in
      var size = numbers.count
      for number in numbers where number > 0x7f {
        size &+= number > 0xfff_ffff ? 4 : number > 0x1f_ffff ? 3 : number > 0x3fff ? 2 : 1
      }
      return size
    }
  }
}

extension UInt64 {
  /// The number of bytes of a varint.
  package var varintSize: Int { Swift.max(1, (70 - leadingZeroBitCount) / 7) }
}
