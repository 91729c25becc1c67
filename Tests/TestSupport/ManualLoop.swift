// A loop with a manual clock, for exact and fast tests.

import Dispatch
import JSONRPC
import Platform
import Synchronization

/// A loop driven by its owner, on the thread that created it.
///
/// ```swift
/// let loop = ManualLoop()
/// let timer = loop.schedule(after: 1_000_000) { fired = true }
/// loop.advance(by: 1_000_000)  // fired is true
/// ```
public final class ManualLoop: Loop {
  /// Where background work runs.
  public enum Offloading: Sendable {
    /// Immediately, on the calling thread.
    case inline
    /// On ``ManualLoop/runOffloaded()``.
    case stepped
    /// On a thread each; see ``ManualLoop/run(until:seconds:)``.
    case threads
  }

  private struct Timer {
    let due: UInt64
    let number: Int
    let work: @Sendable () -> Void
  }

  private struct State {
    var now: UInt64 = 1_000_000_000
    var ready: [@Sendable () -> Void] = []
    var timers: [Timer] = []
    var timersMade = 0
    var offloaded: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())
  private let offloading: Offloading
  private let wake = DispatchSemaphore(value: 0)
  private let owner = pthread_self()
  private let saving = DispatchQueue(label: "saving")

  public init(offloading: Offloading = .inline) { self.offloading = offloading }

  public var nanoseconds: UInt64 { state.withLock { $0.now } }
  public var isCurrent: Bool { pthread_equal(owner, pthread_self()) != 0 }

  public func execute(_ work: @escaping @Sendable () -> Void) {
    state.withLock { $0.ready.append(work) }
    wake.signal()
  }

  public func executeBehindInput(_ work: @escaping @Sendable () -> Void) { execute(work) }

  @discardableResult
  public func schedule(after nanoseconds: UInt64, _ work: @escaping @Sendable () -> Void) -> LoopTimer {
    let number = state.withLock { state in
      state.timersMade += 1
      state.timers.append(Timer(due: state.now + nanoseconds, number: state.timersMade, work: work))
      return state.timersMade
    }
    return LoopTimer { [weak self] in self?.state.withLock { $0.timers.removeAll { $0.number == number } } }
  }

  public func offload(to lane: LoopLane, _ work: @escaping @Sendable () -> Void) {
    switch offloading {
    case .inline: work()
    case .stepped: state.withLock { $0.offloaded.append(work) }
    case .threads where lane == .saving: saving.async(execute: work)
    // As much stack as work has in the server: geometries and documents nest.
    case .threads: startThread(stackBytes: 8 << 20, work)
    }
  }

  // MARK: - Driving

  /// Runs all work that is ready, and work that becomes ready through it.
  public func run() {
    while true {
      let ready = state.withLock { state in
        defer { state.ready = [] }
        return state.ready
      }
      if ready.isEmpty { return }
      for work in ready { work() }
    }
  }

  /// Runs until `condition` holds, waiting for other threads at most `seconds`. Returns whether it holds.
  public func run(until condition: () -> Bool, seconds: Double = 10) -> Bool {
    while true {
      run()
      if condition() { return true }
      guard wake.wait(timeout: .now() + seconds) == .success else { return condition() }
    }
  }

  /// Advances the clock and runs each timer at its time.
  public func advance(by nanoseconds: UInt64) {
    run()
    let end = self.nanoseconds + nanoseconds
    while true {
      let next = state.withLock { state -> Timer? in
        guard
          let next = state.timers.filter({ $0.due <= end }).min(by: { ($0.due, $0.number) < ($1.due, $1.number) })
        else { return nil }
        state.timers.removeAll { $0.number == next.number }
        state.now = max(state.now, next.due)
        return next
      }
      guard let next else { break }
      next.work()
      run()
    }
    state.withLock { $0.now = end }
  }

  /// Runs the queued background work, then its results on the loop.
  public func runOffloaded() {
    runWork()
    run()
  }

  /// Runs the queued background work, whose results wait for the loop.
  public func runWork() {
    let waiting = state.withLock { state in
      defer { state.offloaded = [] }
      return state.offloaded
    }
    for work in waiting { work() }
  }

  /// The number of queued background works.
  public var offloadedCount: Int { state.withLock { $0.offloaded.count } }
}
