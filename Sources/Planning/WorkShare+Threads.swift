// Runs the work of one task on several threads.

import Dispatch
import Platform
import Synchronization

extension WorkShare {
  /// Maximum number of threads of one task, which leaves threads for other tasks.
  private static let threadLimit = min(4, max(1, processorCount()))

  /// The results of `body` for 0..<count, in order. Runs on one thread on the loop, and on several on a worker, of which the
  /// first reports progress. The first error cancels the rest.
  package func concurrently<Part: Sendable>(_ count: Int, _ body: @Sendable (Int) throws -> Part) throws -> [Part] {
    guard let work, count > 1, Self.threadLimit > 1 else {
      return try (0..<count).map { index in
        try checkpoint(index, of: count)
        return try body(index)
      }
    }
    let next = Atomic(0)
    let state = Mutex<(parts: [Part?], error: (any Error)?)>(([Part?](repeating: nil, count: count), nil))
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
      return state.parts.compactMap { $0 }
    }
  }
}
