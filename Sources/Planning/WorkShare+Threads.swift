// Work of one task on several threads.

import Dispatch
import Platform
import Synchronization

extension WorkShare {
  /// The most threads of one task: others want some, too.
  private static let threadLimit = min(4, max(1, processorCount()))

  /// The results of `body` for 0..<count, in order. On the loop in one thread, on a worker in several, of which the first one reports
  /// progress. The first error ends all.
  package func concurrently<Part: Sendable>(_ count: Int, _ body: @Sendable (Int) throws -> Part) throws -> [Part] {
    guard let work, count > 1, Self.threadLimit > 1 else {
      return try (0..<count).map { index in
        try checkpoint(index, of: count)
        return try body(index)
      }
    }
    let next = Atomic(0)
    let state = Mutex<(parts: [Int: Part], error: (any Error)?)>(([:], nil))
    DispatchQueue.concurrentPerform(iterations: Self.threadLimit) { thread in
      while state.withLock({ $0.error == nil }) {
        let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard index < count else { return }
        do {
          if thread == 0 { try checkpoint(index, of: count) }
          let part = try work.run { try body(index) }
          state.withLock { $0.parts[index] = part }
        } catch {
          state.withLock { if $0.error == nil { $0.error = error } }
        }
      }
    }
    return try state.withLock { state in
      if let error = state.error { throw error }
      return (0..<count).compactMap { state.parts[$0] }
    }
  }
}
