// Connects a session to a NIO channel: passes input on and writes output.

import JSON
import Logging
import NIOCore
import Platform

/// The only handler of the channel. Confined to the loop.
final class PipeTransport: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// Output is handed over in slices, which is the accuracy of the unread count.
  private static let slice = 256 << 10
  /// About how much is read before the loop has its turn.
  private static let turnBytes = 4 << 20

  private let session: Session
  private let finish: (Int32) -> Void
  /// Whether the client may end both directions, one after the other, and is then gone.
  private let isSocket: Bool
  /// Written behind everything at an end that is none of the client's: its exit code, for what forwards the connection.
  private let farewell: ((Int32) -> [UInt8])?
  /// The channel's own, non-blocking descriptor: written to directly while nothing waits in the channel.
  private let output: CInt
  private let input: CInt
  /// Whether other threads of the process are busy.
  private let isWorking: () -> Bool
  private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
  private var hasWritten = false
  /// When the last output was written, if nothing has come since.
  private var writtenAt: NIODeadline?
  /// How long to wait for a reply without a poll.
  private var patience = TimeAmount.zero
  private static let maxPatience = TimeAmount.microseconds(50)
  /// A reply is quick if it comes within this time, wake-ups included.
  private static let quick = TimeAmount.microseconds(150)
  private var context: ChannelHandlerContext?
  private var sending = JSONWriter(capacity: 64 << 10)
  private var sent = 0
  private var buffer: ByteBuffer
  private var isWriting = false
  private var isFlushing = false
  private var isReading = true
  private var graceTimer: LoopTimer?
  private var isFinished = false
  /// The descriptor of a socket whose input has ended; -1 before.
  private var half: CInt = -1

  /// - Parameters:
  ///   - isWorking: whether other threads of the process are busy.
  ///   - farewell: what is written at the end, by exit code.
  ///   - finish: called once with the exit code when everything has ended.
  init(
    session: Session, input: CInt, output: CInt, isWorking: @escaping () -> Bool, isSocket: Bool = false,
    farewell: ((Int32) -> [UInt8])? = nil, finish: @escaping (Int32) -> Void
  ) {
    self.isSocket = isSocket
    self.farewell = farewell
    self.session = session
    self.input = input
    self.output = output
    self.isWorking = isWorking
    self.finish = finish
    buffer = ByteBufferAllocator().buffer(capacity: 64 << 10)
  }

  deinit { scratch.deallocate() }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    session.onOutput = { [weak self] in self?.flush() }
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if let writtenAt { patience = NIODeadline.now() - writtenAt < Self.quick ? Self.maxPatience : .zero }
    writtenAt = nil
    hasWritten = false
    unwrapInboundIn(data).withUnsafeReadableBytes { session.receive($0) }
    readMissing()
    readOn()
    if !isFinished { regulateReading(context) }
  }

  /// Reads the rest of a large message without the channel and its copies; ends and errors are left to it.
  private func readMissing() {
    var total = 0
    while !isFinished, session.missingBytes > scratch.count, total < Self.turnBytes {
      let count = session.receiveMissing { read(input, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      total += count
    }
  }

  /// Reads once more directly after writing: on a busy processor the client may already have replied, and a read is
  /// cheaper than a poll. Limited in number, so that timers get their turn; ends and errors are left to the channel.
  private func readOn() {
    var turns = 0
    while hasWritten, turns < 16, !isWriting, !isFinished, session.ending == nil, session.wantsInput {
      hasWritten = false
      turns += 1
      guard let count = readSoon() else { return }
      session.receive(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
    }
  }

  /// Reads available input, or input that arrives within ``patience``.
  ///
  /// Waking a thread from a poll takes longer than most requests. After a quick reply the transport therefore retries the read
  /// for ``patience``, yielding the processor in between, until a reply does not come in time. It polls when idle, and when
  /// worker threads are busy: a yielded processor may then come back only after many milliseconds.
  private func readSoon() -> Int? {
    let start = NIODeadline.now()
    let patience = patience > .zero && isWorking() ? .zero : patience
    while true {
      let count = read(input, scratch.baseAddress, scratch.count)
      if count > 0 { return count }
      guard count < 0, errno == EAGAIN, patience > .zero else { break }
      guard NIODeadline.now() - start < patience else {
        self.patience = .zero
        break
      }
      sched_yield()
    }
    writtenAt = start
    return nil
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case ChannelEvent.inputClosed? = event as? ChannelEvent else { return }
    guard isSocket else { return session.endOfInput() }
    // A copy: at the end of the other direction NIO closes its own silently, even while a write waits.
    half = fcntl(output, F_DUPFD_CLOEXEC, 3)
    if !endIfHungUp() { session.endOfInput() }
  }

  /// Ends the session if nobody waits for answers, and looks again if somebody still does.
  private func endIfHungUp() -> Bool {
    guard !isFinished else { return true }
    if half >= 0, isHungUp(half) {
      session.end(.atOnce(code: 1))
      return true
    }
    let bound = LoopBound(self, on: session.loop)
    session.loop.schedule(after: 100_000_000) { _ = bound.value.endIfHungUp() }
    return false
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { broken(error) }

  func channelInactive(context: ChannelHandlerContext) { over(with: session.ending?.code ?? 1) }

  /// Pauses reading while a large message is parsed with too much input after it.
  private func regulateReading(_ context: ChannelHandlerContext) {
    guard isReading != session.wantsInput else { return }
    isReading = session.wantsInput
    try? context.channel.syncOptions?.setOption(.autoRead, value: isReading)
  }

  // MARK: - Writing

  private func flush() {
    guard !isFlushing, !isFinished, let context else { return }
    isFlushing = true
    defer { isFlushing = false }
    if !isReading { regulateReading(context) }
    if case .atOnce(let code)? = session.ending { return over(with: code) }
    while !isWriting {
      if sent == sending.count {
        sending.reset()
        sent = 0
        guard session.takeOutput(into: &sending) else { break }
      }
      if writeAtOnce() { continue }
      if isFinished { return }
      writeSlice(context)
    }
    if let ending = session.ending { wind(down: ending) }
  }

  /// Writes what the system accepts now, nearly always everything. Direct writes save a tenth of a request's time over
  /// the channel with its buffer and promise. Returns whether everything was written.
  private func writeAtOnce() -> Bool {
    let bytes = sending.bytes
    guard let start = bytes.baseAddress else { return true }
    while sent < bytes.count {
      let step = write(output, start + sent, bytes.count - sent)
      if step > 0 {
        sent += step
        hasWritten = true
        session.outputWritten(step)
      } else if step < 0, errno == EAGAIN {
        return false
      } else if step == 0 || errno != EINTR {
        broken(IOError(errnoCode: errno, reason: "write"))
        return false
      }
    }
    return true
  }

  /// Lets the channel write the next slice once the descriptor is writable.
  private func writeSlice(_ context: ChannelHandlerContext) {
    let count = min(Self.slice, sending.count - sent)
    buffer.clear()
    buffer.writeBytes(UnsafeRawBufferPointer(rebasing: sending.bytes[sent..<(sent + count)]))
    isWriting = true
    let promise = context.eventLoop.makePromise(of: Void.self)
    // The promise belongs to the loop that this runs on.
    promise.futureResult.assumeIsolated().whenComplete { [self] result in
      isWriting = false
      switch result {
      case .success:
        sent += count
        session.outputWritten(count)
        flush()
      case .failure(let error): broken(error)
      }
    }
    context.writeAndFlush(wrapOutboundOut(buffer), promise: promise)
  }

  // MARK: - The end

  /// The client no longer reads, so all its work is pointless.
  private func broken(_ error: any Error) {
    guard !isFinished else { return }
    session.logger.debug("the client is gone: \(error)")
    session.end(.atOnce(code: 1))
    over(with: session.ending?.code ?? 1)
  }

  /// Waits for output being written, but not for a client that sent `exit` and does not read.
  private func wind(down ending: Ending) {
    guard isWriting else { return over(with: ending.code, saysFarewell: true) }
    guard case .afterWriting(_, let grace?) = ending, graceTimer == nil else { return }
    let bound = LoopBound(self, on: session.loop)
    graceTimer = session.loop.schedule(after: grace) { bound.value.over(with: ending.code) }
  }

  /// - Parameter saysFarewell: not where the channel may have closed its descriptor, whose number may be that of another file.
  private func over(with code: Int32, saysFarewell: Bool = false) {
    guard !isFinished else { return }
    isFinished = true
    graceTimer?.cancel()
    if half >= 0 { close(half) }
    if let farewell, saysFarewell, sent == sending.count {
      _ = farewell(code).withUnsafeBytes { writeBytes(output, $0) }
    }
    context?.close(promise: nil)
    finish(code)
  }
}
