// What worker threads have done, until the loop takes it.

import DequeModule
import NIOConcurrencyHelpers

/// Ends of pieces of work, in order. The loop takes all that there are at once: many short ones cost one wake-up and one write.
public final class EndedWork: Sendable {
  public typealias End = @Sendable () -> Void

  private let ends = NIOLockedValueBox(Deque<End>())

  public init() {}

  /// - Parameter end: runs on the loop.
  /// - Returns: whether the loop has to be asked to take it: it was asked already for those before.
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
