// Passes progress from a worker thread to the loop: only the latest value, with at most one call scheduled.

import JSONRPC
import Synchronization

final class ProgressGate: Sendable {
  private let state = Mutex((latest: 0.0, isScheduled: false))

  var latest: Double {
    state.withLock {
      $0.isScheduled = false
      return $0.latest
    }
  }

  /// Stores the fraction, and schedules `publish` on the loop unless it is scheduled already.
  func report(_ fraction: Double, on loop: any Loop, _ publish: @escaping @Sendable () -> Void) {
    let schedules = state.withLock { state in
      state.latest = fraction
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if schedules { loop.execute(publish) }
  }
}
