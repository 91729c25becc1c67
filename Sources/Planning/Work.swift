// The connection between work and its waiters: cancellation, progress, and the limit of the result's size.

import GeometryEngine
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

  /// - Parameter engine: computes relations that cost much.
  package init(resultBytes: Int, engine: any RemoteEngine, onProgress: @escaping @Sendable (Double) -> Void) {
    (self.resultBytes, self.engine, self.onProgress) = (resultBytes, engine, onProgress)
  }

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
