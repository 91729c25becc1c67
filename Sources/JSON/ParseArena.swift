// Memory of a parsed tree: a few blocks that are freed together, instead of a heap block for each node.
//
// jansson's allocator is replaceable. With the heap, half of the time of parsing and freeing a large message was spent
// in the allocator, and the fragmentation between long-lived objects slowed it further.

import CJansson
import Platform
import Synchronization

/// The memory of one document. One thread fills it while parsing; afterwards it is only freed.
struct ParseArena: ~Copyable {
  /// Larger allocations get blocks of their own, which are freed individually: growing buffers make these.
  private static let largest = 32 << 10
  private static let smallestBlock = 2048
  private static let largestBlock = 1 << 20

  /// At the start of each block.
  private struct Header {
    let previous: UnsafeMutableRawPointer?
    let size: Int
  }

  private struct State {
    var cursor: UnsafeMutableRawPointer
    var end: UnsafeMutableRawPointer
    /// The last block.
    var block: UnsafeMutableRawPointer
    /// Size of the last block; each is twice the size of the previous one, up to the maximum.
    var size: Int
    /// The last block of a large allocation.
    var large: UnsafeMutableRawPointer?
  }

  private let state: UnsafeMutablePointer<State>

  /// - Parameter textSize: bytes to be parsed; a tree takes several times as much memory.
  init?(textSize: Int) {
    let size = textSize > Self.largestBlock / 8 ? Self.largestBlock : max(textSize &* 6, Self.smallestBlock)
    guard let block = Self.takeBlock(size, after: nil) else { return nil }
    // The arena's own state is at the start of its first block.
    state = (block + MemoryLayout<Header>.size).bindMemory(to: State.self, capacity: 1)
    state.initialize(to: State(cursor: state + 1, end: block + size, block: block, size: size))
  }

  deinit {
    Self.giveBlocks(upTo: state.pointee.large)
    Self.giveBlocks(upTo: state.pointee.block)
  }

  /// Runs `body` while jansson allocates from this arena, on this thread.
  borrowing func withAllocation<R>(_ body: () -> R) -> R {
    _ = Self.isInstalled
    pthread_setspecific(Self.key, state)
    defer { pthread_setspecific(Self.key, nil) }
    return body()
  }

  // MARK: - jansson's allocator

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// Other users of jansson in this process, such as GDAL's drivers, stay on the heap.
  private static let isInstalled: Bool = {
    json_set_alloc_funcs({ ParseArena.allocate($0) }, { ParseArena.release($0) })
    return true
  }()

  private static func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
    guard let state = pthread_getspecific(key)?.assumingMemoryBound(to: State.self) else { return malloc(size) }
    guard size <= largest else { return allocateLarge(size, state) }
    // Eight bytes' alignment is all that jansson's structures need.
    let needed = (size + 7) & ~7
    if state.pointee.end - state.pointee.cursor < needed, !addBlock(to: state) { return nil }
    defer { state.pointee.cursor += needed }
    return state.pointee.cursor
  }

  private static func allocateLarge(_ size: Int, _ state: UnsafeMutablePointer<State>) -> UnsafeMutableRawPointer? {
    let header = MemoryLayout<Header>.size
    guard size <= Int.max - header, let block = takeBlock(size + header, after: state.pointee.large) else { return nil }
    state.pointee.large = block
    return block + header
  }

  /// Frees the block of a large allocation. A buffer that grew is among the last few; others stay until the end.
  private static func release(_ pointer: UnsafeMutableRawPointer?) {
    guard let state = pthread_getspecific(key)?.assumingMemoryBound(to: State.self) else { return free(pointer) }
    guard var block = state.pointee.large else { return }
    var later: UnsafeMutableRawPointer?
    for _ in 0..<8 {
      let previous = block.load(as: Header.self).previous
      if block + MemoryLayout<Header>.size == pointer {
        if let later {
          later.storeBytes(of: previous, as: UnsafeMutableRawPointer?.self)
        } else {
          state.pointee.large = previous
        }
        return giveBlock(block)
      }
      guard let previous else { return }
      (later, block) = (block, previous)
    }
  }

  private static func addBlock(to state: UnsafeMutablePointer<State>) -> Bool {
    let size = min(max(state.pointee.size * 2, 2 * largest), largestBlock)
    guard let block = takeBlock(size, after: state.pointee.block) else { return false }
    state.pointee.cursor = block + MemoryLayout<Header>.size
    state.pointee.end = block + size
    state.pointee.block = block
    state.pointee.size = size
    return true
  }

  // MARK: - Blocks

  /// Blocks of one size, kept for the next messages.
  private final class Spares: Sendable {
    // Safe to send: a block on the list has no other owner.
    private struct List: @unchecked Sendable { var blocks: [UnsafeMutableRawPointer] = [] }
    private let list = Mutex(List())
    private let most: Int

    init(most: Int) { self.most = most }

    func take() -> UnsafeMutableRawPointer? { list.withLock { $0.blocks.popLast() } }

    /// - Returns: false if there are enough.
    func keep(_ block: UnsafeMutableRawPointer) -> Bool {
      list.withLock { list in
        guard list.blocks.count < most else { return false }
        list.blocks.append(block)
        return true
      }
    }
  }
  /// Without spares the heap would search for such a block with each message.
  private static let smallSpares = Spares(most: 16)
  /// A fresh block of this size costs a page fault every 4 KiB.
  private static let largeSpares = Spares(most: 4)

  /// Nil for sizes that are not kept.
  private static func spares(_ size: Int) -> Spares? {
    switch size {
    case smallestBlock: smallSpares
    case largestBlock: largeSpares
    default: nil
    }
  }

  private static func takeBlock(
    _ size: Int, after previous: UnsafeMutableRawPointer?
  ) -> UnsafeMutableRawPointer? {
    guard let block = spares(size)?.take() ?? malloc(size) else { return nil }
    block.storeBytes(of: Header(previous: previous, size: size), as: Header.self)
    return block
  }

  private static func giveBlocks(upTo last: UnsafeMutableRawPointer?) {
    var block = last
    while let current = block {
      block = current.load(as: Header.self).previous
      giveBlock(current)
    }
  }

  private static func giveBlock(_ block: UnsafeMutableRawPointer) {
    let isKept = spares(block.load(as: Header.self).size)?.keep(block) ?? false
    if !isKept { free(block) }
  }
}
