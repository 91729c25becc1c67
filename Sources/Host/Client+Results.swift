// Results of questions: written where they were found, and sent as fast as the client reads.

import DequeModule
import Handlers
import JSON
import JSONRPC
import Subscriptions
import Synchronization

/// A result as JSON text.
struct WrittenResult: Sendable {
  let json: JSONOpaque
  let byteCount: Int

  init(_ result: some JSONEncodable) {
    var count = 0
    json = .made { writer in
      result.encode(to: &writer)
      count = writer.count
    }
    byteCount = count
  }
}

/// Results that wait until the client has read earlier output: many large ones, asked for at once, are found faster than any pipe is read.
///
/// Its bytes are read by workers, all else is confined to the loop.
struct WaitingResults: ~Copyable {
  fileprivate var answers: Deque<(pending: PendingReply, result: WrittenResult, isLast: Bool)> = []
  /// Work that begins when less waits.
  fileprivate var postponed: [() -> Void] = []
  let size: WaitingSize

  init(limit: Int) { size = WaitingSize(limit: limit) }
}

/// The bytes of the results that wait, each counted once for all who asked for it.
final class WaitingSize: Sendable {
  private let bytes = Atomic(0)
  private let limit: Int

  /// - Parameter limit: as many bytes as one result may have: memory is bounded by that, and one result for each thread.
  init(limit: Int) { self.limit = limit }

  /// Whether no further question should be worked on.
  var isFull: Bool { bytes.load(ordering: .relaxed) > limit }

  fileprivate func add(_ count: Int) { bytes.add(count, ordering: .relaxed) }
}

extension Client {
  /// Sends a result to each of the requests for it, when there is room.
  func replyInTurn(_ result: WrittenResult, to waiters: [PendingReply]) {
    guard !waiters.isEmpty else { return }
    waitingResults.size.add(result.byteCount)
    for (index, waiter) in waiters.enumerated() {
      waitingResults.answers.append((waiter, result, isLast: index == waiters.count - 1))
    }
    sendResults()
  }

  /// Begins the work when few enough results wait.
  func postpone(_ work: @escaping () -> Void) {
    if waitingResults.size.isFull { waitingResults.postponed.append(work) } else { work() }
  }

  /// Sends the results that wait, while the client reads. They state a revision, so they wait where answers do.
  func sendResults() {
    guard !waitingResults.answers.isEmpty, let session else { return }
    session.turn {
      while SendLimits.hasRoomForParts(session), !session.holdsAnswers, let next = waitingResults.answers.popFirst() {
        if next.isLast { waitingResults.size.add(-next.result.byteCount) }
        next.pending.reply(next.result.json)
      }
    }
    guard !waitingResults.size.isFull, !waitingResults.postponed.isEmpty else { return }
    let postponed = waitingResults.postponed
    waitingResults.postponed = []
    for work in postponed { postpone(work) }
  }
}
