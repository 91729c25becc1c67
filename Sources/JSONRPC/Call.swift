// One request or notification on its way through its handler.

import JSON

/// What a handler gives back.
public enum Reply {
  /// The answer, written straight into the output.
  case result(any JSONEncodable)
  /// The same, of a result that states nothing of what the application tells: it never waits for that.
  case aside(any JSONEncodable)
  /// Nothing yet: the handler took a ``PendingReply``.
  case later
}

/// A request or notification. Lives as long as its handler runs; what lasts longer takes a ``PendingReply``.
public struct Call {
  /// Where it came in, and where notifications go out.
  public let session: Session
  public let method: String
  /// nil for a notification, whose result nobody reads.
  public let id: RequestID?
  /// An object; empty when params are absent, null or `[]`.
  public let params: JSONValue
  /// Keeps ``params`` alive.
  public let document: JSONDocument

  let message: JSONValue
  let hasParams: Bool
  let batch: Batch?

  /// Puts the answer off, until ``PendingReply/reply(_:)`` or ``PendingReply/fail(_:)``. Return ``Reply/later`` then.
  ///
  /// From here on the request is in flight: it can be cancelled, its id cannot be used again, and end of input waits for it.
  public func deferReply() -> PendingReply { session.deferReply(self) }

  /// Runs `work` right behind the answer, which has been given: in a batch, behind its array.
  public func afterAnswer(_ work: @escaping () -> Void) {
    if let batch { batch.afterwards.append(work) } else { session.afterAnswers(work) }
  }

  /// What `error` becomes on the wire, with its path from the root of the message.
  func invalidParams(_ error: JSONError) -> RPCError {
    // Params that were left out stand nowhere in the message.
    .invalidParams(error, path: hasParams ? error.path(from: message) : "/params" + error.path(from: params))
  }
}
