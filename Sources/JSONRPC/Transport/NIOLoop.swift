// The production loop: one NIO event loop, and threads that start on first use.

import NIOCore
import NIOPosix
import Synchronization

/// A NIO event loop as a ``Loop``.
final class NIOLoop: Loop {
  let eventLoop: any EventLoop
  private let parsing = NIOThreadPool(numberOfThreads: 1)
  private let saving = NIOThreadPool(numberOfThreads: 1)
  private let work: WorkPool
  private let waiting: WorkPool
  /// Whether a timer that lowers the priority of long work is running.
  private let watchesWork = Atomic(false)

  /// - Parameter waitingLimit: number of pieces of work in the lane ``LoopLane/waiting(_:)`` that have begun and not ended.
  init(_ eventLoop: any EventLoop, waitingLimit: Int) {
    self.eventLoop = eventLoop
    work = WorkPool(later: eventLoop.execute)
    waiting = WorkPool(threadLimit: waitingLimit, later: eventLoop.execute)
  }

  var nanoseconds: UInt64 { NIODeadline.now().uptimeNanoseconds }
  var isCurrent: Bool { eventLoop.inEventLoop }
  /// Whether worker threads, which share the processors with the loop, are busy.
  var isWorking: Bool { work.isWorking || waiting.isWorking }

  func execute(_ work: @escaping @Sendable () -> Void) { eventLoop.execute(work) }

  // NIO runs all ready tasks before it polls its channels, so this task must not be ready by then. The delay counts
  // from the end of the current task, which may still write.
  func executeBehindInput(_ work: @escaping @Sendable () -> Void) {
    eventLoop.execute { [eventLoop] in eventLoop.scheduleTask(in: .microseconds(50), work) }
  }

  @discardableResult
  func schedule(after nanoseconds: UInt64, _ work: @escaping @Sendable () -> Void) -> LoopTimer {
    let delay = TimeAmount.nanoseconds(Int64(clamping: nanoseconds))
    let scheduled = eventLoop.scheduleTask(in: delay, work)
    return LoopTimer { scheduled.cancel() }
  }

  func offload(to lane: LoopLane, _ work: @escaping @Sendable () -> Void) {
    switch lane {
    case .parsing: submit(work, to: parsing)
    case .saving: submit(work, to: saving)
    case .work(let priority): submit(work, priority, to: self.work)
    case .waiting(let priority): submit(work, priority, to: waiting)
    }
  }

  private func submit(_ work: @escaping @Sendable () -> Void, to pool: NIOThreadPool) {
    // Only the first start counts. Most sessions need no threads.
    pool.start()
    pool.submit { _ in work() }
  }

  private func submit(_ work: @escaping @Sendable () -> Void, _ priority: WorkPriority, to pool: WorkPool) {
    pool.submit(priority, work)
    if !watchesWork.exchange(true, ordering: .relaxed) { watchWork() }
  }

  private func watchWork() {
    eventLoop.scheduleTask(in: .nanoseconds(Int64(WorkPool.lowerAfter / 2))) { [self] in
      watchesWork.store(false, ordering: .relaxed)
      let remains = [work.lowerLongWork(), waiting.lowerLongWork()].contains(true)
      if remains, !watchesWork.exchange(true, ordering: .relaxed) { watchWork() }
    }
  }
}

extension NIOPipeBootstrap {
  /// Channels of messages: a closed input leaves the output open, and reads are of a size that suits messages, one a turn of the loop.
  convenience init(group: any EventLoop, handler: NIOLoopBound<some ChannelHandler>) {
    self.init(group: group)
    _ = channelOption(.allowRemoteHalfClosure, value: true)
      .channelOption(
        .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 8 << 10, initial: 8 << 10, maximum: 128 << 10)
      )
      .channelOption(.maxMessagesPerRead, value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler.value) }
      }
  }
}
