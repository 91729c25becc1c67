// Passes progress from a worker thread to the loop: only the latest value, at most one scheduled call, and a minimum interval.

import JSONRPC
import Platform
import Synchronization

final class ProgressGate: Sendable {
  /// In nanoseconds. Waking the loop takes as long as testing some thousand features, after which work reports again.
  private let interval: UInt64

  private struct State {
    var latest = 0.0
    var isScheduled = false
    /// Time of the last scheduled call.
    var time: UInt64 = 0
  }
  private let state: Mutex<State>

  /// - Parameter startsNow: whether the interval has to pass before the first call, too.
  init(interval: UInt64 = 2_000_000, startsNow: Bool = false) {
    self.interval = interval
    state = Mutex(State(time: startsNow ? monotonicNanoseconds() : 0))
  }

  var latest: Double {
    state.withLock {
      $0.isScheduled = false
      return $0.latest
    }
  }

  /// Stores the fraction, and schedules `publish` on the loop unless a call is scheduled or the interval has not passed.
  func report(_ fraction: Double, on loop: any Loop, _ publish: @escaping @Sendable () -> Void) {
    let now = monotonicNanoseconds()
    let schedules = state.withLock { state in
      state.latest = fraction
      guard !state.isScheduled, now &- state.time >= interval else { return false }
      (state.isScheduled, state.time) = (true, now)
      return true
    }
    if schedules { loop.execute(publish) }
  }
}
