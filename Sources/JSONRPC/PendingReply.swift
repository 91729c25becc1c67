// An answer that is still owed: what tasks and waits hold until they know it.

import JSON

/// The right, and the duty, to answer one request exactly once. Lives on the session's loop; see ``LoopBound``.
public final class PendingReply {
  public let session: Session
  public let id: RequestID?
  public let method: String
  /// As in ``Call/params``; valid until the answer.
  public let params: JSONValue
  /// Keeps ``params`` alive; let go of with the answer.
  public private(set) var document: JSONDocument?
  /// Whether the answer has been given; nothing can be said after it.
  public private(set) var isAnswered = false
  /// Called once when the client cancels, or the session shuts down, before the answer `cancelled`. Here the work is
  /// stopped; another answer may be given instead.
  public var onCancel: (() -> Void)?
  /// Reports to the client, if its params asked for them by `meta.progressToken`.
  public private(set) var progress: Progress?

  let batch: Batch?
  let started: UInt64
  /// Its place among all deferred replies.
  let order: Int

  init(_ call: Call, started: UInt64, order: Int) {
    self.order = order
    session = call.session
    id = call.id
    method = call.method
    params = call.params
    document = call.document
    batch = call.batch
    self.started = started
    progress = Progress(token: call.params["meta"]["progressToken"], session: call.session)
  }

  /// Gives the answer. Does nothing when there is one already.
  public func reply(_ result: any JSONEncodable) {
    guard !isAnswered else { return }
    session.settle(self) { session, pending in
      if let id = pending.id {
        session.write(result: result, id: id, batch: pending.batch)
      }
    }
  }

  /// Answers with an error. Does nothing when there is an answer already.
  public func fail(_ error: RPCError) {
    guard !isAnswered else { return }
    session.settle(self) { session, pending in
      if let id = pending.id {
        session.write(error: error, id: id, batch: pending.batch, waits: error.code != RPCError.cancelled.code)
      } else {
        session.logger.debug("notification failed: \(error.message)", metadata: ["method": "\(pending.method)"])
      }
    }
  }

  /// Answers with what `error` becomes, as if the handler had thrown it.
  public func fail(_ error: any Error) { fail(session.wireError(error)) }

  /// Ends the work and answers, by ``onCancel`` or else with `reason`.
  public func cancel(_ reason: RPCError = .cancelled) {
    guard !isAnswered else { return }
    let stop = onCancel
    onCancel = nil
    stop?()
    fail(reason)
  }

  func markAnswered() {
    progress?.end()
    isAnswered = true
  }

  func letGo() {
    document = nil
    onCancel = nil
    progress = nil
  }
}
