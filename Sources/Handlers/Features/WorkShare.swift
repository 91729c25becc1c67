// Progress and cancellation of a task that works in several parts.

import JSONRPC

/// A part of a task's work: the worker that runs it, and its share of the task's progress.
///
/// On the loop there is no worker: progress is not reported, and nothing cancels.
struct WorkShare: Sendable {
  let worker: Worker?
  private let start: Double
  private let end: Double

  /// All of the work.
  init(_ worker: Worker?) { self.init(worker, 0, 1) }

  private init(_ worker: Worker?, _ start: Double, _ end: Double) {
    (self.worker, self.start, self.end) = (worker, start, end)
  }

  /// Splits this share into consecutive ones, in proportion to their costs.
  func split(by costs: Int...) -> [WorkShare] { split(by: costs) }

  /// Splits this share into consecutive ones, in proportion to their costs.
  func split(by costs: [Int]) -> [WorkShare] {
    let total = Double(max(costs.reduce(0, +), 1))
    var next = start
    return costs.map { cost in
      let first = next
      next = min(end, next + (end - start) * Double(cost) / total)
      return WorkShare(worker, first, next)
    }
  }

  /// Checks for cancellation and reports progress. Call it at least every 10 ms.
  ///
  /// - Parameter fraction: the finished part of this share, in 0...1.
  /// - Throws: `CancellationError` when the task is cancelled.
  func checkpoint(_ fraction: Double) throws {
    guard let worker else { return }
    try worker.checkCancelled()
    worker.report(start + (end - start) * fraction)
  }

  /// A checkpoint after `done` of `count` items.
  func checkpoint(_ done: Int, of count: Int) throws { try checkpoint(Double(done) / Double(max(count, 1))) }

  /// Throws where what has been made of a result is more than may be sent, or more than is made on the loop.
  func checkSize(_ bytes: Int) throws {
    if let worker {
      guard bytes <= worker.resultBytes else { throw RPCError.resultTooLarge(limit: worker.resultBytes) }
    } else if bytes > FeatureQuery.maxInlineWeight {
      throw FeatureQuery.NeedsWorker()
    }
  }
}
