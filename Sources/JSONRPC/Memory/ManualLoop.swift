// A loop that moves only when it is told to, by a clock that stands still: what makes tests exact, and quick.

import Platform
import Synchronization

/// A loop driven by its owner, on the thread that made it.
public final class ManualLoop: Loop {
  /// Where work off the loop runs.
  public enum Offloading: Sendable {
    /// At once, where it is handed over.
    case inline
    /// When ``ManualLoop/runOffloaded()`` says so.
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
  private let wake = Signal()
  private let owner = pthread_self()

  public init(offloading: Offloading = .inline) { self.offloading = offloading }

  public var nanoseconds: UInt64 { state.withLock { $0.now } }
  public var isCurrent: Bool { pthread_equal(owner, pthread_self()) != 0 }

  public func execute(_ work: @escaping @Sendable () -> Void) {
    state.withLock { $0.ready.append(work) }
    wake.raise()
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
    case .threads: startThread(work)
    }
  }

  // MARK: - What moves it

  /// Runs everything that is ready, and what becomes ready by it.
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

  /// Runs until `condition` holds, waiting for other threads up to `seconds`; whether it does.
  public func run(until condition: () -> Bool, seconds: Double = 10) -> Bool {
    while true {
      run()
      if condition() { return true }
      guard wake.wait(seconds: seconds) else { return condition() }
    }
  }

  /// Moves the clock, running each timer at its time.
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

  /// Runs the work that waits off the loop, then what it hands back.
  public func runOffloaded() {
    let waiting = state.withLock { state in
      defer { state.offloaded = [] }
      return state.offloaded
    }
    for work in waiting { work() }
    run()
  }

  /// How much waits off the loop.
  public var offloadedCount: Int { state.withLock { $0.offloaded.count } }
}
