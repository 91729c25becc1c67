// Threads for the application's work: more threads than processors, and a lower priority for long work.

import DequeModule
import Dispatch
import NIOConcurrencyHelpers
import Platform

/// Runs work on threads that start when there is work for them, the most urgent first and then in order.
///
/// Work that takes longer than ``lowerAfter`` gets a lower priority from the system, unless a request waits for it
/// (`userInitiated`): ten milliseconds of work take little longer beside many seconds of other work than alone.
final class WorkPool: Sendable {
  let threadLimit: Int
  /// Nanoseconds.
  static let lowerAfter: UInt64 = 50_000_000

  private struct Job: Sendable {
    let priority: WorkPriority
    let body: @Sendable () -> Void
  }

  private struct Running {
    /// The system's number of the thread.
    let thread: Int
    let priority: WorkPriority
    let since: UInt64
    var isLowered: Bool
  }

  // The lock is taken 10^5 times a second, for each piece of work: the state contains no hash tables.
  private struct State {
    /// By priority, the most urgent first.
    var waiting = WorkPriority.allCases.map { _ in Deque<Job>() }
    /// A few entries, so that linear search is fast.
    var running: [Running] = []
    var threads = 0
    var idle = 0
    /// Whether a thread is being woken; it wakes the next one if more work waits.
    var isWaking = false

    mutating func next() -> Job? {
      for index in waiting.indices {
        if let job = waiting[index].popFirst() { return job }
      }
      return nil
    }

    var isWaiting: Bool { waiting.contains { !$0.isEmpty } }

    /// Decides whether to wake a thread and, if so, sets ``isWaking``.
    mutating func beginWaking(_ threadLimit: Int) -> Bool {
      guard !isWaking, idle > 0 || threads < threadLimit else { return false }
      isWaking = true
      return true
    }
  }

  // Not `Mutex`: an unlock hands it to a waiting thread, which has to wake first; all later callers wait meanwhile.
  private let state = NIOLockedValueBox(State())
  private let idle = DispatchSemaphore(value: 0)
  private let later: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// - Parameters:
  ///   - threadLimit: by default enough that long tasks, of which a client starts a few, leave threads for short ones.
  ///   - later: runs its argument later, on a thread with normal priority, because a new thread inherits the priority of the thread
  ///     that starts it.
  init(
    threadLimit: Int = max(16, 2 * processorCount()), later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    self.threadLimit = threadLimit
    self.later = later
  }

  var isWorking: Bool { state.withLockedValue { !$0.running.isEmpty } }

  /// Runs `body` on another thread.
  ///
  /// One thread is woken at a time, in a later turn: waking costs as much as a short piece of work, and the first thread
  /// completes many of them before a second one is awake.
  func submit(_ priority: WorkPriority, _ body: @escaping @Sendable () -> Void) {
    let wakes = state.withLockedValue { state in
      state.waiting[priority.rank].append(Job(priority: priority, body: body))
      return state.beginWaking(threadLimit)
    }
    if wakes { later { self.wake() } }
  }

  /// Wakes or starts a thread, after ``State/beginWaking()``.
  private func wake() {
    let isNew = state.withLockedValue { state in
      guard state.isWaiting else {
        state.isWaking = false
        return false
      }
      guard state.idle == 0 else {
        state.idle -= 1
        idle.signal()
        return false
      }
      state.threads += 1
      return true
    }
    if isNew { launch(isWaking: true) }
  }

  /// The stack is as large as a program's main thread has, since geometries and documents nest.
  private func launch(isWaking: Bool) {
    later { startThread(stackBytes: 8 << 20) { self.serve(isWaking: isWaking) } }
  }

  /// What a thread does next.
  private enum Turn {
    case work(Job, wakes: Bool)
    case wait
    case leave(isNeeded: Bool)
  }

  private func serve(isWaking: Bool) {
    let thread = threadNumber()
    var isWaking = isWaking
    while true {
      let now = monotonicNanoseconds()
      let turn = state.withLockedValue { self.turn(of: thread, isWaking: isWaking, at: now, &$0) }
      isWaking = false
      switch turn {
      case .wait:
        idle.wait()
        isWaking = true
      case .work(let job, let wakes):
        if wakes { wake() }
        if job.priority == .background { lowerPriority(ofThread: thread, by: job.priority.reduction) }
        job.body()
      case .leave(let isNeeded):
        // A new thread takes its place if work waits.
        if isNeeded { launch(isWaking: false) }
        return
      }
    }
  }

  /// Ends the thread's last work and begins its next.
  private func turn(of thread: Int, isWaking: Bool, at now: UInt64, _ state: inout State) -> Turn {
    if isWaking { state.isWaking = false }
    let last = state.running.firstIndex { $0.thread == thread }.map { state.running.remove(at: $0) }
    // Only a privileged process may raise a priority again.
    if last?.isLowered == true {
      let isNeeded = state.isWaiting
      if !isNeeded { state.threads -= 1 }
      return .leave(isNeeded: isNeeded)
    }
    guard let job = state.next() else {
      state.idle += 1
      return .wait
    }
    state.running.append(
      Running(thread: thread, priority: job.priority, since: now, isLowered: job.priority == .background))
    return .work(job, wakes: state.isWaiting && state.beginWaking(threadLimit))
  }

  /// Lowers the priority of work that has run for long. To be called periodically while there is work.
  ///
  /// - Returns: whether running or waiting work may have to be lowered later.
  func lowerLongWork() -> Bool {
    state.withLockedValue { state in
      let now = monotonicNanoseconds()
      var remains = state.isWaiting
      for index in state.running.indices {
        let work = state.running[index]
        guard !work.isLowered, work.priority != .userInitiated else { continue }
        if now - work.since < Self.lowerAfter {
          remains = true
        } else {
          // Under the lock the thread cannot have ended, so its number has not been reused.
          lowerPriority(ofThread: work.thread, by: work.priority.reduction)
          state.running[index].isLowered = true
        }
      }
      return remains
    }
  }
}

extension WorkPriority {
  /// Index of the priority's queue.
  fileprivate var rank: Int {
    switch self {
    case .userInitiated: 0
    case .utility: 1
    case .background: 2
    }
  }

  /// What is added to the system's nice value.
  fileprivate var reduction: CInt {
    switch self {
    case .background: 10
    case .utility: 5
    case .userInitiated: 0
    }
  }
}
