// The part of a file that is being read; it grows to the size of one token or feature.

/// Bytes of a file in sequence.
struct TextWindow: ~Copyable {
  /// Reads the file's next bytes into a buffer; returns their number, 0 at the end.
  typealias Source = (UnsafeMutableRawBufferPointer) -> Int

  /// A feature that needs a larger buffer is left to GDAL, which needs a multiple of the memory.
  private static let limit = 32 << 20
  /// Zeros behind the text (``TextScanner``).
  private static let padding = 16

  private let source: Source
  private var memory: UnsafeMutablePointer<UInt8>
  private var capacity = 128 << 10
  private(set) var count = 0
  /// Offset in the file of the buffer's first byte.
  private(set) var offset = 0
  private(set) var isAtEnd = false

  init(_ source: @escaping Source) {
    self.source = source
    memory = .allocate(capacity: capacity + Self.padding)
    memory.initialize(repeating: 0, count: Self.padding)
  }

  deinit { memory.deallocate() }

  func scanner(from place: Int) -> TextScanner { TextScanner(UnsafePointer(memory), count: count, from: place) }

  /// Drops the bytes before `place`, which becomes 0, and reads more.
  ///
  /// - Returns: false, with nothing done, if the end of the file has been reached before.
  mutating func refill(keepingFrom place: Int) throws(TextStop) -> Bool {
    guard !isAtEnd else { return false }
    let kept = count - place
    if kept > capacity / 2 {
      guard capacity < Self.limit else { throw .odd("a feature of many megabytes") }
      capacity *= 2
      let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity + Self.padding)
      larger.update(from: memory + place, count: kept)
      memory.deallocate()
      memory = larger
    } else {
      memory.update(from: memory + place, count: kept)
    }
    offset += place
    let got = source(UnsafeMutableRawBufferPointer(start: memory + kept, count: capacity - kept))
    isAtEnd = got <= 0
    count = kept + max(got, 0)
    (memory + count).initialize(repeating: 0, count: Self.padding)
    return true
  }
}
