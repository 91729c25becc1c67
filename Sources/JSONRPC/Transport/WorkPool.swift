// Threads for the application's work: more than processors, and long work yields to short.

import DequeModule
import Dispatch
import Platform
import Synchronization

/// Runs work on threads that start when there is work for them, the most urgent first and then in order.
///
/// Work that takes longer than ``lowerAfter`` gets a lower priority with the system, unless somebody waits for it
/// (`userInitiated`), so that ten milliseconds of work beside many seconds of it take little longer than alone.
final class WorkPool: Sendable {
  /// Enough that long tasks, of which a client starts a few, leave threads for short ones.
  static let threadLimit = max(16, 2 * processorCount())
  /// Nanoseconds.
  static let lowerAfter: UInt64 = 50_000_000

  private struct Job: Sendable {
    let priority: WorkPriority
    let body: @Sendable () -> Void
  }

  private struct Running {
    let priority: WorkPriority
    let since: UInt64
    var isLowered: Bool
  }

  private struct State {
    var waiting: [WorkPriority: Deque<Job>] = [:]
    /// By the system's number of the thread.
    var running: [Int: Running] = [:]
    var threads = 0
    var idle = 0
    var isWatched = false

    mutating func next() -> Job? {
      for priority in WorkPriority.allCases.reversed() {
        if let job = waiting[priority]?.popFirst() { return job }
      }
      return nil
    }
  }

  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)
  private let atUsualPriority: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// - Parameter atUsualPriority: runs its argument on a thread whose priority is not lowered: a new thread has that of the one
  ///   that starts it.
  init(atUsualPriority: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.atUsualPriority = atUsualPriority
  }

  var isWorking: Bool { state.withLock { !$0.running.isEmpty } }

  /// Runs `body` on another thread. Callable from any thread whose priority is not lowered.
  func submit(_ priority: WorkPriority, _ body: @escaping @Sendable () -> Void) {
    let needsThread = state.withLock { state in
      state.waiting[priority, default: []].append(Job(priority: priority, body: body))
      if state.idle > 0 {
        state.idle -= 1
        wake.signal()
        return false
      }
      guard state.threads < Self.threadLimit else { return false }
      state.threads += 1
      return true
    }
    if needsThread { launch() }
  }

  /// Geometries and documents nest: as much stack as a program's first thread.
  private func launch() { startThread(stackBytes: 8 << 20) { self.serve() } }

  /// What a thread does next.
  private enum Turn {
    case work(Job)
    case wait
    case leave(isNeeded: Bool)
  }

  private func serve() {
    let thread = threadNumber()
    while true {
      switch state.withLock({ Self.turn(of: thread, &$0) }) {
      case .wait: wake.wait()
      case .work(let job):
        if job.priority == .background { lowerPriority(ofThread: thread, by: job.priority.reduction) }
        job.body()
      case .leave(let isNeeded):
        // Another takes its place where there is work.
        if isNeeded { atUsualPriority { self.launch() } }
        return
      }
    }
  }

  /// Ends the thread's last work and begins its next.
  private static func turn(of thread: Int, _ state: inout State) -> Turn {
    // The system lets nobody but its administrator raise a priority again.
    if state.running.removeValue(forKey: thread)?.isLowered == true {
      let isNeeded = state.waiting.values.contains { !$0.isEmpty }
      if !isNeeded { state.threads -= 1 }
      return .leave(isNeeded: isNeeded)
    }
    guard let job = state.next() else {
      state.idle += 1
      return .wait
    }
    state.running[thread] = Running(
      priority: job.priority, since: monotonicNanoseconds(), isLowered: job.priority == .background)
    return .work(job)
  }

  /// Lowers what has run for long. To be called now and then while there is work.
  ///
  /// - Returns: whether anything runs that may have to be lowered later.
  func lowerLongWork() -> Bool {
    state.withLock { state in
      let now = monotonicNanoseconds()
      var remains = state.waiting.values.contains { !$0.isEmpty }
      for (thread, work) in state.running where !work.isLowered && work.priority != .userInitiated {
        if now - work.since < Self.lowerAfter {
          remains = true
        } else {
          // Under the lock: the thread has not ended, and its number is its own.
          lowerPriority(ofThread: thread, by: work.priority.reduction)
          state.running[thread]?.isLowered = true
        }
      }
      return remains
    }
  }
}

extension WorkPriority {
  /// What is added to the system's nice value.
  fileprivate var reduction: CInt {
    switch self {
    case .background: 10
    case .utility: 5
    case .userInitiated: 0
    }
  }
}
