// What a task has on its worker thread: whether it is still wanted, and a way to say how far it is.

import GeoModel
import GeometryEngine
import JSON
import JSONRPC
import Readers
import Synchronization

/// How large a document may be: what a reader refuses, no writer writes.
public struct DocumentLimits: Sendable {
  public var bytes = 1 << 30
  /// Jansson's tree of so many takes all the memory there is.
  public var values = 100_000_000
  /// Of arrays and objects in one another.
  public var depth = JSONDocument.maximumDepth

  public init() {}
}

/// The line between a task's work and the loop.
public final class Worker: Sendable {
  private enum State: UInt8, AtomicRepresentable {
    case running, cancelled
    /// The work takes effect: it is no longer cancelled.
    case committed
  }

  private let state = Atomic(State.running)
  private let onProgress: @Sendable (Double) -> Void
  /// How names of files are read.
  package let files: FilePaths
  /// Reads foreign files.
  package let readers: Readers
  /// How large a result may be, in bytes.
  package let resultBytes: Int
  package let documentLimits: DocumentLimits

  package init(
    files: FilePaths, readers: Readers, resultBytes: Int, documentLimits: DocumentLimits,
    onProgress: @escaping @Sendable (Double) -> Void
  ) {
    self.files = files
    self.readers = readers
    self.resultBytes = resultBytes
    self.documentLimits = documentLimits
    self.onProgress = onProgress
  }

  /// Whether nobody wants the result any more. To be asked at least every 10 ms.
  public var isCancelled: Bool { state.load(ordering: .relaxed) == .cancelled }

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
  public func report(_ fraction: Double) { onProgress(fraction) }

  /// Runs a piece of the work on this thread; operations of GEOS in it end when the work is cancelled.
  package func run<Result>(_ piece: () throws -> Result) throws -> Result {
    try checkCancelled()
    return try GeometryEngine.interruptible(by: { isCancelled }, piece)
  }

  /// Ends the work when nobody wants it any more.
  public func checkCancelled() throws {
    if isCancelled { throw CancellationError() }
  }
}
