// Bytes read and not yet run. It grows by doubling and shrinks from the front, so that each byte is moved O(1) times.

/// Buffered input.
struct InputBuffer {
  private var storage: [UInt8] = []
  private var start = 0

  var count: Int { storage.count - start }
  var isEmpty: Bool { count == 0 }

  /// Passes the unconsumed bytes from `index` on to `body`.
  func withBytes<R>(from index: Int = 0, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    storage.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[(start + index)...])) }
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer) { storage.append(contentsOf: bytes) }

  /// Appends what `read` reads: it returns the number of bytes, or less than one.
  mutating func append(upTo limit: Int, _ read: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
    var result = 0
    storage.append(addingCapacity: limit) { span in
      span.withUnsafeMutableBufferPointer { buffer, count in
        result = read(UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...]))
        count += max(result, 0)
      }
    }
    return result
  }

  /// Makes room for so many unconsumed bytes.
  mutating func reserve(_ bytes: Int) {
    if storage.capacity < start + bytes { storage.reserveCapacity(start + bytes) }
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

  /// The storage itself, with the position of the start of `range` in it.
  func handOver(_ range: Range<Int>) -> (storage: [UInt8], start: Int) {
    (storage, start + range.lowerBound)
  }
}
