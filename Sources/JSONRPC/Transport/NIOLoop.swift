// The production loop: one NIO event loop, and threads that start on first use.

import NIOCore
import NIOPosix

/// A NIO event loop as a ``Loop``.
final class NIOLoop: Loop {
  let eventLoop: any EventLoop
  private let parsing = NIOThreadPool(numberOfThreads: 1)
  private let saving = NIOThreadPool(numberOfThreads: 1)
  private let work = NIOThreadPool(numberOfThreads: max(2, min(System.coreCount, 8)))

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  var nanoseconds: UInt64 { NIODeadline.now().uptimeNanoseconds }
  var isCurrent: Bool { eventLoop.inEventLoop }

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
    let pool =
      switch lane {
      case .parsing: parsing
      case .saving: saving
      case .work: self.work
      }
    // Only the first start counts. Most sessions need no threads.
    pool.start()
    pool.submit { _ in work() }
  }
}
