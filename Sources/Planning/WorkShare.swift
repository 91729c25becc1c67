// Progress and cancellation of a task that works in several parts.

import Synchronization

/// A part of a task's work, with its share of the task's progress.
///
/// On the loop, ``work`` is nil: progress is not reported, and nothing is cancelled.
package struct WorkShare: Sendable {
  package let work: Work?
  private let start: Double
  private let end: Double

  /// The whole work.
  package init(_ work: Work?) { self.init(work, 0, 1) }

  private init(_ work: Work?, _ start: Double, _ end: Double) {
    (self.work, self.start, self.end) = (work, start, end)
  }

  /// Splits this share into consecutive ones, in proportion to their costs.
  package func split(by costs: Int...) -> [WorkShare] { split(by: costs) }

  /// Splits this share into consecutive ones, in proportion to their costs.
  package func split(by costs: [Int]) -> [WorkShare] {
    let total = Double(max(costs.reduce(0, +), 1))
    var next = start
    return costs.map { cost in
      let first = next
      next = min(end, next + (end - start) * Double(cost) / total)
      return WorkShare(work, first, next)
    }
  }

  /// The share of some of the items that this share is for.
  package func part(from first: Int, to last: Int, of count: Int) -> WorkShare {
    split(by: first, last - first, count - last)[1]
  }

  /// A check that is called at least every few microseconds of work: for cancellation, and on the loop that the work remains short.
  package func boundedCheck() -> @Sendable () throws -> Void {
    if let work { return { try work.checkCancelled() } }
    let calls = CallCount()
    return { try calls.add() }
  }

  /// Checks for cancellation and reports progress. Call it at least every 10 ms.
  ///
  /// - Parameter fraction: the finished part of this share, in 0...1.
  /// - Throws: `CancellationError` when the task is cancelled.
  package func checkpoint(_ fraction: Double) throws {
    guard let work else { return }
    try work.checkCancelled()
    work.report(start + (end - start) * fraction)
  }

  /// A checkpoint after `done` of `count` items.
  package func checkpoint(_ done: Int, of count: Int) throws { try checkpoint(Double(done) / Double(max(count, 1))) }

  /// Throws if the result so far exceeds the size that may be sent, or that may be made on the loop.
  package func checkSize(_ bytes: Int) throws {
    if let work {
      guard bytes <= work.resultBytes else { throw QueryError.resultTooLarge(limit: work.resultBytes) }
    } else if bytes > FeatureQuery.maxInlineWeight {
      throw FeatureQuery.NeedsWorker()
    }
  }
}

/// Calls of a check on the loop.
private final class CallCount: Sendable {
  private static let limit = 1000
  private let count = Atomic(0)

  func add() throws {
    guard count.wrappingAdd(1, ordering: .relaxed).newValue <= Self.limit else { throw FeatureQuery.NeedsWorker() }
  }
}
