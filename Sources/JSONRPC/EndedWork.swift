// Queue of completions that worker threads hand to the loop.

import DequeModule
import NIOConcurrencyHelpers

/// Completions of background work, in order. The loop takes all that are queued at once, so that many short ones cost one wake-up
/// and one write.
public final class EndedWork: Sendable {
  public typealias End = @Sendable () -> Void

  private let ends = NIOLockedValueBox(Deque<End>())

  public init() {}

  /// - Parameter end: runs on the loop.
  /// - Returns: whether the caller has to schedule ``takeAll()`` on the loop; false when a call is scheduled already.
  public func add(_ end: @escaping End) -> Bool {
    ends.withLockedValue { ends in
      ends.append(end)
      return ends.count == 1
    }
  }

  public func takeAll() -> Deque<End> {
    ends.withLockedValue { ends in
      defer { ends = [] }
      return ends
    }
  }
}
