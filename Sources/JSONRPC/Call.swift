// One request or notification while its handler runs.

import JSON

/// The result of a handler.
public enum Reply {
  /// The answer, written directly to the output.
  case result(any JSONEncodable)
  /// The same for a result independent of the application's notifications: it never waits for them.
  case aside(any JSONEncodable)
  /// No answer yet: the handler took a ``PendingReply``.
  case later
}

/// A request or notification, valid while its handler runs. Longer work takes a ``PendingReply``.
///
/// ```swift
/// router.on("session/echo") { call in .aside(call.params) }
/// ```
public struct Call {
  /// The session of the call; notifications go through it.
  public let session: Session
  public let method: String
  /// Nil for a notification, whose result is discarded.
  public let id: RequestID?
  /// An object; empty if params are absent, null or `[]`.
  public let params: JSONValue
  /// Keeps ``params`` valid.
  public let document: JSONDocument

  let message: JSONValue
  let hasParams: Bool
  let batch: Batch?

  /// Whether it is an entry of a batch.
  public var isInBatch: Bool { batch != nil }

  /// Defers the answer until ``PendingReply/reply(_:)`` or ``PendingReply/fail(_:)``. The handler then returns
  /// ``Reply/later``.
  ///
  /// From here on the request is in flight: it can be cancelled, its id is taken, and the end of input waits for it.
  public func deferReply() -> PendingReply { session.deferReply(self) }

  /// Runs `work` directly after the answer has been written; in a batch, after its array.
  public func afterAnswer(_ work: @escaping () -> Void) {
    if let batch { batch.afterwards.append(work) } else { session.afterAnswers(work) }
  }

  /// The wire error for `error`, with its path from the root of the message.
  func invalidParams(_ error: JSONError) -> RPCError {
    // Omitted params have no position in the message.
    .invalidParams(error, path: hasParams ? error.path(from: message) : "/params" + error.path(from: params))
  }
}
