// Progress on its way from a worker to the loop: the latest word, at most one on the way.

import JSONRPC
import Synchronization

final class ProgressGate: Sendable {
  private let state = Mutex((latest: 0.0, isUnderWay: false))

  var latest: Double {
    state.withLock {
      $0.isUnderWay = false
      return $0.latest
    }
  }

  /// Notes how far the work is, and has `tell` run on the loop unless it is about to anyway.
  func report(_ fraction: Double, on loop: any Loop, _ tell: @escaping @Sendable () -> Void) {
    let isNews = state.withLock { state in
      state.latest = fraction
      defer { state.isUnderWay = true }
      return !state.isUnderWay
    }
    if isNews { loop.execute(tell) }
  }
}
