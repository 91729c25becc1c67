// The line between work and whoever waits for it: whether it is still wanted, how far it is, how much it may make.

import GeometryEngine
import SpatialRelations
import Synchronization

/// Work on a worker thread.
package final class Work: Sendable {
  private enum State: UInt8, AtomicRepresentable {
    case running, cancelled
    /// The work takes effect: it is no longer cancelled.
    case committed
  }

  private let state = Atomic(State.running)
  private let onProgress: @Sendable (Double) -> Void
  private let engine: any RemoteEngine
  /// How large a result may be, in bytes.
  package let resultBytes: Int

  /// - Parameter engine: computes relations that cost much.
  package init(resultBytes: Int, engine: any RemoteEngine, onProgress: @escaping @Sendable (Double) -> Void) {
    (self.resultBytes, self.engine, self.onProgress) = (resultBytes, engine, onProgress)
  }

  /// Whether nobody wants the result any more. To be asked at least every 10 ms.
  package var isCancelled: Bool { state.load(ordering: .relaxed) == .cancelled }

  /// Asks the work to end.
  ///
  /// - Returns: false if it takes effect already: its result is the answer.
  @discardableResult package func cancel() -> Bool {
    state.compareExchange(expected: .running, desired: .cancelled, ordering: .relaxed).original != .committed
  }

  /// Marks that the work takes effect from now on, as when a file is put in place. Throws if it is cancelled.
  package func commit() throws {
    if state.compareExchange(expected: .running, desired: .committed, ordering: .relaxed).original == .cancelled {
      throw CancellationError()
    }
  }

  /// Says how far the work is, in 0...1.
  package func report(_ fraction: Double) { onProgress(fraction) }

  /// Runs a piece of the work on this thread; operations of GEOS in it end when the work is cancelled, and relations that cost much are
  /// computed by the engine.
  package func run<Result>(_ piece: () throws -> Result) throws -> Result {
    try checkCancelled()
    let allowance = RelationAllowance(engine) { [self] in isCancelled }
    let result = try allowance.hold { try GeometryEngine.interruptible(by: { isCancelled }, piece) }
    try checkCancelled()
    if let failure = allowance.failure { throw SpatialError(failure) }
    return result
  }

  /// Ends the work when nobody wants it any more.
  package func checkCancelled() throws {
    if isCancelled { throw CancellationError() }
  }
}
