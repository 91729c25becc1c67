// Results of questions: written where they were found, and sent as fast as the client reads.

import DequeModule
import Handlers
import JSON
import JSONRPC
import Subscriptions

/// A result as JSON text.
struct WrittenResult: Sendable {
  let json: JSONOpaque
  let byteCount: Int

  init(_ result: some JSONEncodable) {
    var writer = JSONWriter(capacity: 512)
    result.encode(to: &writer)
    let bytes = [UInt8](writer.bytes)
    byteCount = bytes.count
    json = .written { output in bytes.withUnsafeBytes { output.raw($0) } }
  }
}

/// Results that wait until the client has read earlier output: many large ones, asked for at once, are found faster than any pipe is read.
struct WaitingResults {
  fileprivate var answers: Deque<(pending: PendingReply, result: WrittenResult, isLast: Bool)> = []
  /// Bytes of the results, each counted once for all that wait for it.
  fileprivate var byteCount = 0
}

extension Client {
  /// Sends a result to each of the requests for it, when there is room.
  func replyInTurn(_ result: WrittenResult, to waiters: [PendingReply]) {
    let limit = session?.limits.busyBytes ?? 0
    guard waitingResults.answers.isEmpty || waitingResults.byteCount + result.byteCount <= limit else {
      for waiter in waiters { waiter.fail(.serverBusy(unread: waitingResults.byteCount, wasRun: true)) }
      return
    }
    waitingResults.byteCount += result.byteCount
    for (index, waiter) in waiters.enumerated() {
      waitingResults.answers.append((waiter, result, isLast: index == waiters.count - 1))
    }
    if waiters.isEmpty { waitingResults.byteCount -= result.byteCount }
    sendResults()
  }

  /// Sends the results that wait, while the client reads. They state a revision, so they wait where answers do.
  func sendResults() {
    guard !waitingResults.answers.isEmpty, let session else { return }
    session.turn {
      while SendLimits.hasRoomForParts(session), !session.holdsAnswers, let next = waitingResults.answers.popFirst() {
        if next.isLast { waitingResults.byteCount -= next.result.byteCount }
        next.pending.reply(next.result.json)
      }
    }
  }
}
