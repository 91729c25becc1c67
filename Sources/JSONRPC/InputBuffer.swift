// Bytes read and not yet run. It grows by doubling and shrinks from the front, so that each byte is moved O(1) times.

/// Buffered input.
struct InputBuffer {
  private var storage: [UInt8] = []
  private var start = 0

  var count: Int { storage.count - start }
  var isEmpty: Bool { count == 0 }

  func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    storage.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
  }

  /// Appends `bytes`. The array doubles when full, but not beyond the length that a header announced, and only as bytes
  /// arrive: a header alone allocates nothing.
  mutating func append(_ bytes: UnsafeRawBufferPointer, announced: Int?) {
    let needed = storage.count + bytes.count
    if needed > storage.capacity, let announced, needed < start + announced {
      storage.reserveCapacity(min(needed * 2, start + announced))
    }
    storage.append(contentsOf: bytes)
  }

  mutating func consume(_ consumed: Int) {
    start += consumed
    if start == storage.count {
      storage.removeAll(keepingCapacity: storage.capacity <= 1 << 20)
      start = 0
    } else if start > 1 << 16, start * 2 > storage.count {
      storage.removeFirst(start)
      start = 0
    }
  }

  /// Splits off the bytes from `index` on as a new buffer.
  mutating func split(at index: Int) -> InputBuffer {
    var rest = InputBuffer()
    rest.storage = Array(storage[(start + index)...])
    storage.removeLast(rest.storage.count)
    return rest
  }

  /// The storage itself, with the position of `range` in it.
  func handOver(_ range: Range<Int>) -> (storage: [UInt8], range: Range<Int>) {
    (storage, (start + range.lowerBound)..<(start + range.upperBound))
  }

  /// Passes the unconsumed bytes from `index` on to `body`.
  func withBytes<R>(from index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    storage.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[min(start + index, $0.count)...])) }
  }
}
