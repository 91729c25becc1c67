// The connection between work and its waiters: cancellation, progress, and the limit of the result's size.

import GeometryEngine
import Platform
import SpatialRelations
import Synchronization

/// Work on a worker thread.
package final class Work: Sendable {
  private enum State: UInt8, AtomicRepresentable {
    case running, cancelled
    /// The work takes effect and cannot be cancelled any more.
    case committed
  }

  private let state = Atomic(State.running)
  private let onProgress: @Sendable (Double) -> Void
  private let engine: any RemoteEngine
  /// Maximum size of a result, in bytes.
  package let resultBytes: Int
  /// Whether bytes may follow the text of a result.
  package let isAttaching: Bool

  /// - Parameter engine: computes relations that cost much.
  package init(
    resultBytes: Int, isAttaching: Bool = false, engine: any RemoteEngine, onProgress: @escaping @Sendable (Double) -> Void
  ) {
    (self.resultBytes, self.isAttaching, self.engine, self.onProgress) = (resultBytes, isAttaching, engine, onProgress)
  }

  private let paused = Atomic(false)
  private let done = Atomic(0)
  private let total = Atomic(0)

  /// Whether the work waits at its next point where it can; see ``awaitTurn(_:of:)``.
  package var isPaused: Bool {
    get { paused.load(ordering: .relaxed) }
    set { paused.store(newValue, ordering: .relaxed) }
  }

  /// The items that are written and all there are, as last said; nil before.
  package var items: (done: Int, total: Int)? {
    let total = total.load(ordering: .relaxed)
    return total == 0 ? nil : (done.load(ordering: .relaxed), total)
  }

  /// Waits while the work is paused. Nothing that others need may be held, such as a lock.
  ///
  /// - Parameters:
  ///   - done: number of items that are written.
  ///   - total: number of all.
  package func awaitTurn(_ done: Int, of total: Int) throws {
    self.done.store(done, ordering: .relaxed)
    self.total.store(total, ordering: .relaxed)
    while isPaused, !isCancelled { usleep(Self.pauseInterval) }
    try checkCancelled()
  }

  private static let pauseInterval: UInt32 = 5000

  /// Whether nobody waits for the result any more. Poll at least every 10 ms.
  package var isCancelled: Bool { state.load(ordering: .relaxed) == .cancelled }

  /// Requests cancellation.
  ///
  /// - Returns: false if the work already takes effect; its result is then the answer.
  @discardableResult package func cancel() -> Bool {
    state.compareExchange(expected: .running, desired: .cancelled, ordering: .relaxed).original != .committed
  }

  /// Marks that the work takes effect from now on, for example when a file is put in place. Throws if it is cancelled.
  package func commit() throws {
    if state.compareExchange(expected: .running, desired: .committed, ordering: .relaxed).original == .cancelled {
      throw CancellationError()
    }
  }

  /// Reports progress, in 0...1.
  package func report(_ fraction: Double) { onProgress(fraction) }

  /// Runs a piece of the work on this thread. GEOS operations in it end when the work is cancelled.
  package func run<Result>(_ piece: () throws -> Result) throws -> Result {
    try checkCancelled()
    let allowance = RelationAllowance(engine) { [self] in isCancelled }
    let result = try allowance.hold { try GeometryEngine.interruptible(by: { isCancelled }, piece) }
    try checkCancelled()
    if let error = allowance.error { throw error }
    return result
  }

  /// Throws if the work is cancelled.
  package func checkCancelled() throws {
    if isCancelled { throw CancellationError() }
  }
}
