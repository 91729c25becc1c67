// A deferred answer, held by tasks and waits until they complete.

import JSON

/// Answers one request exactly once. Confined to the session's loop; see ``LoopBound``.
public final class PendingReply {
  public let session: Session
  public let id: RequestID?
  public let method: String
  /// As ``Call/params``; valid until the answer.
  public let params: JSONValue
  /// Keeps ``params`` valid; released with the answer.
  public private(set) var document: JSONDocument?
  /// Whether the answer has been given; later answers are ignored.
  public private(set) var isAnswered = false
  /// Called before the answer `cancelled`, when the client cancels or the session shuts down. It returns true when it has stopped
  /// the work (it may have given another answer), and false when the work can no longer be undone; the work's result is then the
  /// answer.
  public var onCancel: ((PendingReply) -> Bool)?
  /// Progress for the client, if its params requested it by `meta.progressToken`, or by `workDoneToken` as in LSP.
  public private(set) var progress: Progress?
  /// The token under which the client gets parts of the result, if it asked for them.
  public let partToken: RequestID?

  let batch: Batch?
  let started: UInt64
  /// Number of this reply in the order in which replies were deferred.
  public let order: Int

  init(_ call: Call, started: UInt64, order: Int) {
    self.order = order
    session = call.session
    id = call.id
    method = call.method
    params = call.params
    document = call.document
    batch = call.batch
    self.started = started
    let meta = call.params["meta"]
    partToken = RequestID(meta["partialResultToken"]) ?? RequestID(call.params["partialResultToken"])
    progress =
      Progress(token: meta["progressToken"], session: call.session)
      ?? Progress(token: call.params["workDoneToken"], session: call.session)
  }

  /// Gives the answer. Ignored if there is one already.
  public func reply(_ result: any JSONEncodable) {
    guard !isAnswered else { return }
    session.finish(self) { session, pending in
      if let id = pending.id {
        session.write(result: result, id: id, batch: pending.batch)
      }
    }
  }

  /// Answers with an error. Ignored if there is an answer already.
  public func fail(_ error: RPCError) {
    guard !isAnswered else { return }
    session.finish(self) { session, pending in
      if let id = pending.id {
        session.write(error: error, id: id, batch: pending.batch, waits: error.code != RPCError.cancelled.code)
      } else {
        session.logger.debug("notification failed: \(error.message)", metadata: ["method": "\(pending.method)"])
      }
    }
  }

  /// Ends the work and answers, by ``onCancel`` or else with `reason`.
  public func cancel(_ reason: RPCError = .cancelled) {
    guard !isAnswered, onCancel?(self) ?? true else { return }
    fail(reason)
  }

  /// Sends a part of the result.
  public func send(part: JSONOpaque) {
    guard !isAnswered, let partToken else { return }
    session.notify("$/progress") { writer in
      writer.member("token", partToken)
      writer.member("value", part)
    }
  }

  func markAnswered() {
    progress?.end()
    isAnswered = true
  }

  func release() {
    document = nil
    onCancel = nil
    progress = nil
  }
}
