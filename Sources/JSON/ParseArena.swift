// Memory of a parsed tree: a few blocks that are freed together, instead of a heap block for each node.
//
// jansson's allocator is replaceable. With the heap, half of the time of parsing and freeing a large message was spent
// in the allocator, and the fragmentation between long-lived objects slowed it further.

import CJansson
import Platform
import Synchronization

/// The memory of one document. One thread fills it while parsing; afterwards it is only freed.
struct ParseArena: ~Copyable {
  /// Larger allocations get heap blocks of their own, which are freed individually: growing buffers make these.
  private static let largest = 32 << 10
  private static let largestBlock = 1 << 20

  /// The word before each allocation.
  private enum Tag { static let small: UInt = 0, large: UInt = 1 }

  /// Header of a large allocation: its neighbours in the list of them.
  fileprivate struct LargeHeader {
    var arena: UnsafeMutablePointer<State>?
    var next: UnsafeMutablePointer<LargeHeader>?
    var previous: UnsafeMutablePointer<LargeHeader>?
    var tag: UInt
  }

  fileprivate struct State {
    var cursor: UnsafeMutableRawPointer
    var end: UnsafeMutableRawPointer
    /// The first two words of each block are the previous block and the size.
    var block: UnsafeMutableRawPointer
    /// Size of the last block; each is twice the size of the previous one, up to the maximum.
    var size: Int
    var large: UnsafeMutablePointer<LargeHeader>?
  }

  private let state: UnsafeMutablePointer<State>

  /// - Parameter textSize: bytes to be parsed; a tree takes several times as much memory.
  init?(textSize: Int) {
    let size = textSize > Self.largestBlock / 8 ? Self.largestBlock : max(textSize &* 6, 2048)
    guard let block = Self.takeBlock(size) else { return nil }
    // The arena's own state is at the start of its first block.
    block.storeBytes(of: nil, as: UnsafeMutableRawPointer?.self)
    block.storeBytes(of: 0, toByteOffset: 8, as: Int.self)
    state = (block + 16).bindMemory(to: State.self, capacity: 1)
    let start = block + 16 + MemoryLayout<State>.size
    state.initialize(to: State(cursor: start, end: block + size, block: block, size: size, large: nil))
  }

  deinit {
    var large = state.pointee.large
    while let piece = large {
      large = piece.pointee.next
      free(piece)
    }
    var size = state.pointee.size
    var block: UnsafeMutableRawPointer? = state.pointee.block
    while let current = block {
      block = current.load(as: UnsafeMutableRawPointer?.self)
      let earlierSize = current.load(fromByteOffset: 8, as: Int.self)
      Self.giveBlock(current, size)
      size = earlierSize
    }
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

  private static let isInstalled: Bool = {
    json_set_alloc_funcs({ ParseArena.allocate($0) }, { ParseArena.release($0) })
    return true
  }()

  private static func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
    let state = pthread_getspecific(key)?.assumingMemoryBound(to: State.self)
    guard let state, size <= largest else { return allocateLarge(size, state) }
    // Eight bytes before each allocation, and eight bytes' alignment, which is all that jansson's structures need.
    let needed = (size + 15) & ~7
    if state.pointee.end - state.pointee.cursor < needed, !addBlock(to: state) { return nil }
    let piece = state.pointee.cursor
    state.pointee.cursor = piece + needed
    piece.storeBytes(of: Tag.small, as: UInt.self)
    return piece + 8
  }

  private static func addBlock(to state: UnsafeMutablePointer<State>) -> Bool {
    let size = min(max(state.pointee.size * 2, 2 * largest), largestBlock)
    guard let block = takeBlock(size) else { return false }
    block.storeBytes(of: state.pointee.block, as: UnsafeMutableRawPointer?.self)
    block.storeBytes(of: state.pointee.size, toByteOffset: 8, as: Int.self)
    state.pointee.block = block
    state.pointee.cursor = block + 16
    state.pointee.end = block + size
    state.pointee.size = size
    return true
  }

  // MARK: - Blocks

  /// Blocks of the maximum size, kept for the next large message: fresh ones cost a page fault every 4 KiB.
  // Safe to send: a block on this list has no other owner.
  private struct Spares: @unchecked Sendable { var blocks: [UnsafeMutableRawPointer] = [] }
  private static let spares = Mutex(Spares())
  private static let mostSpares = 4

  private static func takeBlock(_ size: Int) -> UnsafeMutableRawPointer? {
    if size == largestBlock, let spare = spares.withLock({ $0.blocks.popLast() }) { return spare }
    return malloc(size)
  }

  private static func giveBlock(_ block: UnsafeMutableRawPointer, _ size: Int) {
    guard size == largestBlock else { return free(block) }
    let isKept = spares.withLock { spares in
      guard spares.blocks.count < mostSpares else { return false }
      spares.blocks.append(block)
      return true
    }
    if !isKept { free(block) }
  }

  private static func allocateLarge(_ size: Int, _ state: UnsafeMutablePointer<State>?) -> UnsafeMutableRawPointer? {
    let header = MemoryLayout<LargeHeader>.size
    guard size <= Int.max - header, let memory = malloc(size + header) else { return nil }
    let piece = memory.bindMemory(to: LargeHeader.self, capacity: 1)
    piece.initialize(to: LargeHeader(arena: state, next: state?.pointee.large, previous: nil, tag: Tag.large))
    if let state {
      state.pointee.large?.pointee.previous = piece
      state.pointee.large = piece
    }
    return memory + header
  }

  private static func release(_ pointer: UnsafeMutableRawPointer?) {
    guard let pointer, (pointer - 8).load(as: UInt.self) == Tag.large else { return }
    let piece = (pointer - MemoryLayout<LargeHeader>.size).assumingMemoryBound(to: LargeHeader.self)
    let (next, previous) = (piece.pointee.next, piece.pointee.previous)
    next?.pointee.previous = previous
    if let previous {
      previous.pointee.next = next
    } else if let arena = piece.pointee.arena {
      arena.pointee.large = next
    }
    free(piece)
  }
}
